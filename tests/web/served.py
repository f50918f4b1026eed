"""A few small models, and servers of them, for the tests of the page.

The data are made up by `elias synth`; some labels get names that would be harmful if the page ever
read a name as markup. The index is kept small in every way, so that searches miss labels and there
is something to explain.
"""

import json
import pathlib
import re
import subprocess

HOSTILE = '<img src=x onerror="hacked=1">'
NAMES = {0: HOSTILE, 1: "<b>bold</b> & 'quoted'", 2: "grüner Tee", 3: "x" * 70}
SMALL = ["--set", "width=32"]
NARROW = ["clusters=8", "beam=3", "edges=20", "shortlist=15", "kept_clusters=2"]


class Elias:
    """The program, in a folder of its own."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)

    def __call__(self, *arguments, stdin=None):
        return subprocess.run([self.program, *arguments], input=stdin, check=True, text=True,
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout

    def json(self, *arguments, stdin=None):
        return json.loads(self(*arguments, stdin=stdin))

    def predict(self, model, text, *options):
        """[(label, score), ...] of one text."""
        answer = self.json("predict", "--model", model, "--input", "-", "--input-format", "lines",
                           "--format", "jsonl", *options, stdin=text + "\n")
        return list(zip(answer["labels"], answer["scores"]))

    def explain(self, model, text, *options):
        """The explanations of one text's labels."""
        return self.json("explain", "--model", model, "--input", "-", "--json", *options,
                         stdin=text + "\n")["labels"]


def name_of(number):
    return NAMES.get(int(number), f"label {number}")


def make_models(elias):
    """tea has clusters, a ranker and thresholds; ova no clusters; pair two members and no ranker."""
    elias("synth", "--labels", "60", "--points", "1500", "--out", "toy")
    for part in ["trn", "tst"]:
        lines = (elias.folder / "toy" / f"{part}.txt").read_text().splitlines()
        points = [line.split("\t") for line in lines]
        named = [",".join(map(name_of, labels.split(","))) + "\t" + text for labels, text in points]
        (elias.folder / f"{part}.tsv").write_text("\n".join(named) + "\n")
    fit = ["fit", "--train", "trn.tsv", *SMALL]
    elias(*fit, "--out", "tea", *(part for setting in NARROW for part in ["--set", setting]))
    elias(*fit, "--out", "ova", "--method", "ova")
    elias(*fit, "--out", "pair", "--ensemble", "2", "--set", "ranker=off")
    elias("threshold", "--model", "tea", "--data", "tst.tsv", "--for", "f1")


def some_text(elias):
    """A text of a test point with the hostile label."""
    for line in (elias.folder / "tst.tsv").read_text().splitlines():
        labels, text = line.split("\t")
        if HOSTILE in labels:
            return text
    raise AssertionError("no test point has the hostile label")


class Server:
    """`elias serve` on a free port, until the end of a with statement."""

    def __init__(self, elias, *options):
        self.process = subprocess.Popen([elias.program, "serve", "--port", "0", *options],
                                        cwd=elias.folder, text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        said = self.process.stdout.readline()
        ready = re.search(r"http://[^ ]*", said)
        if ready is None:
            self.stop()
            raise AssertionError(f"the server is not ready; it said: {said}")
        self.address = ready[0]

    def stop(self):
        self.process.terminate()
        self.process.communicate(timeout=30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
