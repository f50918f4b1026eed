"""Sparse matrices of every kind that scipy makes, in and out."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import QUICK, QUICK_OPTIONS
from test_fit import content

import elias

POINTS, FEATURES, LABELS = 600, 50, 20


def make(points=POINTS, seed=1):
    """Features that tell the labels."""
    random = np.random.default_rng(seed)
    y = sp.random(points, LABELS, 0.12, format="lil", random_state=random, data_rvs=np.ones)
    y[np.arange(points), np.arange(points) % LABELS] = 1  # none is without
    y = y.tocsr()
    tells = sp.random(LABELS, FEATURES, 0.3, format="csr", random_state=np.random.default_rng(0))
    noise = sp.random(points, FEATURES, 0.05, format="csr", random_state=random)
    x = (y @ tells + noise).astype(np.float32)
    x.sort_indices()
    return x, y.astype(np.float32)


@pytest.fixture(scope="module")
def data():
    return make()


@pytest.fixture(scope="module")
def model(data):
    return elias.fit(*data, settings=QUICK)


def test_the_model_is_that_of_the_command_line(data, program, tmp_path):
    x, y = data
    sp.save_npz(tmp_path / "x.npz", x)
    sp.save_npz(tmp_path / "y.npz", y)
    program.run(
        *("fit", "--train", f"{tmp_path}/x.npz,{tmp_path}/y.npz", "--out", tmp_path / "theirs"),
        *QUICK_OPTIONS,
    )
    model = elias.fit(x, y, out=tmp_path / "ours", settings=QUICK)
    assert content(tmp_path / "ours") == content(tmp_path / "theirs")
    assert repr(model).endswith("elias, 20 labels, 600 points of 50 features>")
    assert model.evaluate(x, y)["P@1"] > 0.5
    program.run(
        *("predict", "--model", tmp_path / "theirs", "--input", tmp_path / "x.npz", "--k", 6),
        *("--format", "npz", "--out", tmp_path / "scores.npz"),
    )
    assert (model.predict_proba(x, 6) != sp.load_npz(tmp_path / "scores.npz")).nnz == 0


def with_index_type(matrix, index):
    made = matrix.copy()
    made.indices, made.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return made


def unsorted(matrix):
    """Each row's entries the other way round."""
    made = matrix.copy()
    for begin, end in zip(made.indptr, made.indptr[1:]):
        made.indices[begin:end] = matrix.indices[begin:end][::-1]
        made.data[begin:end] = matrix.data[begin:end][::-1]
    made.has_sorted_indices = False
    return made


def in_halves(matrix):
    """Each entry twice, with half of its value."""
    arrays = (np.repeat(matrix.data / 2, 2), np.repeat(matrix.indices, 2), 2 * matrix.indptr)
    return sp.csr_matrix(arrays, shape=matrix.shape)


FORMS = {
    "int64 indices": lambda m: with_index_type(m, np.int64),
    "int32 indices": lambda m: with_index_type(m, np.int32),
    "float64": lambda m: m.astype(np.float64),
    "int64 indices, float64": lambda m: with_index_type(m.astype(np.float64), np.int64),
    "unsorted": unsorted,
    "duplicates": in_halves,
    "csc": lambda m: m.tocsc(),
    "coo": lambda m: m.tocoo(),
    "csr_array": sp.csr_array,
    "dense": lambda m: m.toarray(),
    "strided": lambda m: np.asfortranarray(np.repeat(m.toarray(), 2, axis=1))[:, ::2],
    "explicit zeros": lambda m: m + 0 * sp.csr_matrix(np.ones(m.shape, dtype=np.float32)),
}


@pytest.mark.parametrize("form", FORMS)
def test_features_of_every_kind(model, data, form):
    x = data[0][:100]
    given = FORMS[form](x)
    before = given.copy()
    wanted = model.predict_proba(x, 5)
    assert (model.predict_proba(given, 5) != wanted).nnz == 0
    difference = abs(before - given)
    assert (difference.max() if form in ("dense", "strided") else difference.sum()) == 0


