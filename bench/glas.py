"""Tables 1 and 2 of the GLaS paper on other data: bench/glas.py ELIAS FOLDER [--work DIR].

Trains `--method glas` with its default settings, with another loss, and with one thing changed at a
time, and measures the test points; of some also the training points, whose distance from the test
points is the generalisation gap. There is no ranker: it would hide what is compared. A FOLDER is as
for bench/accuracy.py. Prints a table for docs/results.md, a row as soon as it is there; a model that
is there already from an earlier call with the same program is not trained again.
"""

import argparse
import pathlib

from accuracy import figures_of, file_of, train

REGULARISERS = ["none", "glas", "spreadout", "gravity", "laplacian"]
# Weights of the same order beside each loss: ova is a mean over labels, the others are sums.
WEIGHTS = {"ova": [1, 10], "margin": [300, 3000], "softmax": [300]}
CHANGES = {
    "similarity geometric": ["similarity=geometric"],
    "drawn labels alone": ["regularised=drawn"],
    "input dropout 0": ["word_dropout=0"],
    "input dropout 0.2": ["word_dropout=0.2"],
    "batch 1024": ["batch=1024"],
    "batch 2048": ["batch=2048"],
    "width 256": ["width=256"],
    "width 512": ["width=512"],
    "linear": ["activation=linear"],
}
FIGURES = ["P@1", "P@3", "P@5", "R@100", "PSP@1", "PSP@3", "PSP@5"]


def runs():
    """Of each run its name, its settings, and whether the training points are measured too."""
    for loss, (weight, *others) in WEIGHTS.items():
        for regulariser in REGULARISERS if others else REGULARISERS[:2]:
            yield (f"{loss}, {regulariser}",
                   [f"loss={loss}", f"regulariser={regulariser}", f"regulariser_weight={weight}"],
                   regulariser in ("none", "glas"))
        for other in others:
            yield (f"{loss}, glas, weight {other}",
                   [f"loss={loss}", "regulariser=glas", f"regulariser_weight={other}"], False)
    # The paper's table changes one thing of its base setting, a margin with glas.
    for name, changes in CHANGES.items():
        yield (f"margin, glas, {name}", ["loss=margin", "regulariser=glas",
                                         f"regulariser_weight={WEIGHTS['margin'][0]}", *changes], False)


def percent(share):
    return f"{100 * share:.2f}"


def print_row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("elias")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("accuracy"))
    parser.add_argument("--only", metavar="NAME", nargs="+", help="rows of these names alone")
    arguments = parser.parse_args()
    head = ["what", *FIGURES, "P@1 of training points", "gap"]
    print_row(head)
    print_row(["---"] * len(head))
    for name, settings, with_gap in runs():
        if arguments.only and name not in arguments.only:
            continue
        extra = ["--method", "glas", "--set", "ranker=off"]
        for setting in settings:
            extra += ["--set", setting]
        model, _, _ = train(arguments.elias, arguments.folder, f"glas {name}".replace(",", ""),
                            extra, arguments.work)
        test = figures_of(arguments.elias, model, file_of(arguments.folder, "tst"))
        gap = ["", ""]
        if with_gap:
            learned = figures_of(arguments.elias, model, file_of(arguments.folder, "trn"))["P@1"]
            gap = [percent(learned), percent(learned - test["P@1"])]
        print_row([name, *(percent(test[figure]) for figure in FIGURES), *gap])


if __name__ == "__main__":
    main()
