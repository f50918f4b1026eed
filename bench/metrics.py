"""evaluate() against numpy: are the figures the same, and how many times faster is it?

    metrics.py BENCH [--rows N] [--labels L] [--width W]
    metrics.py BENCH --files TRUTH.npz PREDICTIONS.npz TRAIN.npz

BENCH is the program metrics_bench. Without files a problem is generated: Zipf label frequencies,
two to eight true labels a point, most of them among the W predictions. Both sides use one thread
and take turns, so that other load on the machine falls on both; the fastest run of each counts.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np
import scipy.sparse as sp

from peers import record, run

HERE = pathlib.Path(__file__).parent


def draw(rng, rows, labels, per_row):
    """per_row Zipf-distributed labels for each row; repeats merge."""
    chance = 1 / (10 + np.arange(labels))
    edges = np.cumsum(chance) / chance.sum()
    columns = np.searchsorted(edges, rng.random(rows * per_row))
    owner = np.repeat(np.arange(rows), per_row)
    shape = (rows, labels)
    matrix = sp.csr_matrix((np.ones(columns.size, np.float32), (owner, columns)), shape=shape)
    matrix.data[:] = 1
    return matrix


def generate(folder, rows, labels, width):
    rng = np.random.default_rng(0)
    truth, train = draw(rng, rows, labels, 5), draw(rng, 4 * rows, labels, 5)
    found = truth.copy()
    found.data = np.where(rng.random(found.nnz) < 0.8, rng.random(found.nnz), 0)
    found.eliminate_zeros()
    others = draw(rng, rows, labels, width)
    others.data = rng.random(others.nnz).astype(np.float32) ** 6
    scores = others.maximum(found).tocsr().astype(np.float32)
    paths = []
    for name, matrix in (("truth", truth), ("predictions", scores), ("train", train)):
        matrix.sort_indices()
        paths.append(f"{folder}/{name}.npz")
        sp.save_npz(paths[-1], matrix, compressed=False)
    return paths


def compare(bench, paths, rounds):
    truth, predictions, train = paths
    numpy_command = [sys.executable, str(HERE / "metrics_numpy.py"), truth, predictions,
                     "--train", train, "--repeat", "3"]
    elias_command = [bench, truth, predictions, train, "1", "10"]
    peers, ours = [], []
    for _ in range(rounds):
        peers.append(run(numpy_command))
        ours.append(run(elias_command))
    figures, expected = ours[0]["metrics"], peers[0]["metrics"]
    assert figures.keys() == expected.keys(), figures.keys() ^ expected.keys()
    difference = max(abs(figures[name] - expected[name]) / max(abs(expected[name]), 1e-300)
                     for name in expected)
    return min(r["seconds"] for r in ours), min(r["seconds"] for r in peers), difference


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    parser.add_argument("--files", nargs=3)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--labels", type=int, default=25000)
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = args.files or generate(folder, args.rows, args.labels, args.width)
        ours, peer, difference = compare(args.bench, paths, args.rounds)
    assert difference < 1e-9, f"figures differ from numpy's by {difference:.2e}"
    record("metrics, against numpy", wanted=20, ratio=peer / ours, elias_seconds=ours,
           numpy_seconds=peer, largest_relative_difference=difference)


if __name__ == "__main__":
    main()
