"""What the tests share: the program `elias`, made-up data, and a model that the program trained.

The package is looked for as always (./dev python sets PYTHONPATH), the program in $ELIAS_PROGRAM, or
where ./dev build leaves it.
"""

import os
import pathlib
import subprocess

import pytest

import elias

ROOT = pathlib.Path(__file__).parents[2]


class Program:
    """The command line, which the package must agree with."""

    def __init__(self):
        self.path = os.environ.get("ELIAS_PROGRAM", str(ROOT / "build" / "elias"))

    def run(self, *arguments, text=""):
        """What it prints."""
        command = [self.path, *map(str, arguments)]
        return subprocess.run(
            command, input=text, capture_output=True, encoding="utf-8", check=True
        ).stdout

    def refusal(self, *arguments, text=""):
        """The sentence with which it refuses its input."""
        command = [self.path, *map(str, arguments)]
        done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8")
        assert done.returncode == 2, done.stderr
        return done.stderr.removeprefix("elias: ").removesuffix("\n")


class Toy:
    """A made-up data set: files, and what is in them."""

    def __init__(self, folder, program):
        self.program = program
        program.run(
            *("synth", "--labels", 60, "--points", 2000, "--seed", 3),
            *("--out", folder),
        )
        self.train, self.test = folder / "trn.txt", folder / "tst.txt"
        self.texts, self.labels = self._named(self.train)
        self.test_texts, self.test_labels = self._named(self.test)
        self.lines = folder / "lines.txt"
        self.lines.write_text("".join(text + "\n" for text in self.test_texts), encoding="utf-8")

    @staticmethod
    def _named(path):
        """The points of the file, whose labels get names there in the place of their ids."""
        texts, labels = [], []
        for line in path.read_text(encoding="utf-8").splitlines():
            ids, text = line.split("\t", 1)
            texts.append(text)
            labels.append([f"label {one}" for one in ids.split(",") if one])
        points = zip(labels, texts)
        path.write_text("".join(f"{','.join(names)}\t{text}\n" for names, text in points))
        return texts, labels


# Enough to tell right from wrong, in a second.
QUICK = {"width": 32, "warm_epochs": 0, "stage1_epochs": 2, "stage2_epochs": 2, "clusters": 8}
QUICK_OPTIONS = [part for name in QUICK for part in ("--set", f"{name}={QUICK[name]}")]


@pytest.fixture(scope="session")
def program():
    return Program()


@pytest.fixture(scope="session")
def toy(tmp_path_factory, program):
    return Toy(tmp_path_factory.mktemp("toy"), program)


@pytest.fixture(scope="session")
def folder(tmp_path_factory, program, toy):
    """The model of the program."""
    folder = tmp_path_factory.mktemp("models") / "model"
    program.run("fit", "--train", toy.train, "--out", folder, *QUICK_OPTIONS)
    return folder


@pytest.fixture(scope="session")
def model(folder):
    return elias.load(folder)
