"""What the native module has. Its users are the modules of this package."""

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

version: str

class InputError(ValueError):
    """An argument, a file or the machine is not as it must be."""

class InternalError(RuntimeError):
    """A bug in elias: please report it."""

# Points are a list of str or a CSR matrix of scipy's; labels a list or such a matrix.
class Model:
    def __init__(self, folder: bytes, threads: int, exact: bool) -> None: ...
    def predict_lists(
        self,
        points: Any,
        k: int,
        threshold: Union[str, float, None],
        candidates: Optional[Sequence[bytes]],
        /,
    ) -> List[List[Tuple[Union[str, int], float]]]: ...
    def predict_arrays(
        self,
        points: Any,
        k: int,
        threshold: Union[str, float, None],
        candidates: Optional[Sequence[bytes]],
        /,
    ) -> Tuple[npt.NDArray[np.float32], npt.NDArray[np.int32], npt.NDArray[np.int64]]: ...
    def embed(self, points: Any, member: int, /) -> npt.NDArray[np.float32]: ...
    def evaluate(
        self, points: Any, labels: Any, propensity: str, threshold: Union[str, float, None], /
    ) -> Dict[str, float]: ...
    def explain(
        self, points: Any, k: int, labels: Sequence[bytes], words: int, /
    ) -> List[str]: ...
    def inspect(self, label: Optional[bytes], /) -> str: ...
    def label(self, label: int, /) -> Union[str, int]: ...
    def find_label(self, name: bytes, /) -> Optional[int]: ...
    @property
    def labels(self) -> int: ...
    @property
    def method(self) -> str: ...
    @property
    def points(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def takes_text(self) -> bool: ...
    @property
    def most_found(self) -> int: ...
    @property
    def files(self) -> List[str]: ...

def fit(
    points: Any,
    labels: Any,
    dev_points: Any,
    dev_labels: Any,
    label_names: Optional[List[str]],
    settings: bytes,
    out: bytes,
    overwrite: bool,
    store: str,
    checkpoint_minutes: float,
    threads: int,
    progress: Callable[..., object],
    /,
) -> None: ...
