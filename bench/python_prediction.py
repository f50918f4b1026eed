"""Predicting many texts from Python against the command line: the same model, texts and labels.

    PYTHONPATH=build/python /usr/bin/python3 bench/python_prediction.py build/elias [MODEL TEXTS]

TEXTS has one a line. Without a model one is trained on a generated set of 25,000 labels, one epoch a
stage, and asked for 60,000 texts. Both ways are timed from start to end, with the load of the model, in
turn, the best of some rounds each: `elias predict` to a file, and load(), reading the lines and
predict() to lists. What the interpreter takes to start and to import the package is told beside it.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import elias
from peers import record
from prediction import train

ROUNDS = 5
LABELS = 5


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def generated(program, folder):
    model, test = train(program, folder)
    lines = pathlib.Path(folder, "texts.txt")
    with open(test.replace("tst", "trn"), encoding="utf-8") as points:
        lines.write_text("".join(line.split("\t", 1)[1] for line in points), encoding="utf-8")
    return model, str(lines)


def compare(program, model, texts, folder):
    count = 0

    def by_command():
        subprocess.run(
            [program, "predict", "--model", model, "--input", texts, "--input-format", "lines",
             "--k", str(LABELS), "--format", "jsonl", "--out", f"{folder}/predictions.jsonl"],
            check=True, capture_output=True)

    def by_package():
        nonlocal count
        lines = pathlib.Path(texts).read_text(encoding="utf-8").splitlines()
        count = len(elias.load(model).predict(lines, k=LABELS))

    def by_nothing():
        subprocess.run([sys.executable, "-c", "import elias"], check=True)

    ways = (by_command, by_package, by_nothing)
    by_command()  # files are in memory from here on
    command, package, start = (min(times) for times in zip(
        *([seconds(way) for way in ways] for _ in range(ROUNDS))))
    print(f"{count} texts: command {command:.2f} s, Python {package:.2f} s, and {start:.2f} s to "
          "start and import", file=sys.stderr)
    record("prediction from Python, against 1.15 of the command line's time", wanted=1,
           ratio=1.15 * command / package, texts=count, command=command, python=package,
           start_and_import=start)


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = sys.argv[1]
        model, texts = sys.argv[2:4] or generated(program, folder)
        compare(program, model, texts, folder)


if __name__ == "__main__":
    main()