@pytest.mark.parametrize("form", FORMS)
def test_labels_of_every_kind(model, data, form):
    x, y = data
    assert model.evaluate(x, FORMS[form](y)) == model.evaluate(x, y)


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint8, np.int32, np.int64, np.float16])
def test_labels_of_every_type(model, data, kind):
    x, y = data
    assert model.evaluate(x, y.toarray().astype(kind)) == model.evaluate(x, y)
    if kind != np.float16:  # of which scipy has no matrices
        assert model.evaluate(x, y.astype(kind)) == model.evaluate(x, y)


def test_what_comes_out_is_sound_and_its_own(model, data):
    found = model.predict_proba(data[0], 5)
    found.check_format(full_check=True)
    assert found.has_sorted_indices and found.indices.dtype == np.int32
    kept = found.copy()
    data_alone = found.data
    del found  # the array owns the memory
    for _ in range(20):
        model.predict_proba(data[0], 5)
    assert np.array_equal(data_alone, kept.data)
    data_alone[:] = 0  # may be written to


def broken(**arrays):
    matrix = sp.csr_matrix(np.eye(3, FEATURES, dtype=np.float32))
    for name, values in arrays.items():
        setattr(matrix, name, np.array(values, dtype=getattr(matrix, name).dtype))
    return matrix


@pytest.mark.parametrize(
    "matrix, sentence",
    [
        (broken(data=[1, np.nan, 1]), "points: row 1, column 1 is not a finite number: mend or remove it"),
        (sp.csr_matrix(np.full((1, FEATURES), 1e300)), "points: row 0, column 0 is not a finite number: mend or remove it"),
        (broken(indices=[0, FEATURES, 2]), "points: row 1, column 50 is beyond the 50 columns of its shape: build it again"),
        (broken(indices=[0, -1, 2]), "points: row 1, column -1 is beyond the 50 columns of its shape: build it again"),
        (broken(indptr=[0, 2, 1, 3]), "points: the matrix is not valid (indptr does not rise from 0 to the number of entries): build it again"),
        (broken(indptr=[0, 1, 2, 9]), "points: the matrix is not valid (indptr does not rise from 0 to the number of entries): build it again"),
        (broken(indices=[0, 1]), "points: the matrix is not valid (indices and data differ in size): build it again"),
        (sp.csr_matrix((3, 49), dtype=np.float32), "points: has 49 features, but the model was trained on 50: give points as those that it was trained on"),
        (sp.csr_matrix((3, FEATURES), dtype=complex), "points: a matrix of complex128 holds no numbers: give a list, or numbers"),
        (["a text"], "points: holds texts, but the model takes features: give points as those that it was trained on"),
    ],
)
def test_what_is_no_sound_matrix_is_refused(model, matrix, sentence):
    with pytest.raises(elias.InputError) as refused:
        model.predict(matrix)
    assert str(refused.value) == sentence


def test_refused_points_are_given_back_with_the_interpreter_held():
    # With -X dev Python ends a process that frees its objects without.
    program = """
import elias, numpy as np
try:
    elias.fit(np.eye(2), [["a"], [7]])
except elias.InputError as refused:
    print(refused)
"""
    command = [sys.executable, "-X", "dev", "-c", program]
    printed = subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout
    assert printed.startswith("labels[1]: label 7 is an id")


def test_relevances_below_zero_are_refused(model, data):
    x, y = data
    with pytest.raises(elias.InputError, match="labels: holds the relevance -1: give numbers above 0"):
        model.evaluate(x, -y)


def test_points_without_features_are_points(model):
    empty = sp.csr_matrix((2, FEATURES), dtype=np.float32)
    first, second = model.predict(empty)
    assert first == second and len(first) == 5
