"""Training: the model of the command line, to the byte, and runs that are stopped go on."""

import json
import os
import pathlib
import signal
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import QUICK, QUICK_OPTIONS

import elias


def content(folder):
    """What says that two models are the same: the checksum of every file."""
    files = json.loads((pathlib.Path(folder) / "config.json").read_text())["files"]
    assert len(files) >= 4
    return files


def events(folder):
    lines = (pathlib.Path(folder) / "run" / "log.jsonl").read_text().splitlines()
    return [json.loads(line)["event"] for line in lines]


def test_the_model_is_that_of_the_command_line(folder, toy, tmp_path):
    elias.fit(toy.texts, toy.labels, out=tmp_path / "model", settings=QUICK)
    assert content(tmp_path / "model") == content(folder)
    lines = (pathlib.Path(folder) / "config.json").read_text()
    assert (tmp_path / "model" / "config.json").read_text() == lines


def test_a_run_of_the_command_line_is_known(folder, toy):
    stages = []
    model = elias.fit(toy.texts, toy.labels, out=folder, settings=QUICK, progress=stages.append)
    assert stages == [] and model.folder == str(folder)
    with pytest.raises(elias.InputError, match="holds a run with other settings: width is 32 there"):
        elias.fit(toy.texts, toy.labels, out=folder, settings={**QUICK, "width": 16})
    with pytest.raises(elias.InputError, match="texts, features or labels are not the same"):
        elias.fit(toy.texts[::-1], toy.labels[::-1], out=folder, settings=QUICK)


def test_the_bits_are_the_same_at_any_number_of_threads(folder, toy, tmp_path):
    for threads in (1, 3):
        out = tmp_path / str(threads)
        elias.fit(toy.texts, toy.labels, out=out, settings=QUICK, threads=threads)
        assert content(out) == content(folder)


def test_held_out_points_relevances_and_options_are_those_of_the_command_line(
    toy, program, tmp_path
):
    graded = [{name: 1 / (i + 1) for i, name in enumerate(names)} for names in toy.labels]
    lines = [
        ",".join(f"{name}::{value!r}" for name, value in row.items()) + f"\t{text}\n"
        for row, text in zip(graded, toy.texts)
    ]
    (tmp_path / "graded.txt").write_text("".join(lines))
    program.run(
        *("fit", "--train", tmp_path / "graded.txt", "--dev", toy.test, "--seed", 5),
        *("--method", "ova", "--store", "bf16", "--ensemble", 2, "--out", tmp_path / "theirs"),
        *QUICK_OPTIONS,
    )
    elias.fit(
        *(toy.texts, graded),
        dev=(toy.test_texts, toy.test_labels),
        seed=np.int64(5),
        method="ova",
        store="bf16",
        ensemble=2,
        settings=QUICK,
        out=tmp_path / "ours",
    )
    assert content(tmp_path / "ours") == content(tmp_path / "theirs")


def test_labels_may_be_ids(toy, tmp_path):
    numbers = [[int(name.split()[1]) for name in names] for names in toy.labels]
    model = elias.fit(toy.texts, numbers, settings=QUICK, out=tmp_path / "ids")
    assert list(model.labels) == list(range(60))
    best = model.predict(toy.test_texts[:2], k=1)
    assert all(isinstance(label, int) for ((label, _),) in best)
    as_numpy = [np.array(row, dtype=np.uint16) for row in numbers]
    elias.fit(toy.texts, as_numpy, settings=QUICK, out=tmp_path / "ids")  # finds it finished
    assert 0 < model.evaluate(toy.texts, numbers)["P@1"] <= 1
    assert model.predict(["text"], k=60, candidates=[3, 7])[0][0][0] in (3, 7)
    assert 3 in model.labels and np.int64(3) in model.labels and "3" not in model.labels


def test_sets_of_labels_have_an_order(toy, tmp_path):
    rows = [sorted(names) for names in toy.labels]
    elias.fit(toy.texts, rows, settings=QUICK, out=tmp_path / "model")
    elias.fit(toy.texts, [set(row) for row in rows], settings=QUICK, out=tmp_path / "model")
    assert events(tmp_path / "model").count("start") == 1


