#!/usr/bin/python3
"""Which packages does a Debian package need? From the machine's package index to a model, in Python.

    examples/debian-packages/make demo/debian-packages
    PYTHONPATH=build/python examples/python/packages.py demo/debian-packages demo/python-model

trains for some minutes; Ctrl-C stops it, and the same command goes on. Run it again to predict at
once. Arguments behind the two folders are settings: width=64 stage1_epochs=1. docs/python.md goes
through it step by step.
"""

import pathlib
import sys

import elias


def read(path):
    """Texts, and the labels of each: a line is label,label<TAB>text."""
    texts, labels = [], []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            names, text = line.rstrip("\n").split("\t", 1)
            labels.append(names.split(","))
            texts.append(text)
    return texts, labels


def show(progress):
    """A line on the terminal, and one that stays at the end of each epoch that was evaluated."""
    epoch = f", epoch {progress.epoch} of {progress.epochs}" if progress.epochs else ""
    line = f"{progress.stage}{epoch}: {progress.share:4.0%}"
    if progress.figures:
        figures = "  ".join(f"{name} {value:.2%}" for name, value in progress.figures.items())
        print(f"{line}  {figures}", file=sys.stderr)
    else:  # what is printed next takes its place
        print(f"{line:<40}", end="\r", file=sys.stderr, flush=True)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    data, out = map(pathlib.Path, sys.argv[1:3])
    settings = dict(setting.split("=", 1) for setting in sys.argv[3:])
    texts, labels = read(data / "trn.txt")
    model = elias.fit(texts, labels, out=out, settings=settings, progress=show)
    print(model)

    figures = model.evaluate(*read(data / "tst.txt"))
    print("  ".join(f"{name} {figures[name]:.2%}" for name in ("P@1", "P@5", "R@100")))

    text = "python python3-kmeans fast clustering of vectors with numpy"
    (best,) = model.predict([text], k=3)
    print(text)
    for label, probability in best:
        print(f"  {probability:4.0%}  {label}")

    (explained,) = model.explain([text], k=1)
    words = explained["labels"][0]["ranker"]["words"]
    telling = ", ".join(word["term"] for word in words if word["adds"] > 0)
    print(f"{explained['labels'][0]['label']}, because of: {telling}")


if __name__ == "__main__":
    main()
