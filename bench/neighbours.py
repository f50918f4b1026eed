"""The search through a graph of neighbours against the exact scan, on one thread.

    neighbours.py BENCH

BENCH is the program neighbours_bench. Of the searches that find 95 % of the exact 100 best or more, the
fastest counts.
"""

import sys

from peers import record, run


def main():
    result = run([sys.argv[1]])
    scan = result["scan"]
    for search in result["searches"]:
        print(f"ef {search['ef']:>4}: {search['milliseconds']:.3f} ms a point, "
              f"{100 * search['recall']:.1f} % of the exact 100 best", file=sys.stderr)
    print(f"exact scan: {scan:.3f} ms a point; the graph was built in {result['build']:.0f} s",
          file=sys.stderr)
    good = [search for search in result["searches"] if search["recall"] >= 0.95]
    best = min(good, key=lambda search: search["milliseconds"])
    record("search by neighbours, 1 ms over it", wanted=1, ratio=1 / best["milliseconds"], **best)
    record("search by neighbours, the exact scan over it", wanted=5,
           ratio=scan / best["milliseconds"], scan=scan)


if __name__ == "__main__":
    main()
