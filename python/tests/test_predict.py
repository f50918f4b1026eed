"""Predictions: those of the command line, to the bit, whatever way they are asked for."""

import json
import multiprocessing
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

import elias


def read_tsv(text):
    pairs = [line.split(",") if line else [] for line in text.splitlines()]
    split = [[pair.rsplit("::", 1) for pair in line] for line in pairs]
    return [[(label, np.float32(score)) for label, score in line] for line in split]


def in_float32(predicted):
    return [[(label, np.float32(score)) for label, score in best] for best in predicted]


@pytest.mark.parametrize(
    "arguments, options",
    [
        ({}, []),
        ({"k": 1}, ["--k", 1]),
        ({"k": 1000}, ["--k", 1000]),
        ({"threshold": 0.1}, ["--threshold", 0.1]),
        ({"k": 2, "threshold": 0.1}, ["--k", 2, "--threshold", 0.1]),
    ],
)
def test_lists_are_those_of_the_command_line(model, folder, toy, program, arguments, options):
    printed = program.run("predict", "--model", folder, "--input", toy.lines, *options)
    predicted = model.predict(toy.test_texts, **arguments)
    assert in_float32(predicted) == read_tsv(printed)
    assert any(len(best) > 1 for best in predicted) or arguments == {"k": 1}


def test_matrix_is_that_of_the_command_line(model, folder, toy, program, tmp_path):
    program.run(
        *("predict", "--model", folder, "--input", toy.lines, "--k", 7, "--format", "npz"),
        *("--out", tmp_path / "scores.npz"),
    )
    wanted = sp.load_npz(tmp_path / "scores.npz")
    for found in (model.predict(toy.test_texts, 7, format="csr"), model.predict_proba(toy.test_texts, 7)):
        assert found.dtype == np.float32 and found.shape == wanted.shape
        assert (found != wanted).nnz == 0 and found.nnz == wanted.nnz


def test_candidates_are_those_of_the_command_line(model, folder, toy, program, tmp_path):
    candidates = [str(label) for label in model.labels[5:20]]
    (tmp_path / "candidates.txt").write_text("\n".join(candidates), encoding="utf-8")
    printed = program.run(
        *("predict", "--model", folder, "--input", toy.lines, "--k", 3),
        *("--candidates", tmp_path / "candidates.txt"),
    )
    predicted = model.predict(toy.test_texts, 3, candidates=candidates)
    assert in_float32(predicted) == read_tsv(printed)
    assert {label for best in predicted for label, _ in best} <= set(candidates)


def test_a_threshold_that_was_chosen_is_used(folder, toy, program, tmp_path):
    model = elias.load(folder)
    with pytest.raises(elias.InputError, match="threshold 'auto': .* has no thresholds"):
        model.predict(["x"], threshold="auto")
    model.save(tmp_path / "model")
    program.run("threshold", "--model", tmp_path / "model", "--data", toy.test)
    printed = program.run(
        *("predict", "--model", tmp_path / "model", "--input", toy.lines, "--threshold", "auto")
    )
    predicted = elias.load(tmp_path / "model").predict(toy.test_texts, threshold="auto")
    assert in_float32(predicted) == read_tsv(printed)
    assert len({len(best) for best in predicted}) > 1


def test_the_bits_are_the_same_at_any_number_of_threads(folder, toy):
    wanted = elias.load(folder, threads=1).predict(toy.test_texts, 20)
    for threads in (2, 3, 7):
        assert elias.load(folder, threads=threads).predict(toy.test_texts, 20) == wanted


def test_a_point_alone_is_predicted_as_among_others(model, toy):
    assert [model.predict([text])[0] for text in toy.test_texts[:20]] == model.predict(
        toy.test_texts[:20]
    )


def test_batches_leave_no_seam(model, toy):
    # More than go through the engine at a time.
    texts = (toy.test_texts * 90)[:17_000]
    short = model.predict_proba(toy.test_texts, 3)
    many = model.predict_proba(texts, 3)
    assert many.shape == (17_000, len(model.labels))
    assert (many[-200:] != sp.vstack([short[i % 200] for i in range(16_800, 17_000)])).nnz == 0
    vectors = model.embed(texts)
    assert np.array_equal(vectors[16_300:16_500], model.embed(texts[16_300:16_500]))


