"""Accuracy, time and memory on real data: bench/accuracy.py ELIAS FOLDER... [--work DIR].

A folder holds trn.txt[.gz], tst.txt[.gz], labels.txt and, if there is one, dev.txt[.gz]. For each
the default model, the same without a ranker, its stage 1 alone, exact one-vs-all with the same
encoder and embedding classifiers are trained with default settings and measured on the test points.
Prints a table for docs/results.md. A model that is there already from an earlier call with the same
program is not trained again.
"""

import argparse
import json
import os
import pathlib
import subprocess
import time

RUNS = {
    "elias": [],
    "without a ranker": ["--set", "ranker=off"],
    "stage 1 alone": ["--set", "ranker=off", "--set", "stage2_epochs=0"],
    "one-vs-all": ["--method", "ova", "--set", "ranker=off"],
    "one-vs-all and a ranker": ["--method", "ova"],
    "glas without a ranker": ["--method", "glas", "--set", "ranker=off"],
    "glas": ["--method", "glas"],
}
FIGURES = ["P@1", "P@3", "P@5", "R@10", "R@100", "PSP@1", "PSP@3", "PSP@5"]


def file_of(folder, part):
    for name in (f"{part}.txt.gz", f"{part}.txt"):
        if (folder / name).exists():
            return str(folder / name)
    return None


def peak_and_seconds(command):
    """Runs it; its wall time in seconds and its largest resident set in MiB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)}: failed")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def train(elias, folder, name, extra, work):
    """The model's folder, its training time in seconds and peak memory in MiB."""
    model = work / folder.name / name.replace(" ", "-")
    model.parent.mkdir(parents=True, exist_ok=True)
    command = [elias, "fit", "--train", file_of(folder, "trn"),
               "--labels", str(folder / "labels.txt"), "--out", str(model), *extra]
    if file_of(folder, "dev"):
        command += ["--dev", file_of(folder, "dev")]
    return model, *peak_and_seconds(command)


def figures_of(elias, model, points):
    """All figures of the model on the file of points, as shares."""
    evaluated = json.loads(subprocess.run(
        [elias, "evaluate", "--model", str(model), "--test", points, "--json"],
        check=True, capture_output=True, text=True).stdout)
    return evaluated["files"][0]["metrics"]


def measure(elias, folder, name, extra, work):
    model, seconds, peak = train(elias, folder, name, extra, work)
    figures = figures_of(elias, model, file_of(folder, "tst"))
    size = sum(file.stat().st_size for file in model.glob("*") if file.is_file())
    return [f"{100 * figures[figure]:.2f}" for figure in FIGURES] + [
        f"{seconds / 60:.1f} min", f"{peak:.0f} MiB", f"{size / 2**20:.0f} MiB"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("elias")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("accuracy"))
    parser.add_argument("--only", choices=list(RUNS), nargs="+", default=list(RUNS))
    arguments = parser.parse_args()
    head = ["set", "model", *FIGURES, "training", "memory", "size"]
    print("| " + " | ".join(head) + " |")
    print("| " + " | ".join("---" for _ in head) + " |")
    for folder in arguments.folders:
        for name, extra in RUNS.items():
            if name in arguments.only:
                row = measure(arguments.elias, folder, name, extra, arguments.work)
                print("| " + " | ".join([folder.name, name, *row]) + " |", flush=True)


if __name__ == "__main__":
    main()
