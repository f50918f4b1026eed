"""The estimator: what scikit-learn does with one, done with it."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import QUICK
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.utils.validation import check_is_fitted

import elias
from elias import EliasClassifier


@pytest.fixture(scope="module")
def y(toy):
    return MultiLabelBinarizer(sparse_output=True).fit_transform(toy.labels)


def quick(**arguments):
    return EliasClassifier(settings=QUICK, **arguments)


def test_it_learns_what_fit_learns(toy, model):
    classifier = quick().fit(toy.texts, toy.labels)
    assert list(classifier.classes_) == list(model.labels)
    assert classifier.model_.predict(toy.test_texts) == model.predict(toy.test_texts)
    assert (classifier.predict_proba(toy.test_texts) != model.predict_proba(toy.test_texts)).nnz == 0
    figures = model.evaluate(toy.test_texts, toy.test_labels)
    assert classifier.score(toy.test_texts, toy.test_labels) == figures["P@1"] > 0.3


def test_predictions_are_an_indicator_matrix(toy, y):
    classifier = quick(threshold=0.2).fit(toy.texts, y)
    assert list(classifier.classes_) == list(range(60))
    found = classifier.predict(toy.texts)
    scores = classifier.predict_proba(toy.texts)
    assert sp.issparse(found) and found.shape == y.shape
    assert ((scores >= np.float32(0.2)) != found.astype(bool)).nnz == 0
    assert f1_score(y, found, average="micro") > 0.3


def test_parameters_are_those_of_the_constructor():
    classifier = EliasClassifier(seed=3, settings={"width": 8})
    assert classifier.get_params() == {
        "method": None,
        "encoder": None,
        "seed": 3,
        "ensemble": None,
        "settings": {"width": 8},
        "threshold": 0.5,
        "threads": 0,
    }
    assert classifier.set_params(seed=4, threshold=0.1) is classifier
    assert (classifier.seed, classifier.threshold) == (4, 0.1)
    assert repr(classifier) == "EliasClassifier(seed=4, settings={'width': 8}, threshold=0.1)"
    with pytest.raises(ValueError, match="there is no parameter 'sede': give one of method"):
        classifier.set_params(sede=1)


def test_a_clone_is_a_new_one_of_the_same_parameters(toy):
    classifier = quick(seed=2).fit(toy.texts[:300], toy.labels[:300])
    copy = clone(classifier)
    assert copy.get_params() == classifier.get_params() and not hasattr(copy, "model_")
    check_is_fitted(classifier)
    with pytest.raises(ValueError):
        check_is_fitted(copy)
    with pytest.raises(elias.InputError, match="has learned nothing yet: call fit first"):
        copy.predict(["text"])


def test_a_pickle_has_the_model(toy):
    classifier = quick(threshold=0.1).fit(toy.texts[:500], toy.labels[:500])
    wanted = classifier.predict(toy.test_texts)
    pickled = pickle.dumps(classifier)
    del classifier
    again = pickle.loads(pickled)
    assert again.threshold == 0.1
    assert (again.predict(toy.test_texts) != wanted).nnz == 0


def test_it_works_in_a_pipeline(toy, y):
    pipeline = make_pipeline(TfidfVectorizer(), quick()).fit(toy.texts, y)
    assert pipeline.score(toy.texts, y) > 0.5
    assert pipeline[-1].n_features_in_ == len(pipeline[0].vocabulary_)
    again = pickle.loads(pickle.dumps(pipeline))
    assert (again.predict_proba(toy.test_texts) != pipeline.predict_proba(toy.test_texts)).nnz == 0


@pytest.mark.parametrize("form", ["array", "lists"])
def test_it_is_cross_validated(toy, y, form):
    labels = y.toarray() if form == "array" else toy.labels
    scores = cross_val_score(quick(), toy.texts, labels, cv=2, error_score="raise")
    assert len(scores) == 2 and all(0.3 < score <= 1 for score in scores)
    found = cross_val_score(
        make_pipeline(TfidfVectorizer(), quick()), toy.texts, labels, cv=2, error_score="raise"
    )
    assert all(0.3 < score <= 1 for score in found)


def test_a_grid_is_searched(toy, y):
    grid = {"seed": np.arange(2), "settings": [{**QUICK, "stage1_epochs": 1, "stage2_epochs": 0}, QUICK]}
    search = GridSearchCV(EliasClassifier(), grid, cv=2, error_score="raise").fit(toy.texts, y)
    assert search.best_params_["settings"] == QUICK
    assert search.best_estimator_.score(toy.texts, y) > 0.5


def test_scikit_learn_is_not_needed():
    program = "import sys, elias; elias.EliasClassifier(); assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
