"""Tf-idf against scikit-learn's TfidfVectorizer, one thread each: the same matrix, how much faster?

    tfidf.py BENCH [--texts FILE]

BENCH is the program tfidf_bench. FILE holds label,label<TAB>text lines, gzip or not; without it
texts are made here, of words whose frequencies follow Zipf's law. The fastest of some runs counts,
and both sides take turns.
"""

import argparse
import gzip
import tempfile
import time

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from peers import record, run


def make_texts(path, texts=3000, words_a_text=600, vocabulary=60_000):
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    words = ["".join(letters[np.minimum(rng.geometric(0.12, n) - 1, 25)])
             for n in rng.integers(2, 12, vocabulary)]
    chance = 1 / np.arange(1, vocabulary + 1)
    edges = np.cumsum(chance) / chance.sum()
    with open(path, "w", encoding="ascii") as file:
        for _ in range(texts):
            drawn = np.searchsorted(edges, rng.random(words_a_text))
            file.write("0\t" + " ".join(words[i] for i in drawn) + ".\n")


def read_texts(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n").split("\t", 1)[1] for line in file]


def measure_sklearn(texts):
    start = time.perf_counter()
    vectorizer = TfidfVectorizer().fit(texts)
    middle = time.perf_counter()
    matrix = vectorizer.transform(texts)
    return {"fit": middle - start, "transform": time.perf_counter() - middle}, matrix


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    parser.add_argument("--texts")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    ours, peers = [], []
    with tempfile.TemporaryDirectory() as folder:
        path, out = args.texts or f"{folder}/texts.txt", f"{folder}/x.npz"
        if not args.texts:
            make_texts(path)
        texts = read_texts(path)
        for _ in range(args.rounds):
            figures, expected = measure_sklearn(texts)
            peers.append(figures)
            ours.append(run([args.bench, path, "1", "3", out]))
        matrix = sp.load_npz(out)
    assert matrix.shape == expected.shape, (matrix.shape, expected.shape)
    difference = abs(matrix - expected).max()
    assert difference < 1e-6, f"the matrix differs from scikit-learn's by {difference:.2e}"
    best = {key: min(r[key] for r in ours) for key in ours[0]}
    peer = {key: min(r[key] for r in peers) for key in peers[0]}
    record("tf-idf transform, against TfidfVectorizer", wanted=10,
           ratio=peer["transform"] / best["transform"],
           fit_ratio=peer["fit"] / best["fit"],
           over_a_loop_that_adds_bytes=best["transform"] / best["byte_loop"],
           megabytes_a_second=best["bytes"] / best["transform"] / 1e6,
           largest_difference=float(difference))


if __name__ == "__main__":
    main()
