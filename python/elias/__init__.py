"""Elias: extreme multi-label classification. Text in, ranked labels with probabilities out.

>>> import elias
>>> texts = ["green tea", "black tea", "green paint", "black paint"] * 10
>>> labels = [["drink", "green"], ["drink", "black"], ["wall", "green"], ["wall", "black"]] * 10
>>> model = elias.fit(texts, labels)
>>> [sorted(label for label, score in best) for best in model.predict(["tea, green"], k=2)]
[['drink', 'green']]

`fit` learns a `Model`, `load` opens one that the program ``elias`` or `Model.save` wrote, and
`EliasClassifier` is the same in the shape of scikit-learn. Points are texts, or rows of a sparse
matrix. docs/python.md is the guide.
"""

from elias._classifier import EliasClassifier
from elias._fit import Progress, fit
from elias._model import Labels, Model, load
from elias._native import InputError, InternalError
from elias._native import version as __version__

__all__ = [
    "EliasClassifier",
    "InputError",
    "InternalError",
    "Labels",
    "Model",
    "Progress",
    "__version__",
    "fit",
    "load",
]
