"""What the documents show is what happens: docstrings, docs/python.md, and the names of the stub."""

import ast
import doctest
import importlib
import inspect
import pathlib

import pytest
from conftest import ROOT

import elias

MODULES = ["elias", "elias._data", "elias._model", "elias._fit", "elias._classifier"]


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What examples take for granted."""
    texts = ["green tea", "black tea", "green paint", "black paint"] * 10
    labels = [["drink", "green"], ["drink", "black"], ["wall", "green"], ["wall", "black"]] * 10
    return {"elias": elias, "model": elias.fit(texts, labels), "texts": texts, "labels": labels}


@pytest.mark.parametrize("module", MODULES)
def test_docstrings(module, names):
    result = doctest.testmod(
        importlib.import_module(module), extraglobs=names, optionflags=doctest.ELLIPSIS
    )
    assert result.failed == 0
    assert result.attempted > 0 or module == "elias._data"


def test_all_that_is_public_has_a_docstring():
    for name in elias.__all__:
        thing = getattr(elias, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(thing), name
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not member.startswith("_") and callable(value):
                assert inspect.getdoc(value), f"{name}.{member}"


def test_the_stub_is_of_the_native_module():
    native = importlib.import_module("elias._native")
    stub = ast.parse((pathlib.Path(elias.__file__).parent / "_native.pyi").read_text())
    defined = (ast.ClassDef, ast.FunctionDef)
    named = {node.name for node in stub.body if isinstance(node, defined)}
    assert named | {"version"} == {name for name in dir(native) if not name.startswith("_")}
    (model,) = (node for node in stub.body if isinstance(node, defined) and node.name == "Model")
    members = {node.name for node in model.body if isinstance(node, defined)} - {"__init__"}
    assert members == {name for name in dir(native.Model) if not name.startswith("_")}


def test_the_version_is_the_one_of_the_project():
    assert f"project(elias VERSION {elias.__version__} " in (ROOT / "CMakeLists.txt").read_text()


def test_the_guide(names):
    result = doctest.testfile(
        str(ROOT / "docs" / "python.md"), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert result.failed == 0 and result.attempted > 20
