"""Peak memory of `elias fit` with a million labels, against 24 GiB.

    million.py ELIAS [--labels L] [--points N] [--keep FOLDER]

ELIAS is the program. Data are made by elias synth; one epoch a stage, which needs as much memory as
many. Also prints how fast each stage learned.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from accuracy import peak_and_seconds
from peers import record


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("elias")
    parser.add_argument("--labels", type=int, default=1_000_000)
    parser.add_argument("--points", type=int, default=200_000)
    parser.add_argument("--keep", help="work in this folder, and leave the data there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(args.keep or temporary)
        if not (folder / "trn.txt").exists():
            subprocess.run([args.elias, "synth", "--labels", str(args.labels), "--points",
                            str(args.points), "--out", str(folder)], check=True)
        model = folder / "model"
        seconds, peak = peak_and_seconds(
            [args.elias, "fit", "--train", str(folder / "trn.txt"), "--labels",
             str(folder / "labels.txt"), "--out", str(model), "--overwrite"] +
            [word for name in ("warm_epochs", "stage1_epochs", "stage2_epochs")
             for word in ("--set", f"{name}=1")])
        log = [json.loads(line) for line in (model / "run/log.jsonl").read_text().splitlines()]
    for event in log:
        if event["event"] == "stage":
            print(f"{event['stage']}: prepared in {event['preparation_seconds']:.0f} s",
                  file=sys.stderr)
        if event["event"] == "epoch":
            print(f"{event['stage']}: {event['points_per_second']:.0f} points/s", file=sys.stderr)
    record(f"24 GiB over the memory of {args.labels} labels", wanted=1,
           ratio=24 * 1024 / peak, megabytes=peak, seconds=seconds)


if __name__ == "__main__":
    main()
