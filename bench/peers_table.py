"""elias beside its peers on the same split: accuracy, time, memory and size in one table.

    ./dev bench peers [FOLDER...] [OPTION...]

A FOLDER holds trn.txt[.gz] and tst.txt[.gz], lines of label,label<TAB>text, and labels.txt, the name
of label i on line i + 1. Where it has a dev.txt[.gz] too, elias alone chooses by it (--dev). Without
a folder the data of ./dev demo are taken.

elias reads the texts. Its peers cannot: they get tf-idf features that elias makes, with the terms
that elias fit would choose. Every step of a tool is a process of its own, with the same number of
threads, and all predictions, 100 labels a point, are measured by elias evaluate. A tool that is not
installed or fails becomes a row that says why.
"""

import argparse
import gzip
import hashlib
import itertools
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from accuracy import file_of
from peers import ONE_THREAD, commit, processor

HERE = pathlib.Path(__file__).resolve().parent
DEMO = HERE.parent / "demo" / "debian-packages"
FIGURES = ["P@1", "P@3", "P@5", "R@10", "R@100"]
COLUMNS = ["set", "tool", *FIGURES, "training", "processor time", "prediction, ms a point",
           "memory, GiB", "model, MB"]

# name: its environment, what it is called in the table
TOOLS = {
    "elias": (None, "elias"),
    "pecos": ("venv-pecos", "PECOS XR-Linear {version}, beam 50"),
    "pecos-tuned": ("venv-pecos", "PECOS XR-Linear {version}, matcher-aware negatives, "
                                  "cost-sensitive, beam 50"),
    "napkinxc": ("venv-napkinxc", "napkinXC {version} PLT, 3 trees"),
    "omikuji": ("venv-omikuji", "omikuji {version}, 3 Parabel trees, beam 50"),
}

EXAMPLES = """\
examples:
  ./dev bench peers
  ./dev bench peers eurlex57k --keep work --timeout 30
  ./dev bench peers eurlex57k amazon-131k --only elias,pecos --threads 8 --keep work
  ./dev bench peers eurlex57k --small 3000
  ./dev bench peers eurlex57k --only pecos --features='--words 1 1 --sublinear-tf'
"""


class Unavailable(Exception):
    """A tool has no row of figures; the message says why."""


def fail(message):
    raise SystemExit(f"peers: {message}")


def note(message):
    print(message, file=sys.stderr, flush=True)


# --- processes --------------------------------------------------------------------------------------

def last_line(log):
    """The end of what a program had to say; a bar that redraws itself has carriage returns."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    lines = [line.strip() for line in text.replace("\r", "\n").splitlines()]
    return next((line for line in reversed(lines) if line), "it printed nothing")[-200:]


def how_it_ended(status, log):
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        cause = ", for want of memory?" if number == signal.SIGKILL else ""
        return f"ended by {signal.Signals(number).name}{cause}"
    return f"exit code {os.WEXITSTATUS(status)}: {last_line(log)}"


def measured(command, log, threads, deadline):
    """Runs it with its output in the log: wall seconds, processor seconds, and peak memory in GiB.
    This process must stay small: what it has in memory when it starts a child counts in the child's peak."""
    environment = os.environ | {name: str(threads) for name in ONE_THREAD}
    late = threading.Event()
    start = time.monotonic()
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, env=environment, start_new_session=True)

    def stop():
        late.set()
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(max(0.0, deadline - start), stop) if deadline else None
    try:
        if timer:
            timer.daemon = True
            timer.start()
        # Of this one child: the maximum over all children would count the others too.
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        if timer:
            timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if late.is_set():
        raise Unavailable("it took longer than --timeout")
    if status != 0:
        raise Unavailable(how_it_ended(status, log))
    return {"seconds": time.monotonic() - start, "processor": usage.ru_utime + usage.ru_stime,
            "memory": usage.ru_maxrss / 2**20}


