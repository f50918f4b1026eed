"""A model: its predictions, and what it knows of itself."""

from __future__ import annotations

import json
import operator
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Sequence
from typing import Any, Dict, Iterable, List, Literal, Optional, Tuple, Union, overload

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from elias import _native
from elias._data import (
    Label,
    LabelsOfPoints,
    Path,
    Points,
    native_labels,
    native_names,
    native_path,
    native_points,
)
from elias._native import InputError

Threshold = Union[float, Literal["auto"], None]
Predicted = List[List[Tuple[Label, float]]]

_MOST_LABELS = 1_000_000
_MOST_EXPLAINED = 1000
_USUAL_K = 5
_THRESHOLD_K = 100  # labels a point that thresholds are about


def load(folder: Path, *, threads: int = 0, index: Literal["own", "exact"] = "own") -> Model:
    """Open the model in a folder, as ``elias fit`` or `Model.save` wrote it.

    Its files are verified to the last byte and mapped, so that all processes of a machine share the
    memory.

    threads: those to work on; 0 is all of the machine's. Results are the same bits at any number.
    index: ``"exact"`` scores every label, also where the model has a graph of neighbours.

    Raises InputError if there is no model, or it is damaged.

    >>> elias.load("no/such/folder")
    Traceback (most recent call last):
        ...
    elias.InputError: no/such/folder: there is no such folder: give the one that 'elias fit' wrote
    """
    return Model(folder, threads=threads, index=index)


class Labels(Sequence):  # type: ignore[type-arg]
    """The labels of a model, by id: names (str), or the ids (int) where it has no names.

    >>> model.labels[0], len(model.labels), "wall" in model.labels, model.labels.index("wall")
    ('drink', 4, True, 3)
    """

    def __init__(self, native: _native.Model) -> None:
        self._native = native

    def __len__(self) -> int:
        return self._native.labels

    @overload
    def __getitem__(self, index: int) -> Label: ...

    @overload
    def __getitem__(self, index: slice) -> List[Label]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Label, List[Label]]:
        # A range knows of steps, of counting from the end and of what is beyond it.
        if isinstance(index, slice):
            return [self._native.label(i) for i in range(len(self))[index]]
        return self._native.label(range(len(self))[index])

    def index(self, value: Label, start: int = 0, stop: Optional[int] = None) -> int:
        found = self._find(value)
        if found is None or found not in range(len(self))[start:stop]:
            raise ValueError(f"{value!r} is not a label of the model")
        return found

    def __contains__(self, value: object) -> bool:
        return self._find(value) is not None

    def __repr__(self) -> str:
        first = ", ".join(repr(label) for label in self[:3])
        return f"<{len(self):,} labels: {first}{', ...' if len(self) > 3 else ''}>"

    def _find(self, value: object) -> Optional[int]:
        if not isinstance(value, (str, int, np.integer)):
            return None
        found = self._native.find_label(*native_names([value], "labels"))
        return found if found is not None and self[found] == value else None


