"""Reading sparse text against scikit-learn's load_svmlight_file: the same numbers, how much faster?

    reading.py BENCH [--rows N]

BENCH is the program reading_bench. The file is made here: about 200 features a point, values with
six decimals. Both sides take turns, so that other load on the machine falls on both; the fastest
run of each counts.
"""

import argparse
import tempfile
import time

import numpy as np
from sklearn.datasets import load_svmlight_file

from peers import record, run


def write_points(path, rows):
    rng = np.random.default_rng(0)
    with open(path, "w", encoding="ascii") as file:
        for _ in range(rows):
            count = rng.integers(150, 250)
            columns = np.sort(rng.choice(200_000, count, replace=False))
            labels = ",".join(map(str, rng.choice(4000, rng.integers(1, 8), replace=False)))
            pairs = " ".join(f"{c}:{v:.6f}" for c, v in zip(columns, rng.random(count)))
            file.write(f"{labels} {pairs}\n")


def read_with_sklearn(path):
    start = time.perf_counter()
    features, _ = load_svmlight_file(path, multilabel=True, zero_based=True)
    return {"values": int(features.nnz), "sum": float(features.sum()),
            "seconds": time.perf_counter() - start}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    parser.add_argument("--rows", type=int, default=15000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    peers, ours, ours_two = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/points.txt"
        write_points(path, args.rows)
        for _ in range(args.rounds):
            peers.append(read_with_sklearn(path))
            ours.append(run([args.bench, path, "1", "3"]))
            ours_two.append(run([args.bench, path, "2", "3"]))
    assert ours[0]["values"] == peers[0]["values"]
    assert abs(ours[0]["sum"] - peers[0]["sum"]) < 1e-6 * peers[0]["sum"]  # float32 against float64
    one, two, peer = (min(r["seconds"] for r in runs) for runs in (ours, ours_two, peers))
    streamed, streamed_two = (min(r["streamed"] for r in runs) for runs in (ours, ours_two))
    record("reading sparse text, against load_svmlight_file", wanted=10, ratio=peer / one,
           speed_up_by_two_threads=one / two, of_streaming=streamed / streamed_two,
           of_the_machine=max(r["machine_speed_up"] for r in ours_two),
           elias_seconds=one, streamed_seconds=streamed, sklearn_seconds=peer)


if __name__ == "__main__":
    main()