def test_nothing_is_answered_by_nothing(model):
    assert model.predict([]) == []
    assert model.predict_proba([]).shape == (0, 60)
    assert model.embed([]).shape == (0, 32)
    assert model.explain([]) == []


def test_more_labels_than_there_are_give_what_there_is(model, toy):
    best = model.predict(toy.test_texts[:3], k=1_000_000)
    assert all(len(labels) == 60 for labels in best)
    scores = [score for _, score in best[0]]
    assert scores == sorted(scores, reverse=True)


def test_a_shortlist_that_is_shorter_is_said(toy):
    model = elias.fit(
        toy.texts, toy.labels, settings={"width": 16, "shortlist": 10, "clusters": 8, "stage1_epochs": 1}
    )
    with pytest.warns(UserWarning, match="k 11: the model finds at most 10 labels"):
        assert len(model.predict(["some words"], k=11)[0]) <= 10


def test_texts_of_any_script_and_iterables_of_any_kind(model):
    texts = ["tea", "Grüner Tee", "緑茶", "ᚠᛇᚻ 🫖", "line\nend\ttab", ""]
    wanted = model.predict(texts)
    assert len(wanted) == 6
    assert model.predict(iter(texts)) == wanted
    assert model.predict(tuple(texts)) == wanted
    assert model.predict(np.array(texts, dtype=object)) == wanted
    assert model.predict(np.array(texts)) == wanted


def test_names_of_any_script_come_back():
    texts = ["eins zwei", "drei vier"] * 20
    labels = [["grün, gelb", "緑茶"], ["🫖\u00a0tea"]] * 20
    model = elias.fit(texts, labels, settings={"width": 16})
    assert list(model.labels) == ["grün, gelb", "緑茶", "🫖\u00a0tea"]
    assert {label for label, _ in model.predict(["eins zwei"], 2)[0]} == {"grün, gelb", "緑茶"}


@pytest.mark.parametrize(
    "points, sentence",
    [
        ("a text", "points: is one text, not a list of texts: give [text]"),
        (5, "points: is of type int: give a list of texts, or a sparse matrix"),
        (["a", 5.0], "points[1]: is of type float, not a text: give a str"),
        ([b"bytes"], "points[0]: is of type bytes, not a text: give a str"),
        (
            ["good", "\ud800"],
            "points[1]: holds half of a character (a lone surrogate): decode it anew",
        ),
        (
            sp.csr_matrix((2, 5)),
            "points: holds features, but the model takes texts: give points as those that it was "
            "trained on",
        ),
        (np.array([["a", "b"]]), "points: a matrix of <U1 holds no numbers: give a list, or numbers"),
    ],
)
def test_what_is_no_text_is_refused(model, points, sentence):
    with pytest.raises(elias.InputError) as refused:
        model.predict(points)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ({"k": 0}, "k 0: give a number from 1 to 1,000,000"),
        ({"threshold": 1.5}, "threshold 1.5: scores are probabilities: give a number from 0 to 1"),
        ({"threshold": "high"}, "threshold 'high': is not a number: give a score, or 'auto'"),
        ({"candidates": []}, "candidates: is empty: give the labels that may be predicted"),
        ({"candidates": "label"}, "candidates: is one label, not a list of labels: give [label]"),
        ({"format": "tsv"}, "format 'tsv': give 'names' or 'csr'"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(model, arguments, sentence):
    with pytest.raises(elias.InputError) as refused:
        model.predict(["text"], **arguments)
    assert str(refused.value) == sentence


def test_a_label_that_there_is_not_is_refused_as_by_the_command_line(model, folder, program):
    wanted = program.refusal(
        "explain", "--model", folder, "--input", "-", "--label", "nosuch", text="text\n"
    )
    for ask in (
        lambda: model.predict(["text"], candidates=["nosuch"]),
        lambda: model.explain(["text"], labels=["nosuch"]),
        lambda: model.inspect("nosuch"),
    ):
        with pytest.raises(elias.InputError) as refused:
            ask()
        assert str(refused.value) == wanted


def test_vectors_are_those_of_the_command_line(model, folder, toy, program, tmp_path):
    program.run("embed", "--model", folder, "--input", toy.lines, "--out", tmp_path / "x.npy")
    vectors = model.embed(toy.test_texts)
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, np.load(tmp_path / "x.npy"))
    with pytest.raises(elias.InputError, match="member 2: the model has 1 member"):
        model.embed(["text"], member=2)


