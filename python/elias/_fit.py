"""Training, from points in memory to a model."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import operator
import os
import tempfile
from typing import Any, Callable, Dict, Iterable, Literal, Mapping, Optional, Tuple

from elias import _native
from elias._data import LabelsOfPoints, Path, Points, native_labels, native_path, native_points
from elias._model import Model
from elias._native import InputError


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a run is. `fit` hands it to its callback several times a second, and whenever a stage
    begins or an epoch ends."""

    stage: str
    """``"stage 1"``, ``"stage 2"``, ..., ``"ranker"``."""
    epoch: int
    """Of the stage, from 1; 0 where there are none."""
    epochs: int
    point: int
    """Of the epoch."""
    points: int
    loss: float
    """A point of the epoch so far."""
    share: float
    """Of the run's work that is done, roughly, from 0 to 1; of the ranker's for the ranker."""
    figures: Dict[str, float]
    """At the end of an epoch those of held-out points, ``{"P@1": 0.78, ...}``; else empty."""


def fit(
    points: Points,
    labels: LabelsOfPoints,
    *,
    out: Optional[Path] = None,
    dev: Optional[Tuple[Points, LabelsOfPoints]] = None,
    label_names: Optional[Iterable[str]] = None,
    method: Optional[Literal["elias", "ova", "glas"]] = None,
    encoder: Optional[Path] = None,
    seed: Optional[int] = None,
    ensemble: Optional[int] = None,
    settings: Optional[Mapping[str, Any]] = None,
    store: Literal["float32", "bf16"] = "float32",
    threads: int = 0,
    progress: Optional[Callable[[Progress], object]] = None,
    checkpoint_minutes: float = 5,
    overwrite: bool = False,
) -> Model:
    """Learn a model from labelled points, as ``elias fit`` does: to the byte the same.

    points: texts, or the rows of a sparse matrix or an array.
    labels: for each point a list of names (str) or ids (int), or a dict of them with their
        relevances; or a matrix with a column a label.
    out: the folder of the run, and of the model in the end. A run there that was stopped goes on
        if it is given the same points and settings, and a finished one is not done again. If it
        is not given, the model lives as long as the object that is returned: see `Model.save`.
    dev: held-out points and their labels, to choose by; if not given, some of `points`.
    label_names: the names of a matrix's columns; if not given, labels are ids.
    method: ``"elias"`` searches, then ranks; ``"ova"`` ranks all labels; ``"glas"`` finds the
        nearest. If not given, elias.
    encoder: the folder of a transformer in the place of a bag of words, or
        ``"new:layers=4,width=256,heads=4"``.
    seed, ensemble: of all random choices, 0 if not given; how many models are used as one, 1.
    settings: any other by name, docs/training.md lists them: ``{"width": 1024, "beam": 40}``.
    store: label classifiers as float32, or half of it as bf16.
    threads: those to work on; 0 is all of the machine's. The model is the same at any number.
    progress: called with a `Progress`. What it raises ends the run as Ctrl-C does.
    checkpoint_minutes: from one checkpoint to the next.
    overwrite: start anew where `out` holds another run, or a finished one.

    Ctrl-C saves a checkpoint in `out`, then raises KeyboardInterrupt: the same call goes on. Raises
    InputError if points, labels or settings are not as they must be.

    >>> texts = ["green tea", "black tea", "green paint", "black paint"] * 10
    >>> labels = [[0, 2], [0, 3], [1, 2], [1, 3]] * 10
    >>> model = elias.fit(texts, labels, seed=7, settings={"width": 32})
    >>> model.evaluate(texts, labels)["P@1"]
    1.0
    >>> elias.fit(texts, labels, settings={"widht": 32})
    Traceback (most recent call last):
        ...
    elias.InputError: settings: there is no setting 'widht': ...
    """
    given = dict(settings or {})
    named = {"method": method, "encoder": encoder, "seed": seed, "ensemble": ensemble}
    given.update((name, value) for name, value in named.items() if value is not None)
    if not 0 <= checkpoint_minutes <= 1e6:
        raise InputError(f"checkpoint_minutes {checkpoint_minutes}: give a number from 0 to 1e6")
    native = native_labels(labels)
    if label_names is not None and isinstance(native, list):
        raise InputError("label_names: are of a matrix of labels: leave them out beside a list")
    if isinstance(label_names, (str, bytes)):
        raise InputError("label_names: is one text, not the names of labels: give [name, ...]")
    with contextlib.ExitStack() as undone:  # what is not learned leaves no folder
        temporary = None
        if out is None:
            temporary = tempfile.TemporaryDirectory(prefix="elias-")
            undone.callback(temporary.cleanup)
            out = temporary.name
        _native.fit(
            native_points(points),
            native,
            *_native_dev(dev),
            None if label_names is None else list(label_names),
            _settings_text(given),
            native_path(out),
            bool(overwrite),
            str(store),
            float(checkpoint_minutes),
            operator.index(threads),
            lambda *values: None if progress is None else progress(Progress(*values)),
        )
        model = Model(out, threads=threads, temporary=temporary)
        undone.pop_all()
    return model


def _native_dev(dev: Optional[Tuple[Points, LabelsOfPoints]]) -> Tuple[Any, Any]:
    if dev is None:
        return None, None
    if not isinstance(dev, (tuple, list)) or len(dev) != 2:
        raise InputError("dev: give held-out points and their labels, (points, labels)")
    return native_points(dev[0], "dev points"), native_labels(dev[1], "dev labels")


def _settings_text(settings: Mapping[str, Any]) -> bytes:
    def other(value: Any) -> Any:
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        return value.item()  # a number of numpy's

    try:
        text = json.dumps(settings, default=other, allow_nan=False, ensure_ascii=False)
        return text.encode()
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(f"settings: cannot be written as JSON ({error}): give numbers and texts")