def test_columns_of_a_matrix_may_have_names(toy):
    y = sp.csr_matrix(np.eye(4, dtype=int)[np.arange(40) % 4])
    texts = ["one", "two", "three", "four"] * 10
    names = ["d", "c", "b", "ä"]
    model = elias.fit(texts, y, label_names=names, settings={"width": 16})
    assert list(model.labels) == names
    assert model.evaluate(texts, [[names[i % 4]] for i in range(40)])["P@1"] == 1
    assert model.evaluate(texts, y)["P@1"] == 1
    for wrong, sentence in [
        (names[:3], "labels: the matrix has 4 columns, but there are 3 labels: give one for each"),
        (["a", "b", "a", "c"], "label_names[2]: the name 'a' stands there twice: rename one of the labels"),
        (["a\nb", "c", "d", "e"], "the name of label 0, 'a\\x0ab', holds a line end, and a model keeps one name a line: rename the label"),
    ]:
        with pytest.raises(elias.InputError) as refused:
            elias.fit(texts, y, label_names=wrong)
        assert str(refused.value) == sentence
    with pytest.raises(elias.InputError, match="label_names: is one text, not the names of labels"):
        elias.fit(texts, y, label_names="dcba")
    with pytest.raises(elias.InputError, match="label_names: are of a matrix of labels"):
        elias.fit(texts, [["a"]] * 40, label_names=names)