def call(command):
    """Runs elias on the data of all tools, where a failure ends the benchmark; its output."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        fail(f"{shlex.join(map(str, command))}: {result.stderr.strip() or 'failed without a word'}")
    return result.stdout


# --- data -------------------------------------------------------------------------------------------

def opened(path):
    return gzip.open(path, "rb") if str(path).endswith(".gz") else open(path, "rb")


def check_folder(folder):
    missing = [f"{part}.txt[.gz]" for part in ("trn", "tst") if not file_of(folder, part)]
    missing += [] if (folder / "labels.txt").is_file() else ["labels.txt"]
    if not folder.is_dir():
        fail(f"{folder}: there is no such folder")
    if missing:
        fail(f"{folder}: {' and '.join(missing)} not found: a folder holds trn.txt[.gz], tst.txt[.gz] "
             "and labels.txt")


def count_and_copy(source, copy, limit):
    """The number of points, and their mean text in bytes; the first of them copied, if limited."""
    points = size = 0
    with opened(source) as lines, open(copy if limit else os.devnull, "wb") as output:
        for line in itertools.islice(lines, limit or None):
            points += 1
            size += len(line.partition(b"\t")[2].rstrip(b"\r\n"))
            output.write(line)
    if points == 0:
        fail(f"{source}: is empty")
    return points, size / points


def feature_options(points, mean_bytes):
    """What elias fit would choose (docs/training.md), but for a limit that follows from the width
    of its vectors: here it is the one of the narrow ones, so peers never see fewer."""
    words_only = mean_bytes >= 500
    return ["--sublinear-tf", "--min-df", "2" if points >= 1000 else "1",
            *(["--words", "1", "2"] if words_only else ["--words", "1", "1", "--characters", "4", "4"]),
            *(["--opening", "100"] if mean_bytes >= 2000 else []),
            "--max-features", "196608" if words_only else "98304"]


class Data:
    """A data set as the tools read it, made below a folder of its own or found there."""

    def __init__(self, source, folder, options):
        self.name, self.folder, self.labels = source.name, folder / "data", source / "labels.txt"
        self.train, self.test, self.dev = (file_of(source, part) for part in ("trn", "tst", "dev"))
        parts = [pathlib.Path(path) for path in (self.train, self.test, self.dev, self.labels) if path]
        self.key = {"files": [[str(path.resolve()), path.stat().st_size, path.stat().st_mtime]
                              for path in parts],
                    "small": options.small, "features": options.features}
        claim(self.folder, "data.json")
        self.state = read(self.folder / "data.json")
        if self.state.get("key") != self.key:
            self.state = {}
        if options.small:
            self.train = str(self.folder / "trn.txt")
        if not self.state:
            self.prepare(source, options)

    def prepare(self, source, options):
        write(self.folder / "data.json", {})
        empty(self.folder)
        points, size = count_and_copy(file_of(source, "trn"), self.folder / "trn.txt", options.small)
        tests, _ = count_and_copy(self.test, self.folder / "unused", 0)
        with opened(self.test) as lines, open(self.folder / "one.txt", "wb") as output:
            output.write(lines.readline())
        chosen = shlex.split(options.features) if options.features else feature_options(points, size)
        self.state = {"points": points, "tests": tests, "features": shlex.join(chosen)}
        note(f"{self.name}: {points:,} training points, {tests:,} test points")

    def finish(self):
        """Keeps what was prepared for another call."""
        write(self.folder / "data.json", {**self.state, "key": self.key})

    def truth(self, elias):
        return self.matrix(elias, "tst", self.test)

    def matrix(self, elias, part, source):
        """The labels of a part as an npz file."""
        path = self.folder / f"Y.{part}.npz"
        if not path.exists():
            texts = self.folder / f"{part}.texts"
            call([elias, "convert", source, f"{texts},{path}", "--to", "npz", "--labels", self.labels])
            texts.unlink()
        return path

    def for_peers(self, elias, threads, sparse):
        """Makes the features, and the same points as text where a peer wants that."""
        if "seconds" not in self.state:
            note(f"{self.name}: tf-idf features for the peers")
            model, limit = self.folder / "tfidf.safetensors", ["--threads", threads]
            shared = ["--labels", self.labels, *limit]
            start = time.monotonic()
            call([elias, "tfidf", "fit", "--input", self.train, "--out", model, *shared,
                  *shlex.split(self.state["features"])])
            for part, source in (("trn", self.train), ("tst", self.test)):
                middle = time.monotonic()
                call([elias, "tfidf", "transform", "--model", model, "--input", source,
                      "--out", self.folder / f"X.{part}.npz", *shared])
            self.state["seconds"] = middle - start
            self.state["milliseconds"] = 1000 * (time.monotonic() - middle) / self.state["tests"]
            self.matrix(elias, "trn", self.train)
            self.finish()
        if sparse and not (self.folder / "trn.sparse").exists():
            call([elias, "convert", f"{self.folder}/X.trn.npz,{self.folder}/Y.trn.npz",
                  self.folder / "trn.sparse", "--to", "sparse"])


# --- folders that are kept --------------------------------------------------------------------------

def read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def write(path, content):
    """Whole or not at all."""
    path.with_suffix(".part").write_text(json.dumps(content, indent=1), encoding="utf-8")
    path.with_suffix(".part").rename(path)


def claim(folder, marker):
    """Makes the folder, or makes sure that it is one of ours, whose content may be deleted."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / marker).exists():
        fail(f"{folder}: was not made by this benchmark: give another folder to --keep")
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / marker).exists():
        write(folder / marker, {})


