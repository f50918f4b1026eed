"""Points and labels as users have them, as the native module takes them.

It takes lists, and scipy's matrices in the format CSR with values of float32 or float64. Those are
handed over as they are; what else can be meant becomes one of them.
"""

from __future__ import annotations

import os
from typing import Any, Iterable, List, Mapping, Optional, Union

import numpy as np
import scipy.sparse as sp

from elias._native import InputError

Label = Union[str, int]
Points = Union[Iterable[str], sp.spmatrix, "np.ndarray[Any, Any]"]
LabelsOfPoints = Union[
    Iterable[Union[Iterable[Label], Mapping[Label, float]]], sp.spmatrix, "np.ndarray[Any, Any]"
]
Path = Union[str, "os.PathLike[str]"]


def native_points(points: Points, name: str = "points") -> Union[List[str], sp.csr_matrix]:
    """Texts as a list, anything with two dimensions as a CSR matrix."""
    if isinstance(points, (str, bytes)):
        raise InputError(f"{name}: is one text, not a list of texts: give [text]")
    matrix = _matrix(points, name)
    return _list(points, name, "texts") if matrix is None else matrix


def native_labels(labels: LabelsOfPoints, name: str = "labels") -> Union[List[Any], sp.csr_matrix]:
    """A list with an entry a point, or a CSR matrix with a column a label."""
    if isinstance(labels, np.ndarray) and labels.ndim == 2 and labels.dtype.kind in "OUS":
        return list(labels.tolist())
    if isinstance(labels, (str, bytes)):
        raise InputError(f"{name}: is one text, not the labels of each point: give [[label], ...]")
    matrix = _matrix(labels, name)
    return _list(labels, name, "labels of each point") if matrix is None else matrix


def native_path(path: Path) -> bytes:
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise InputError(f"{os.fsdecode(path)!r}: holds a NUL, as no path does: give the folder")
    return encoded


def native_names(names: Iterable[Label], name: str) -> List[bytes]:
    """Names, or ids as they are written. A name that is not Unicode is none of a model's."""
    if isinstance(names, (str, bytes)):
        raise InputError(f"{name}: is one label, not a list of labels: give [label]")
    return [str(one).encode("utf-8", "backslashreplace") for one in names]


def _list(values: Iterable[Any], name: str, what: str) -> List[Any]:
    try:
        return list(values)
    except TypeError:
        kind = type(values).__name__
        raise InputError(
            f"{name}: is of type {kind}: give a list of {what}, or a sparse matrix"
        ) from None


def _matrix(values: Any, name: str) -> Optional[sp.csr_matrix]:
    """Nothing if it has not two dimensions."""
    if not sp.issparse(values):
        if getattr(values, "ndim", 1) != 2:
            return None
        values = np.asarray(values)
    if values.dtype.kind not in "buif":
        raise InputError(
            f"{name}: a matrix of {values.dtype} holds no numbers: give a list, or numbers"
        )
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float32)
    return values if sp.issparse(values) and values.format == "csr" else sp.csr_matrix(values)
