"""The operators against what the machine can do, and the matrix product against OpenBLAS too.

    ops.py BENCH [--rounds N]

BENCH is the program ops_bench. Memory-bound operators are held against copying memory, or reading it
where they hardly write, in bytes a second of which the fewest count; products against a loop of multiply-adds, in operations a second;
top-k against one pass over its scores. One that reads more than it writes can beat the copy. A bound is
measured right before and after each run, and the median of the ratios counts.

OpenBLAS runs as Debian ships it, and again with the kernel that fits this processor: the version in
Debian 12 does not know newer ones and falls back to its oldest.
"""

import argparse
import sys

from peers import record, run

# Top-k may take 1.3 times the pass.
WANTED = {"copy": 0.7, "read": 0.7, "float32": 0.75, "bf16": 0.6, "pass": 1 / 1.3}
UNITS = {"copy": "GB/s", "read": "GB/s", "pass": "GB/s"}
# Where a product is ours, its case is called by this and the shape.
PRODUCT = "linear, float32, "


def line(threads, name, rate, unit, ratio=""):
    print(f"{threads:>7}  {name:<40}{rate / 1e9:>9.1f} {unit:<8}{ratio:>6}", file=sys.stderr)


def measure_operators(bench, threads, rounds):
    result = run([bench, str(threads), str(rounds)])
    for case in result["cases"]:
        bound = case["bound"]
        line(threads, case["name"], case["rate"], UNITS.get(bound, "GFLOP/s"),
             f"{case['ratio']:.2f}")
        record(f"{case['name']}, against {bound}", wanted=WANTED[bound], ratio=case["ratio"],
               threads=threads, rate=case["rate"], bound=case["bound rate"],
               seconds=case["seconds"])
    return {case["name"]: case["rate"] for case in result["cases"]}


def compare_openblas(bench, threads, rounds, ours):
    for kernel in ({}, {"OPENBLAS_CORETYPE": "SkylakeX"}):
        result = run([bench, "--openblas", str(rounds)],
                     {"OPENBLAS_NUM_THREADS": str(threads)} | kernel)
        for case in result["cases"]:
            name = f"OpenBLAS ({result['core']}), {case['name']}"
            own = ours.get(PRODUCT + case["name"])
            if own is None:
                line(threads, name, case["rate"], "GFLOP/s")
                continue
            line(threads, name, case["rate"], "GFLOP/s", f"{own / case['rate']:.2f}")
            record(f"{PRODUCT}{case['name']}, against OpenBLAS's {result['core']}",
                   wanted=1 if kernel else 2, ratio=own / case["rate"], threads=threads, rate=own, peer=case["rate"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    print("threads  what                                 rate (billions)    ratio", file=sys.stderr)
    alone = measure_operators(args.bench, 1, args.rounds)
    compare_openblas(args.bench, 1, args.rounds, alone)
    together = measure_operators(args.bench, 2, args.rounds)
    compare_openblas(args.bench, 2, args.rounds, together)
    for name in together:
        ratio = together[name] / alone[name]
        if name.startswith(("linear", "input", "weight")):
            record(f"{name}, 2 threads against 1", wanted=1.8, ratio=ratio)
        print(f"  2 to 1  {name:<40}{ratio:>17.2f}", file=sys.stderr)


if __name__ == "__main__":
    main()
