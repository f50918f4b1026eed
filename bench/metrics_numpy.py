"""The ranking metrics, F1 and calibration in numpy: oracle and peer of `elias evaluate`.

Vectorised throughout: one stable argsort over the rows padded to a rectangle, one searchsorted to
find the hits; no Python loop runs over rows or labels. Definitions are those of docs/metrics.md.

    metrics_numpy.py TRUTH.npz PREDICTIONS.npz [--train TRAIN.npz] [--repeat N]

prints one JSON object with the figures and the seconds of the fastest run, files already loaded.
"""

import argparse
import json
import time

import numpy as np
import scipy.sparse as sp

BINS = 10


def load(path):
    matrix = sp.csr_matrix(sp.load_npz(path))
    matrix.sort_indices()
    return matrix


def true_pairs(truth, predictions):
    """For each stored prediction, in order, whether its (row, label) pair is in the truth."""
    width = truth.shape[1]
    keys, wanted = (np.repeat(np.arange(m.shape[0]) * width, np.diff(m.indptr)) + m.indices
                    for m in (truth, predictions))
    if keys.size == 0:
        return np.zeros(wanted.shape, dtype=bool)
    # Both ascend, so the search walks through memory once.
    place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    return keys[place] == wanted


def ranked(predictions, true_pair, depth):
    """The first `depth` labels of each row, best first, and whether they are hits. Short rows are
    padded with the label count."""
    rows, labels = predictions.shape
    lengths = np.diff(predictions.indptr)
    width = max(int(lengths.max(initial=0)), depth)
    filled = np.arange(width) < lengths[:, None]
    scores = np.full((rows, width), np.inf, dtype=np.float32)
    columns = np.full((rows, width), labels, dtype=np.int32)
    hit = np.zeros((rows, width), dtype=bool)
    scores[filled] = -predictions.data
    columns[filled] = predictions.indices
    hit[filled] = true_pair
    # Columns ascend within a row, so a stable sort gives equal scores to the lower label.
    order = np.argsort(scores, axis=1, kind="stable")[:, :depth]
    return np.take_along_axis(columns, order, axis=1), np.take_along_axis(hit, order, axis=1)


def inverse_propensities(train, a, b):
    points = train.shape[0]
    counts = np.bincount(train.indices[train.data > 0], minlength=train.shape[1])
    c = max(0.0, np.log(points) - 1) * (b + 1) ** a
    return 1 + c * (counts + b) ** -a


def best_weights(truth, weights, depth):
    """The largest inverse propensities of each row's true labels, descending, padded with 0."""
    lengths = np.diff(truth.indptr)
    filled = np.arange(int(lengths.max(initial=0))) < lengths[:, None]
    best = np.zeros(filled.shape)
    best[filled] = weights[truth.indices]
    best = -np.sort(-best, axis=1)[:, :depth]
    return np.pad(best, ((0, 0), (0, depth - best.shape[1])))


def ratio(part, whole):
    return float(part / whole) if whole > 0 else 0.0


def ranking_figures(truth, hit, top, weights, args):
    rows = truth.shape[0]
    positives = np.diff(truth.indptr)
    some = positives > 0
    discount = 1 / np.log2(np.arange(2, hit.shape[1] + 2))
    ideal = np.concatenate([[0], np.cumsum(discount)])
    hits = np.cumsum(hit, axis=1)
    all_best = None if weights is None else best_weights(truth, weights, max(args.k))
    out = {}
    for k in args.k:
        best_dcg = ideal[np.minimum(positives[some], k)]
        dcg = hit[:, :k] @ discount[:k]
        out[f"P@{k}"] = ratio(hits[:, k - 1].sum(), rows * k)
        out[f"nDCG@{k}"] = ratio((dcg[some] / best_dcg).sum(), some.sum())
        out[f"coverage@{k}"] = ratio(
            np.unique(top[:, :k][hit[:, :k]]).size, np.unique(truth.indices).size)
        if weights is not None:
            gain = np.append(weights, 0)[top[:, :k]] * hit[:, :k]
            best = all_best[:, :k]
            out[f"PSP@{k}"] = ratio(gain.sum(), best.sum())
            out[f"PSnDCG@{k}"] = ratio(((gain @ discount[:k])[some] / best_dcg).sum(),
                                       ((best @ discount[:k])[some] / best_dcg).sum())
    for k in args.recall_k:
        out[f"R@{k}"] = ratio((hits[some, k - 1] / positives[some]).sum(), some.sum())
    first = np.where(hit.any(axis=1), hit.argmax(axis=1) + 1, hit.shape[1] + 1)
    for k in args.mrr_k:
        out[f"MRR@{k}"] = ratio((1 / first[first <= k]).sum(), some.sum())
    return out


def pair_figures(truth, predictions, true_pair, threshold):
    labels = truth.shape[1]
    scores = predictions.data
    positives = np.bincount(truth.indices, minlength=labels)
    over = scores >= np.float32(threshold)
    predicted = np.bincount(predictions.indices[over], minlength=labels)
    hits = np.bincount(predictions.indices[over & true_pair], minlength=labels)
    known = positives > 0
    f1 = 2 * hits[known] / (predicted[known] + positives[known])
    bins = np.minimum((scores * np.float32(BINS)).astype(np.int64), BINS - 1)
    score_sum = np.bincount(bins, weights=scores, minlength=BINS)
    hit_sum = np.bincount(bins, weights=true_pair, minlength=BINS)
    return {
        "micro-F1": ratio(2 * hits.sum(), predicted.sum() + positives.sum()),
        "macro-F1": ratio(f1.sum(), known.sum()),
        "ECE": ratio(np.abs(score_sum - hit_sum).sum(), scores.size),
    }


def evaluate(truth, predictions, train, args):
    depth = max(args.k + args.recall_k + args.mrr_k)
    true_pair = true_pairs(truth, predictions)
    top, hit = ranked(predictions, true_pair, depth)
    a, b = args.propensity
    weights = None if train is None else inverse_propensities(train, a, b)
    out = ranking_figures(truth, hit, top, weights, args)
    if predictions.data.size == 0 or (predictions.data.min() >= 0 and predictions.data.max() <= 1):
        out |= pair_figures(truth, predictions, true_pair, args.threshold)
    return out


def numbers(kind):
    return lambda text: [kind(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("truth")
    parser.add_argument("predictions")
    parser.add_argument("--train")
    parser.add_argument("--propensity", type=numbers(float), default=[0.55, 1.5])
    parser.add_argument("--k", type=numbers(int), default=[1, 3, 5])
    parser.add_argument("--recall-k", type=numbers(int), default=[10, 20, 50, 100])
    parser.add_argument("--mrr-k", type=numbers(int), default=[10])
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument("--repeat", type=int, default=1)
    args = parser.parse_args()
    truth, predictions = load(args.truth), load(args.predictions)
    truth.data = (truth.data > 0).astype(np.float32)
    truth.eliminate_zeros()
    predictions.data = predictions.data.astype(np.float32)
    train = load(args.train) if args.train else None
    seconds = []
    for _ in range(args.repeat):
        start = time.perf_counter()
        figures = evaluate(truth, predictions, train, args)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"metrics": figures, "seconds": min(seconds)}))


if __name__ == "__main__":
    main()
