"""The estimator in the shape of scikit-learn, which need not be installed."""

from __future__ import annotations

import inspect
from typing import Any, Dict, List, Literal, Mapping, Optional

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from elias._data import LabelsOfPoints, Path, Points, native_points
from elias._fit import fit
from elias._model import Model
from elias._native import InputError


class EliasClassifier:
    """A multi-label classifier for texts or sparse features, with scikit-learn's methods.

    It works in a Pipeline, in cross_val_score and in GridSearchCV, and can be cloned and pickled.

    method, encoder, seed, ensemble, settings, threads: as for `elias.fit`.
    threshold: the probability from which `predict` says that a point has a label.

    Of a fitted one `model_` is the `Model`, and `classes_` has the label of each column.

    It does not say that it is a classifier in scikit-learn's sense: those are asked for
    stratified folds, of which lists of labels, one of the forms that `fit` takes, know nothing.

    >>> from elias import EliasClassifier
    >>> texts = ["green tea", "black tea", "green paint", "black paint"] * 10
    >>> labels = [["drink", "green"], ["drink", "black"], ["wall", "green"], ["wall", "black"]] * 10
    >>> classifier = EliasClassifier(seed=1, settings={"width": 32}).fit(texts, labels)
    >>> classifier.predict(["tea, green"]).toarray(), classifier.classes_
    (array([[1, 1, 0, 0]]), array(['drink', 'green', 'black', 'wall'], dtype=object))
    >>> classifier.score(texts, labels)
    1.0
    """

    model_: Model
    classes_: npt.NDArray[Any]

    def __init__(
        self,
        *,
        method: Optional[Literal["elias", "ova", "glas"]] = None,
        encoder: Optional[Path] = None,
        seed: Optional[int] = None,
        ensemble: Optional[int] = None,
        settings: Optional[Mapping[str, Any]] = None,
        threshold: float = 0.5,
        threads: int = 0,
    ) -> None:
        self.method = method
        self.encoder = encoder
        self.seed = seed
        self.ensemble = ensemble
        self.settings = settings
        self.threshold = threshold
        self.threads = threads

    def fit(self, X: Points, y: LabelsOfPoints) -> EliasClassifier:
        """Learn from points X and their labels y, as `elias.fit` takes them."""
        points: Any = native_points(X)
        self.model_ = fit(
            points,
            y,
            method=self.method,
            encoder=self.encoder,
            seed=self.seed,
            ensemble=self.ensemble,
            settings=self.settings,
            threads=self.threads,
        )
        names = list(self.model_.labels)
        self.classes_ = np.array(names, dtype=object if isinstance(names[0], str) else np.int64)
        if sp.issparse(points):
            self.n_features_in_ = points.shape[1]
        return self

    def predict(self, X: Points) -> sp.csr_matrix:
        """For each point a 1 in the columns of its labels: those from `threshold` on."""
        found = self._fitted().predict(X, threshold=self.threshold, format="csr")
        found.data = np.ones(found.nnz, dtype=np.int64)
        return found

    def predict_proba(self, X: Points) -> sp.csr_matrix:
        """The probabilities of the 100 best labels of each point, as `Model.predict_proba`."""
        return self._fitted().predict_proba(X)

    def score(self, X: Points, y: LabelsOfPoints) -> float:
        """P@1, the share of points whose best label is right: the figure that asks nothing of the
        threshold, and is the same for few labels and for millions."""
        return self._fitted().evaluate(X, y)["P@1"]

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """The arguments of the constructor by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> EliasClassifier:
        """Set arguments of the constructor."""
        for name, value in params.items():
            if name not in self._names():
                known = ", ".join(self._names())
                raise InputError(f"there is no parameter {name!r}: give one of {known}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = inspect.signature(type(self).__init__).parameters
        given = self.get_params().items()
        changed = [f"{name}={value!r}" for name, value in given if value != usual[name].default]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn from 1.6 on asks of estimators."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True, multi_output=True),
            input_tags=InputTags(sparse=True, string=True),
        )

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise InputError("the classifier has learned nothing yet: call fit first")
        return self.model_

    @classmethod
    def _names(cls) -> List[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]
