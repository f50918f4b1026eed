"""Points a second in training, against the roofline of the operator that dominates it.

    training.py BENCH

BENCH is the program training_bench. Where all labels are passed over that operator is the matrix
product, held against a loop of multiply-adds in the unit it uses; where shortlists are, it is the
reading of their rows, held against one pass over memory.
"""

import os
import sys

from peers import record, run

WANTED = {"bf16": 0.25, "read": 0.5}


def main():
    for threads in sorted({1, os.cpu_count()}):
        for case in run([sys.argv[1], str(threads)])["cases"]:
            print(f"{threads:>7}  {case['name']:<50}{case['points per second']:>9.0f} points/s"
                  f"{case['ratio']:>6.2f} of {case['bound']}", file=sys.stderr)
            record(f"training, {case['name']}, against {case['bound']}",
                   wanted=WANTED[case["bound"]], ratio=case["ratio"], threads=threads,
                   points_per_second=case["points per second"], amount=case["amount"],
                   bound=case["bound rate"])


if __name__ == "__main__":
    main()