def empty(folder):
    for entry in folder.iterdir():
        if entry.suffix == ".json":
            continue
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def fingerprint(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def size_of(folder, without=()):
    return sum(path.stat().st_size for path in folder.rglob("*")
               if path.is_file() and path.relative_to(folder).parts[0] not in without)


# --- rows -------------------------------------------------------------------------------------------

def elias_row(elias, data, folder, threads, deadline):
    """Prediction is the time of all test points less that of one: neither start nor loading counts,
    but reading texts, their features and writing the scores do."""
    model, limit = folder / "model", ["--threads", threads]
    dev = ["--dev", data.dev] if data.dev else []
    learned = measured([elias, "fit", "--train", data.train, *dev, "--labels", data.labels, "--out", model,
                        *limit], folder / "fit.log", threads, deadline)
    predict = [elias, "predict", "--model", model, "--k", "100", "--format", "npz", *limit]
    one = measured([*predict, "--input", data.folder / "one.txt", "--out", folder / "one.npz"],
                   folder / "predict.log", threads, deadline)
    every = measured([*predict, "--input", data.test, "--out", folder / "scores.npz"],
                     folder / "predict.log", threads, deadline)
    seconds = max(0.0, every["seconds"] - one["seconds"])
    return {**learned, "milliseconds": 1000 * seconds / max(1, data.state["tests"] - 1),
            "bytes": size_of(model, without=("run",))}


def peer_row(name, python, data, folder, threads, deadline):
    """Prediction is the time of the call that takes features and gives scores, and nothing else."""
    model, report = folder / "model", folder / "report.txt"
    learned = measured([python, HERE / "peer.py", name, "fit", data.folder, model, threads],
                       folder / "fit.log", threads, deadline)
    measured([python, HERE / "peer.py", name, "predict", data.folder, model, threads,
              folder / "scores.npz", report], folder / "predict.log", threads, deadline)
    return {**learned, "bytes": size_of(model), **read(report)}


def installed(name, environments):
    """The Python of a peer's environment."""
    folder = environments / TOOLS[name][0]
    if not (folder / "complete").exists():
        log = folder.with_name(folder.name + ".log")
        raise Unavailable(f"could not be installed: {last_line(log)}" if log.exists() else
                          f"not installed: no {folder}; ./dev bench peers makes it")
    return folder / "bin" / "python"


def row_of(name, data, folder, options):
    """The figures of a tool, measured now or in an earlier call with the same --keep."""
    claim(folder, "row.json")
    key = {"data": data.key, "threads": options.threads,
           "program": fingerprint(options.elias if name == "elias" else HERE / "peer.py")}
    kept = read(folder / "row.json")
    if kept.get("key") == key:
        note(f"{data.name}: {name}: found in {folder}")
        return kept
    write(folder / "row.json", {})
    empty(folder)
    if name != "elias":
        python = installed(name, options.environments)
        data.for_peers(options.elias, options.threads, sparse=name == "omikuji")
    note(f"{data.name}: {name}: at work; {folder}/*.log has what it says")
    deadline = options.timeout and time.monotonic() + 60 * options.timeout
    if name == "elias":
        row = elias_row(options.elias, data, folder, options.threads, deadline)
    else:
        row = peer_row(name, python, data, folder, options.threads, deadline)
    evaluated = json.loads(call(
        [options.elias, "evaluate", "--truth", data.truth(options.elias), "--predictions",
         folder / "scores.npz", "--k", "1,3,5", "--recall-k", "10,100", "--json"]))
    metrics = evaluated["files"][0]["metrics"]
    row |= {"figures": [100 * metrics[figure] for figure in FIGURES], "key": key}
    write(folder / "row.json", row)
    return row


def duration(seconds):
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"


def cells(name, data, folder, options):
    try:
        row = row_of(name, data, folder, options)
    except Unavailable as reason:
        note(f"{data.name}: {name}: not available: {reason}")
        tool = TOOLS[name][1].replace(" {version}", "")
        said = str(reason).replace("|", "/")
        return [data.name, tool, f"not available: {said}"] + [""] * (len(COLUMNS) - 3)
    return [data.name, TOOLS[name][1].format(version=row.get("version", "")),
            *(f"{figure:.2f}" for figure in row["figures"]), duration(row["seconds"]),
            duration(row["processor"]), f"{row['milliseconds']:.2f}", f"{row['memory']:.1f}",
            f"{row['bytes'] / 1e6:.0f}"]


# --- the table --------------------------------------------------------------------------------------

def heading(sets, options):
    lines = [f"{processor()}, {options.threads} threads, commit {commit()}; figures of all test points, "
             "by elias evaluate.",
             "training, its processor time, memory: the whole process that learns, reading and saving "
             "included: elias from texts, its peers from features.",
             "prediction: 100 labels a point, the model loaded; elias from a file of texts to a file of "
             "scores, its peers the call alone, from features."]
    for data in sets:
        of = f"the first {data.state['points']:,}" if options.small else f"{data.state['points']:,}"
        line = f"{data.name}: {of} training points, {data.state['tests']:,} test points"
        if data.dev and "elias" in options.only:
            line += "; elias chooses by the points of dev, its peers do without"
        if "seconds" in data.state and options.only != ["elias"]:
            line += (f"; features of the peers: elias tfidf fit {data.state['features']}, made in "
                     f"{data.state['seconds']:.0f} s and {data.state['milliseconds']:.2f} ms a test point, "
                     "not counted")
        lines.append(line + ".")
    return lines


def show(sets, rows, options):
    print("\n".join(heading(sets, options)) + "\n")
    widths = [max(len(row[i]) for row in [COLUMNS, *rows] if not row[2].startswith("not ") or i != 2)
              for i in range(len(COLUMNS))]
    for row in (COLUMNS, ["-" * width for width in widths], *rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, prog="./dev bench peers",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path, metavar="FOLDER",
                        help="data set (default: demo/debian-packages)")
    parser.add_argument("--only", metavar="TOOL,...", default=",".join(TOOLS),
                        help=f"these tools alone, of {', '.join(TOOLS)}")
    parser.add_argument("--small", metavar="N", type=int, default=0,
                        help="learn from the first N training points, to see whether all works")
    parser.add_argument("--threads", metavar="N", type=int, default=len(os.sched_getaffinity(0)),
                        help="threads of each tool (default: all, %(default)s)")
    parser.add_argument("--timeout", metavar="MINUTES", type=float, default=0,
                        help="give up on a tool that takes longer on a data set (default: never)")
    parser.add_argument("--keep", metavar="FOLDER", type=pathlib.Path,
                        help="work here and leave all there: another call takes finished rows as they are")
    parser.add_argument("--features", metavar="OPTIONS", default="",
                        help="options of elias tfidf fit for the features of the peers")
    parser.add_argument("--elias", metavar="PROGRAM", type=pathlib.Path,
                        default=HERE.parent / "build" / "elias", help="the program")
    parser.add_argument("--environments", metavar="FOLDER", type=pathlib.Path,
                        default=HERE.parent / "build-bench",
                        help="folder with venv-pecos and the like, which ./dev bench peers makes")
    options = parser.parse_args()
    options.only = options.only.split(",")
    for name in options.only:
        if name not in TOOLS:
            parser.error(f"--only: there is no tool '{name}': take some of {', '.join(TOOLS)}")
    for option, low in (("small", 0), ("threads", 1), ("timeout", 0)):
        if getattr(options, option) < low:
            parser.error(f"--{option}: {getattr(options, option)} is below {low}")
    return options


def check(options):
    """Whatever would otherwise come to light after hours."""
    if not options.folders:
        if not (DEMO / "labels.txt").exists():
            fail("no data: name a folder with trn.txt[.gz], tst.txt[.gz] and labels.txt, or run ./dev demo "
                 "first, whose data are taken where none are named")
        options.folders = [DEMO]
    options.folders = [folder.resolve() for folder in options.folders]
    for folder in options.folders:
        check_folder(folder)
    names = [folder.name for folder in options.folders]
    for name in names:
        if names.count(name) > 1:
            fail(f"two data sets have the name {name}: rename a folder")
    if not os.access(options.elias, os.X_OK):
        fail(f"{options.elias}: is no program: ./dev build makes it, or --elias names another")


def run(options, work):
    # A tool may come more than once in --only; its row does not.
    tools, sets, rows = [name for name in TOOLS if name in options.only], [], []
    for source in options.folders:
        folder = work / (source.name + (f"-{options.small}" if options.small else ""))
        data = Data(source, folder, options)
        data.finish()
        sets.append(data)
        rows += [cells(name, data, folder / name, options) for name in tools]
    show(sets, rows, options)


def main():
    options = arguments()
    check(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if options.keep:
            run(options, options.keep.resolve())
        else:
            with tempfile.TemporaryDirectory(prefix="elias-peers-") as temporary:
                run(options, pathlib.Path(temporary))
    except KeyboardInterrupt:
        note("peers: stopped" + (f"; finished rows are in {options.keep}" if options.keep else ""))
        sys.exit(130)


if __name__ == "__main__":
    main()
