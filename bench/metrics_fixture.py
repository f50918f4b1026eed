"""Writes tests/metrics/fixture/: a small problem and its figures as numpy computes them.

    metrics_fixture.py FOLDER
"""

import argparse
import json
import pathlib
import types

import numpy as np
import scipy.sparse as sp

import metrics_numpy

ROWS, TRAIN_ROWS, LABELS = 60, 200, 40


def random_labels(rng, rows, rate):
    # Frequencies fall off as in real label sets; the last labels are never drawn in training.
    chance = rate / (1 + np.arange(LABELS))
    return sp.csr_matrix((rng.random((rows, LABELS)) < chance).astype(np.float32))


def random_scores(rng, truth):
    scores = np.round(rng.random(truth.shape) ** 3 * 0.6 + 0.4 * truth.toarray(), 2)
    listed = rng.random(truth.shape) < 0.6
    listed[rng.random(truth.shape[0]) < 0.1] = False
    rows, columns = np.nonzero(listed)
    values = scores[rows, columns].astype(np.float32)
    return sp.csr_matrix((values, (rows, columns)), shape=truth.shape)


def write_matrix(path, matrix):
    lines = ["{} {}".format(*matrix.shape)]
    for i in range(matrix.shape[0]):
        row = slice(matrix.indptr[i], matrix.indptr[i + 1])
        pairs = zip(matrix.indices[row], matrix.data[row])
        lines.append(" ".join(f"{column}:{value:g}" for column, value in pairs))
    path.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    rng = np.random.default_rng(20)
    train = random_labels(rng, TRAIN_ROWS, 0.6)
    truth = random_labels(rng, ROWS, 1.5)
    scores = random_scores(rng, truth)
    for matrix in (train, truth, scores):
        matrix.sort_indices()
    settings = types.SimpleNamespace(k=[1, 3, 5], recall_k=[10, 20, 50, 100], mrr_k=[10],
                                     threshold=0.5, propensity=[0.55, 1.5])
    figures = metrics_numpy.evaluate(truth, scores, train, settings)
    write_matrix(folder / "train.txt", train)
    write_matrix(folder / "truth.txt", truth)
    write_matrix(folder / "predictions.txt", scores)
    (folder / "expected.json").write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