class Model:
    """A model that `fit` or `load` returns. Any number of threads may share it.

    Points are texts or rows of a sparse matrix, whatever it was trained on. It can be pickled, and
    the pickle carries all of it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        threads: int = 0,
        index: Literal["own", "exact"] = "own",
        temporary: Optional[tempfile.TemporaryDirectory[str]] = None,
    ) -> None:
        """`temporary`, if it is given, is the folder's owner, and goes with the model."""
        if index not in ("own", "exact"):
            raise InputError(f"index {index!r}: give 'own' or 'exact'")
        self._folder = os.fsdecode(folder)
        self._absolute_folder = os.path.abspath(self._folder)
        self._threads = operator.index(threads)
        self._index = index
        if temporary is not None:
            weakref.finalize(self, temporary.cleanup)
        self._native = _native.Model(native_path(folder), self._threads, index == "exact")
        self._labels = Labels(self._native)

    # --- predictions -----------------------------------------------------------------------------

    @overload
    def predict(
        self,
        points: Points,
        k: Optional[int] = None,
        threshold: Threshold = None,
        candidates: Optional[Iterable[Label]] = None,
        format: Literal["names"] = "names",
    ) -> Predicted: ...

    @overload
    def predict(
        self,
        points: Points,
        k: Optional[int] = None,
        threshold: Threshold = None,
        candidates: Optional[Iterable[Label]] = None,
        *,
        format: Literal["csr"],
    ) -> sp.csr_matrix: ...

    def predict(
        self,
        points: Points,
        k: Optional[int] = None,
        threshold: Threshold = None,
        candidates: Optional[Iterable[Label]] = None,
        format: Literal["names", "csr"] = "names",
    ) -> Union[Predicted, sp.csr_matrix]:
        """The best labels of each point with their probabilities.

        k: labels a point, at most; 5 if not given, with a threshold 100.
        threshold: only labels with this probability or a higher one, ``"auto"``: with the
            thresholds that ``elias threshold`` chose for this model.
        candidates: only these labels.
        format: ``"names"`` is a list of (label, probability) for each point, best first;
            ``"csr"`` a matrix with a column for each of `labels`.

        >>> [[label for label, score in best] for best in model.predict(["paint"], k=1)]
        [['wall']]
        >>> model.predict(["paint"], candidates=["green", "black"], format="csr").shape
        (1, 4)
        """
        if format not in ("names", "csr"):
            raise InputError(f"format {format!r}: give 'names' or 'csr'")
        if k is None:
            k = _USUAL_K if threshold is None else _THRESHOLD_K
        names = None if candidates is None else native_names(candidates, "candidates")
        k = _checked(k, "k", _MOST_LABELS)
        self._warn_if_shortlist_is_shorter(k, names)
        asked = (native_points(points), k, _threshold(threshold), names)
        if format == "names":
            return self._native.predict_lists(*asked)
        return self._matrix(self._native.predict_arrays(*asked))

    def predict_proba(self, points: Points, k: int = 100) -> sp.csr_matrix:
        """The probabilities of the k best labels of each point, a column for each of `labels`.

        What is not stored was not among them: its probability is low, but need not be 0.

        >>> model.predict_proba(["green tea", "paint"]).shape
        (2, 4)
        """
        return self.predict(points, k, format="csr")

    def embed(self, points: Points, member: int = 1) -> npt.NDArray[np.float32]:
        """The vectors of points by the model's encoder, a row a point; of an ensemble those of one
        member.

        >>> model.embed(["green tea", "paint"]).shape == (2, model.inspect()["width"])
        True
        """
        return self._native.embed(native_points(points), operator.index(member))

    def evaluate(
        self,
        points: Points,
        labels: LabelsOfPoints,
        *,
        threshold: Threshold = None,
        propensity: str = "default",
    ) -> Dict[str, float]:
        """How good the predictions for points with known labels are, as shares by name.

        The figures are those of ``elias evaluate --model``; docs/metrics.md defines them.

        labels: as for `fit`. The columns of a matrix are `self.labels`.
        threshold: from which F1 counts a label as predicted; 0.5 if not given.
        propensity: ``"amazon"``, ``"wikipedia"``, ``"default"``, or the constants as ``"A,B"``.

        >>> model.evaluate(["green tea", "paint"], [["green", "drink"], ["wall"]])["P@1"]
        1.0
        """
        return self._native.evaluate(
            native_points(points), native_labels(labels), str(propensity), _threshold(threshold)
        )

    # --- looking inside --------------------------------------------------------------------------

    def explain(
        self,
        points: Points,
        k: int = 5,
        labels: Optional[Iterable[Label]] = None,
        words: int = 8,
    ) -> List[Dict[str, Any]]:
        """What led to the k best labels of each point, or to `labels`, found or not.

        A dict a point, as ``elias explain --json`` prints; docs/explain.md says how to read it.
        words: those to name for a label, which say most for or against it.

        >>> found = model.explain(["green tea"], k=1)[0]["labels"][0]
        >>> found["rank"], sorted(found)[:3]
        (1, ['id', 'label', 'members'])
        """
        named = [] if labels is None else native_names(labels, "labels")
        k = _checked(k, "k", _MOST_EXPLAINED)
        words = _checked(words, "words", _MOST_EXPLAINED, least=0)
        lines = self._native.explain(native_points(points), k, named, words)
        return [json.loads(line) for line in lines]

    def inspect(self, label: Optional[Label] = None) -> Dict[str, Any]:
        """What the model is and what its index has learned; or what it knows of one label.

        A dict as ``elias inspect --json`` prints; docs/inspect.md says how to read it.

        >>> model.inspect()["points"], model.inspect("green")["train_points"]
        (40, 20)
        """
        name = None if label is None else native_names([label], "label")[0]
        found: Dict[str, Any] = json.loads(self._native.inspect(name))
        return found

    @property
    def labels(self) -> Labels:
        """All labels, by id: the columns of the matrices that the model takes and gives."""
        return self._labels

    @property
    def folder(self) -> str:
        """Where the model lies. One that was not given a place is gone with this object."""
        return self._folder

    def __repr__(self) -> str:
        native = self._native
        takes = "texts" if native.takes_text else f"{native.features:,} features"
        return (
            f"<elias.Model {self._folder!r}: {native.method}, {native.labels:,} labels, "
            f"{native.points:,} points of {takes}>"
        )

    # --- keeping it ------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Copy the model to a folder that is not there, or is empty.

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as place:
        ...     model.save(os.path.join(place, "model"))
        ...     elias.load(os.path.join(place, "model")).labels[0]
        'drink'
        """
        target = os.path.abspath(folder)
        if os.path.exists(target) and (not os.path.isdir(target) or os.listdir(target)):
            raise InputError(f"{os.fspath(folder)}: is there already: give another folder")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        # Beside it first, so that there is never half a model at the path.
        with tempfile.TemporaryDirectory(dir=os.path.dirname(target)) as beside:
            for name in self._native.files:
                copy = os.path.join(beside, "model", name)
                os.makedirs(os.path.dirname(copy), exist_ok=True)
                shutil.copyfile(os.path.join(self._absolute_folder, name), copy)
            os.replace(os.path.join(beside, "model"), target)

    def __reduce__(self) -> Tuple[Any, ...]:
        files = {}
        for name in self._native.files:
            with open(os.path.join(self._absolute_folder, name), "rb") as file:
                files[name] = file.read()
        return _model_of_files, (files, self._threads, self._index)

    # ---------------------------------------------------------------------------------------------

    def _matrix(self, arrays: Tuple[Any, Any, Any]) -> sp.csr_matrix:
        rows = len(arrays[2]) - 1
        matrix = sp.csr_matrix(arrays, shape=(rows, self._native.labels), copy=False)
        matrix.has_canonical_format = True  # as all matrices of the engine
        return matrix

    def _warn_if_shortlist_is_shorter(self, k: int, candidates: Optional[List[bytes]]) -> None:
        most = self._native.most_found
        if min(k, self._native.labels) > most and (candidates is None or len(candidates) > most):
            warnings.warn(
                f"k {k}: the model finds at most {most:,} labels for a point, its shortlist",
                stacklevel=3,
            )


def _model_of_files(files: Dict[str, bytes], threads: int, index: Any) -> Model:
    """What a pickle is read by."""
    temporary = tempfile.TemporaryDirectory(prefix="elias-")
    for name, content in files.items():
        path = os.path.join(temporary.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    return Model(temporary.name, threads=threads, index=index, temporary=temporary)


def _threshold(threshold: Threshold) -> Union[str, float, None]:
    return threshold if threshold is None or isinstance(threshold, str) else float(threshold)


def _checked(number: int, name: str, most: int, least: int = 1) -> int:
    number = operator.index(number)
    if not least <= number <= most:
        raise InputError(f"{name} {number}: give a number from {least} to {most:,}")
    return number