@pytest.mark.parametrize(
    "labels, sentence",
    [
        ([["a"], "b"], "labels[1]: is of type str, not a list of labels: give a list for each point"),
        ([["a"], np.array(7)], "labels[1]: is of type numpy.ndarray, not a list of labels: give a list for each point"),
        ([["a"], {"b", 7}], "labels[1]: label 7 is an id, but the labels before it are names: give names"),
        ([["a"], 7], "labels[1]: is of type int, not a list of labels: give a list for each point"),
        ([["a"], [""]], "labels[1]: a label is empty: remove it"),
        ([["a"], [None]], "labels[1]: a label is of type NoneType: give names (str) or ids (int)"),
        ([["a"], [7]], "labels[1]: label 7 is an id, but the labels before it are names: give names"),
        ([[7], ["a"]], "labels[1]: label 'a' is a name, but the labels before it are ids (0, 1, 2, ...): give ids"),
        ([[7], [-1]], "labels[1]: label id -1 is not one of the ids from 0 to 9999999: mend it"),
        ([[7], [10**30]], "labels[1]: label id 9223372036854775807 is not one of the ids from 0 to 9999999: mend it"),
        ([["a"], {"b": -1}], "labels[1]: the relevance of label 'b' is -1: give a number of 0 or above"),
        ([["a"], {"b": "x"}], "labels[1]: the relevance of label 'b' is 'x': give a number of 0 or above"),
        ([["a"], {"b": float("nan")}], "labels[1]: the relevance of label 'b' is nan: give a number of 0 or above"),
        ([["a"]], "labels: has 1 rows, but points has 2: give the labels of each point"),
        ("ab", "labels: is one text, not the labels of each point: give [[label], ...]"),
        ([[], []], "points: no point has a label: give points with labels"),
        ([["a"], ["a"]], "points: has one label alone: there is nothing to choose from: give points of two labels or more"),
    ],
)
def test_what_are_no_labels_is_refused(labels, sentence, tmp_path):
    with pytest.raises(elias.InputError) as refused:
        elias.fit(["one text", "another text"], labels, out=tmp_path / "model")
    assert str(refused.value) == sentence
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    "settings, options",
    [
        ({"widht": 7}, ["--set", "widht=7"]),
        ({"width": -1}, ["--set", "width=-1"]),
        ({"method": "svm"}, ["--set", "method=svm"]),
    ],
)
def test_settings_are_refused_as_by_the_command_line(toy, program, tmp_path, settings, options):
    wanted = program.refusal("fit", "--train", toy.train, "--out", tmp_path / "model", *options)
    with pytest.raises(elias.InputError) as refused:
        elias.fit(toy.texts, toy.labels, settings=settings)
    assert str(refused.value) == wanted.replace("--set", "settings", 1)


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ({"settings": {"width": object()}}, "settings: cannot be written as JSON"),
        ({"settings": {"alpha": float("inf")}}, "settings: cannot be written as JSON"),
        ({"settings": {"method": "\ud800"}}, "settings: cannot be written as JSON"),
        ({"checkpoint_minutes": -1}, "checkpoint_minutes -1: give a number from 0 to 1e6"),
        ({"store": 16}, "store '16': give 'float32'"),
        ({"store": "float16"}, "store 'float16': give 'float32', or 'bf16' for half of it"),
        ({"threads": 2000}, "threads 2000: give a number from 0"),
        ({"out": ""}, "--out is empty: give the name of a folder"),
        ({"out": "model\0"}, "'model\\x00': holds a NUL, as no path does"),
        ({"encoder": "no/such/folder"}, "no/such/folder"),
        ({"dev": (sp.csr_matrix((1, 3)), [["label 1"]])}, "dev points: holds features, but points holds texts"),
        ({"dev": (["text"], [["label 1"]] * 2)}, "dev labels: has 2 rows, but dev points has 1"),
        ({"dev": (["text"], None)}, "dev labels: is of type NoneType"),
        ({"dev": (None, [["label 1"]])}, "dev points: is of type NoneType"),
        ({"dev": ["text"]}, "dev: give held-out points and their labels, (points, labels)"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(toy, arguments, sentence):
    with pytest.raises(elias.InputError) as refused:
        elias.fit(toy.texts, toy.labels, **arguments)
    assert sentence in str(refused.value)


def test_progress_is_told(toy):
    told = []
    elias.fit(toy.texts, toy.labels, settings=QUICK, progress=told.append)
    stages = list(dict.fromkeys(progress.stage for progress in told))
    assert stages == ["stage 1", "stage 2", "ranker"]
    epochs = [progress for progress in told if progress.figures]
    assert epochs and all(0 <= one.figures["P@1"] <= 1 for one in epochs)
    last = [progress for progress in told if progress.stage == "stage 2"][-1]
    assert (last.epoch, last.epochs, last.points) == (2, 2, 1800)
    assert last.point == last.points and last.loss > 0 and last.share == 1


def test_a_number_may_be_of_any_type(tmp_path):
    class Half:
        """It empties the dict that it is in when it is asked for its value."""

        def __init__(self, row):
            self.row = row

        def __float__(self):
            self.row.clear()
            return 0.5

    rows = [{} for _ in range(20)]
    for i, row in enumerate(rows):
        row["".join(["label ", str(i % 2)])] = Half(row)
    model = elias.fit(["one", "two"] * 10, rows, settings={"width": 16})
    assert list(model.labels) == ["label 0", "label 1"]


class Stop(Exception):
    pass


def stop_at(stage, epoch):
    def progress(progress):
        if (progress.stage, progress.epoch) == (stage, epoch):
            raise Stop("enough")

    return progress


@pytest.mark.parametrize("stage, epoch", [("stage 1", 1), ("stage 2", 2), ("ranker", 0)])
def test_what_a_callback_raises_ends_the_run_which_goes_on_later(
    folder, toy, tmp_path, stage, epoch
):
    out = tmp_path / "model"
    with pytest.raises(Stop, match="enough"):
        elias.fit(toy.texts, toy.labels, out=out, settings=QUICK, progress=stop_at(stage, epoch))
    assert (out / "run" / "checkpoint.safetensors").exists() and not (out / "config.json").exists()
    model = elias.fit(toy.texts, toy.labels, out=out, settings=QUICK)
    assert events(out).count("resume") == 1
    assert content(out) == content(folder)
    assert model.predict(toy.test_texts) == elias.load(folder).predict(toy.test_texts)


def test_ctrl_c_saves_a_checkpoint_and_the_same_call_goes_on(toy, tmp_path):
    out = tmp_path / "model"
    settings = {**QUICK, "stage1_epochs": 60}
    training = threading.Event()

    def interrupt():
        training.wait()
        os.kill(os.getpid(), signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        elias.fit(
            toy.texts, toy.labels, out=out, settings=settings, progress=lambda _: training.set()
        )
    interrupter.join()
    assert (out / "run" / "checkpoint.safetensors").exists() and not (out / "config.json").exists()
    elias.fit(toy.texts, toy.labels, out=out, settings=settings)
    assert events(out).count("resume") == 1
    elias.fit(toy.texts, toy.labels, out=tmp_path / "unbroken", settings=settings)
    assert content(out) == content(tmp_path / "unbroken")


def test_what_is_trained_without_a_place_leaves_nothing(toy, monkeypatch, tmp_path, recwarn):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    model = elias.fit(toy.texts, toy.labels, settings=QUICK)
    assert os.listdir(tmp_path) == [os.path.basename(model.folder)]
    del model
    assert os.listdir(tmp_path) == []
    with pytest.raises(Stop):
        elias.fit(toy.texts, toy.labels, settings=QUICK, progress=stop_at("stage 1", 1))
    assert os.listdir(tmp_path) == []
    assert not recwarn.list  # Python warns of temporary folders that nobody has removed


def test_a_run_may_be_started_anew(toy, tmp_path):
    out = tmp_path / "model"
    elias.fit(toy.texts, toy.labels, out=out, settings=QUICK)
    elias.fit(toy.texts, toy.labels, out=out, settings={**QUICK, "width": 16}, overwrite=True)
    assert elias.load(out).inspect()["width"] == 16


def test_another_run_in_the_folder_is_told(toy, program, tmp_path):
    out = tmp_path / "model"
    refusals = []

    def intrude(_):
        if not refusals:
            refusals.append(program.refusal("fit", "--train", toy.train, "--out", out))

    elias.fit(toy.texts, toy.labels, out=out, settings=QUICK, progress=intrude)
    assert "another elias is at work there" in refusals[0]
