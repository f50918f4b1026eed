#!/usr/bin/python3
"""The best labels of texts, from a language that calls C: Python's ctypes, with no package at all.

    ctypes_predict.py MODEL 'a text' 'another'

LD_LIBRARY_PATH says where libelias.so.0 is, if it is not installed in /usr or /usr/local.
"""
import ctypes
import os
import sys
from ctypes import (POINTER, c_char_p, c_double, c_float, c_int, c_size_t, c_uint32, c_uint64,
                    c_void_p)


class PredictOptions(ctypes.Structure):
    """elias_predict_options, as far as it is needed: the size tells the library how far."""

    _fields_ = [("size", c_size_t), ("k", c_size_t), ("threshold", c_double)]


def open_library():
    library = ctypes.CDLL("libelias.so.0")
    declare(library.elias_last_error, c_char_p)
    declare(library.elias_load, c_int, c_char_p, c_void_p, POINTER(c_void_p))
    declare(library.elias_free, None, c_void_p)
    declare(library.elias_label_name, c_char_p, c_void_p, c_uint32, c_void_p)
    declare(library.elias_predict, c_int, c_void_p, POINTER(c_char_p), POINTER(c_size_t), c_size_t,
            POINTER(PredictOptions), POINTER(c_void_p))
    declare(library.elias_predictions_offsets, POINTER(c_uint64), c_void_p)
    declare(library.elias_predictions_labels, POINTER(c_uint32), c_void_p)
    declare(library.elias_predictions_scores, POINTER(c_float), c_void_p)
    declare(library.elias_predictions_free, None, c_void_p)
    return library


def declare(function, result, *arguments):
    function.restype = result
    function.argtypes = arguments


class Model:
    def __init__(self, library, folder):
        self.library = library
        self.handle = c_void_p()
        self.check(library.elias_load(os.fsencode(folder), None, ctypes.byref(self.handle)))

    def __del__(self):
        self.library.elias_free(self.handle)

    def predict(self, texts, k):
        """For each text a list of (name, score), best first."""
        n = len(texts)
        encoded = [text.encode() for text in texts]
        lengths = (c_size_t * n)(*map(len, encoded))
        options = PredictOptions(ctypes.sizeof(PredictOptions), k, 0)
        found = c_void_p()
        self.check(self.library.elias_predict(self.handle, (c_char_p * n)(*encoded), lengths, n,
                                              ctypes.byref(options), ctypes.byref(found)))
        try:
            return [self.row(found, i) for i in range(n)]
        finally:
            self.library.elias_predictions_free(found)

    def row(self, found, i):
        offsets = self.library.elias_predictions_offsets(found)
        labels = self.library.elias_predictions_labels(found)
        scores = self.library.elias_predictions_scores(found)
        return [(self.name(labels[j]), scores[j]) for j in range(offsets[i], offsets[i + 1])]

    def name(self, label):
        return self.library.elias_label_name(self.handle, label, None).decode()

    def check(self, status):
        if status != 0:
            raise ValueError(self.library.elias_last_error().decode(errors="replace"))


def main():
    if len(sys.argv) < 3:
        sys.exit("ctypes_predict.py: give a model and texts")
    try:
        rows = Model(open_library(), sys.argv[1]).predict(sys.argv[2:], k=3)
    except (OSError, ValueError) as error:
        sys.exit(f"ctypes_predict.py: {error}")
    for row in rows:
        for name, score in row:
            print(f"{name}\t{score:.9g}")
        print()


if __name__ == "__main__":
    main()