@pytest.mark.parametrize(
    "arguments, options",
    [({}, []), ({"threshold": 0.2}, ["--threshold", 0.2]), ({"propensity": "amazon"}, ["--propensity", "amazon"])],
)
def test_figures_are_those_of_the_command_line(model, folder, toy, program, arguments, options):
    printed = program.run("evaluate", "--model", folder, "--test", toy.test, "--json", *options)
    wanted = json.loads(printed)["files"][0]["metrics"]
    assert model.evaluate(toy.test_texts, toy.test_labels, **arguments) == wanted
    matrix = sp.lil_matrix((len(toy.test_texts), 60), dtype=int)
    for row, names in enumerate(toy.test_labels):
        matrix[row, [model.labels.index(name) for name in names]] = 1
    assert model.evaluate(toy.test_texts, matrix, **arguments) == wanted


def test_labels_that_the_model_does_not_know_count_as_not_found(model, toy):
    figures = model.evaluate(toy.test_texts, [names + ["new"] for names in toy.test_labels])
    assert 0 < figures["R@100"] < 1
    with pytest.raises(elias.InputError, match="labels: the model knows none of them, 'new' is"):
        model.evaluate(["text"], [["new"]])
    with pytest.raises(elias.InputError, match=r"labels\[0\]: label 7 is an id, but the labels of the"):
        model.evaluate(["text"], [[7]])
    with pytest.raises(elias.InputError, match="labels: has 2 rows, but points has 1: give"):
        model.evaluate(["text"], [["new"], ["new"]])
    with pytest.raises(elias.InputError, match="labels: the matrix has 59 columns, but there are 60"):
        model.evaluate(["text"], sp.csr_matrix((1, 59)))


def without(json_object, *names):
    return {name: value for name, value in json_object.items() if name not in names}


def test_explanations_are_those_of_the_command_line(model, folder, toy, program):
    printed = program.run("explain", "--model", folder, "--input", toy.lines, "--k", 3, "--json")
    wanted = [without(json.loads(line), "line", "true_labels") for line in printed.splitlines()]
    for point in wanted:
        point["labels"] = [without(label, "true") for label in point["labels"]]
    assert model.explain(toy.test_texts, k=3) == wanted
    label = str(model.labels[9])
    assert model.explain(toy.test_texts[:1], labels=[label])[0]["labels"][0]["label"] == label
    assert model.explain(toy.test_texts[:1], words=0)[0]["labels"][0]["ranker"]["words"] == []


def test_inspections_are_those_of_the_command_line(model, folder, program):
    assert model.inspect() == json.loads(program.run("inspect", folder, "--json"))
    label = str(model.labels[3])
    printed = program.run("inspect", folder, "--json", "--label", label)
    assert model.inspect(label) == json.loads(printed)


def test_other_threads_run_during_a_prediction(folder, toy):
    model = elias.load(folder, threads=1)
    texts = toy.test_texts * 80  # of one batch: the interpreter is not asked in between
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.0005):
            ticks.append(time.monotonic())

    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        most = 0
        for _ in range(20):  # more than once only where the machine is very busy
            start = time.monotonic()
            model._native.predict_arrays(texts, 5, None, None)
            end = time.monotonic()
            most = max(most, sum(start < at < end for at in ticks))
            if most >= 10:
                break
    finally:
        done.set()
        ticker.join()
    # With the interpreter held they could be one or two, at the beginning and at the end.
    assert most >= 10


def test_many_threads_may_share_a_model(model, toy):
    wanted = model.predict(toy.test_texts)
    found = [None] * 8

    def ask(i):
        found[i] = model.predict(toy.test_texts)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one == wanted for one in found)


def _predict_in_child(model, texts, queue):
    queue.put(model.predict(texts))


def test_a_forked_process_predicts_as_its_parent(model, toy):
    wanted = model.predict(toy.test_texts)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_predict_in_child, args=(model, toy.test_texts, queue))
    child.start()
    try:
        assert queue.get(timeout=60) == wanted
    finally:
        child.kill()
        child.join()
