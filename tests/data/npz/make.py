"""Writes the npz files of npz_test.cc with scipy: one matrix in many guises, and damaged ones."""
import pathlib

import numpy as np
import scipy.sparse as sp

here = pathlib.Path(__file__).parent
rows = np.array([[1, 0, 0, 1, 0], [0, 0, 0, 0, 0], [0, 1, 1, 0, 1], [0, 0, 0, 0, 1]])
good = sp.csr_matrix(rows.astype(np.float32))


def save(name, matrix, compressed=True):
    sp.save_npz(here / f"{name}.npz", matrix, compressed=compressed)


save("deflated", good)
save("stored", good, compressed=False)
save("bool", sp.csr_matrix(rows.astype(bool)))
save("int8", sp.csr_matrix(rows.astype(np.int8)))
save("array", sp.csr_array(rows.astype(np.float32)))
save("csc", good.tocsc())
np.savez_compressed(here / "dense.npz", rows)


def save_parts(name, **changes):
    parts = dict(indices=good.indices, indptr=good.indptr, format=b"csr",
                 shape=np.array(good.shape), data=good.data)
    parts.update(changes)
    np.savez_compressed(here / f"{name}.npz", **parts)


save_parts("float64_int64", data=good.data.astype(np.float64),
           indices=good.indices.astype(np.int64), indptr=good.indptr.astype(np.int64))
save_parts("unsorted", indices=np.array([3, 0, 4, 2, 1, 4], dtype=np.int32))
save_parts("nan", data=np.array([1, 1, np.nan, 1, 1, 1], dtype=np.float32))
save_parts("beyond", indices=np.array([0, 7, 1, 2, 4, 4], dtype=np.int32))
save_parts("negative", indices=np.array([0, -1, 1, 2, 4, 4], dtype=np.int32))
save_parts("offsets", indptr=np.array([0, 2, 1, 5, 6], dtype=np.int32))
save_parts("big_endian", data=good.data.astype(">f4"))
