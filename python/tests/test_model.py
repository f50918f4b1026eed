"""A model as an object: opened, kept, copied, given back."""

import copy
import gc
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys

import pytest

import elias


def test_labels_are_a_sequence(model):
    labels = model.labels
    names = list(labels)
    assert len(labels) == len(set(names)) == 60
    assert (labels[0], labels[-1], labels[2:5]) == (names[0], names[-1], names[2:5])
    assert all(labels.index(name) == i for i, name in enumerate(names))
    assert names[3] in labels and "nosuch" not in labels and 3 not in labels and None not in labels
    assert "half \ud800" not in labels
    with pytest.raises(IndexError):
        labels[60]
    with pytest.raises(ValueError, match="'nosuch' is not a label of the model"):
        labels.index("nosuch")
    assert repr(labels).startswith("<60 labels: 'label ")


def test_it_says_what_it_is(model, folder):
    assert repr(model) == f"<elias.Model {str(folder)!r}: elias, 60 labels, 2,000 points of texts>"


def test_a_copy_is_whole_wherever_it_comes_from(model, toy, tmp_path):
    wanted = model.predict(toy.test_texts)
    model.save(tmp_path / "new" / "model")
    assert sorted(os.listdir(tmp_path / "new")) == ["model"]
    for other in (
        elias.load(tmp_path / "new" / "model"),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ):
        assert other.folder != model.folder
        assert other.predict(toy.test_texts) == wanted
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(model))))
    place = again.folder
    assert again.predict(toy.test_texts) == wanted
    del again
    gc.collect()
    assert not os.path.exists(place)


def test_a_pickle_needs_no_folder_any_more(model, toy, tmp_path):
    model.save(tmp_path / "model")
    pickled = pickle.dumps(elias.load(tmp_path / "model", threads=2))
    shutil.rmtree(tmp_path / "model")
    (tmp_path / "pickle").write_bytes(pickled)
    program = (
        "import pickle, sys; model = pickle.load(open(sys.argv[1], 'rb'));"
        "print(model.predict(sys.argv[2:]), end='')"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "pickle"), *toy.test_texts[:3]]
    printed = subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout
    assert printed == repr(model.predict(toy.test_texts[:3]))


def test_a_folder_is_found_again_from_elsewhere(model, tmp_path, monkeypatch):
    model.save(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    near = elias.load(b"model")
    monkeypatch.chdir("/")
    assert near.folder == "model"
    near.save(tmp_path / "copy")
    for copied in (pickle.loads(pickle.dumps(near)), elias.load(tmp_path / "copy")):
        assert copied.predict(["text"]) == model.predict(["text"])


def test_a_copy_replaces_nothing(model, tmp_path):
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path, tmp_path / "file"):
        with pytest.raises(elias.InputError, match="is there already: give another folder"):
            model.save(place)
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("damage", ["missing", "no config", "changed", "cut"])
def test_damage_is_refused_as_by_the_command_line(model, program, tmp_path, damage):
    place = tmp_path / "model"
    if damage != "missing":
        model.save(place)
    file = place / "classifiers.safetensors"
    if damage == "no config":
        (place / "config.json").unlink()
    elif damage == "changed":
        content = bytearray(file.read_bytes())
        content[-1] ^= 1
        file.write_bytes(content)
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:-100])
    wanted = program.refusal("inspect", place)
    with pytest.raises(elias.InputError) as refused:
        elias.load(place)
    assert str(refused.value) == wanted
    assert isinstance(refused.value, ValueError)


def test_a_folder_may_have_any_name(model, tmp_path):
    place = tmp_path / os.fsdecode(b"model \xff \xc3\xa4")
    model.save(place)
    assert elias.load(place).predict(["text"]) == model.predict(["text"])
    with pytest.raises(elias.InputError, match=re.escape("no\\xff: there is no such folder")):
        elias.load(os.fsdecode(b"no\xff"))


def test_an_exact_index_is_for_models_with_a_graph(folder, program, tmp_path):
    with pytest.raises(elias.InputError, match="finds labels by clusters, .* cannot be 'exact'"):
        elias.load(folder, index="exact")
    with pytest.raises(elias.InputError, match="index 'best': give 'own' or 'exact'"):
        elias.load(folder, index="best")
    # So poor a graph that what is found by it is another label.
    settings = {"width": 16, "index": "hnsw", "stage1_epochs": 1, "ranker": "off"}
    poor = {"ef": 1, "neighbours": 2, "ef_construction": 2}
    texts = [f"{i % 50} {i % 60}" for i in range(3000)]
    labels = [[f"label {i}"] for i in range(3000)]
    near = elias.fit(
        texts, labels, method="glas", settings={**settings, **poor}, out=tmp_path / "model"
    )
    exact = elias.load(near.folder, index="exact")
    assert near.predict(texts[:50], 1) != exact.predict(texts[:50], 1)
    for index, model in [("own", near), ("exact", exact)]:
        printed = program.run(
            *("predict", "--model", near.folder, "--input", "-", "--k", 1, "--index", index),
            text="".join(text + "\n" for text in texts[:50]),
        )
        best = [name for ((name, _),) in model.predict(texts[:50], 1)]
        assert [line.rsplit("::", 1)[0] for line in printed.splitlines()] == best


def resident():
    """Bytes of memory that the process has."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_models_that_are_gone_leave_no_memory(folder, toy):
    def use():
        model = elias.load(folder)
        model.predict(toy.test_texts[:50])
        model.predict_proba(toy.test_texts[:50])
        model.embed(toy.test_texts[:50])

    for _ in range(20):
        use()
    gc.collect()
    before = resident()
    for _ in range(200):
        use()
    gc.collect()
    # A model that stayed would be 300 KB of it each time: 60 MB.
    assert resident() - before < 10e6
