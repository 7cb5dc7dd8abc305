"""Transforms of sequences of words, or of numbers.

Source: MindSpore 2.10.0, measured (``tests/data/dataset/text.json``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingError, StateError
from harness.framework.dataset.checks import of_type, whole
from harness.framework.dataset.text.tokens import texts
from harness.framework.dataset.transforms.base import Fixed, RowFunction, Transform


class Ngram(Fixed):
    """Runs of ``n`` words (each of a list's numbers in turn) joined by ``separator``; the words are padded first by
    (text, count), with no more than n - 1 on either side. Where words are too few, "" stands."""

    def __init__(
        self, n: Any, left_pad: tuple[str, int] = ("", 0), right_pad: tuple[str, int] = ("", 0), separator: str = " "
    ) -> None:
        self.sizes = [whole(each, "n", self.name, 1) for each in (n if isinstance(n, list) else [n])]
        if not self.sizes:
            raise SettingError("Ngram: n must hold a number")
        self.pads = []
        for pad in (left_pad, right_pad):
            if len(of_type(pad, tuple, "left_pad and right_pad")) != 2:
                raise SettingError(f"Ngram: a pad is a text and a number, got {pad!r}")
            self.pads.append((of_type(pad[0], str, "pad"), whole(pad[1], "pad", self.name, 0)))
        self.separator = of_type(separator, str, "separator")

    def compute(self, array: Any) -> Any:
        if texts(array, self.name).ndim != 1:
            raise StateError(f"Ngram: one dimension of words is needed, got shape {array.shape}")
        made: list[str] = []
        for size in self.sizes:
            left, right = ([text] * min(count, size - 1) for text, count in self.pads)
            words = [*left, *array.tolist(), *right]
            runs = [self.separator.join(words[at : at + size]) for at in range(len(words) - size + 1)]
            made.extend(runs or [""])
        return np.array(made)


class SlidingWindow(Fixed):
    """Windows (n - width + 1, width) of a column (n,)."""

    def __init__(self, width: int, axis: int = 0) -> None:
        self.width = whole(width, "width", self.name, 1)
        self.axis = of_type(axis, int, "axis")

    def compute(self, array: Any) -> Any:
        if array.ndim != 1 or self.axis not in (0, -1):
            raise StateError(f"SlidingWindow: one dimension and its axis are needed, got {array.shape}, {self.axis}")
        if len(array) < self.width:
            return array[:0]
        return np.lib.stride_tricks.sliding_window_view(array, self.width).copy()


class Truncate(Fixed):
    """The first ``max_seq_len`` elements along the last axis."""

    def __init__(self, max_seq_len: int) -> None:
        self.max_seq_len = whole(max_seq_len, "max_seq_len", self.name, 1)

    def compute(self, array: Any) -> Any:
        if array.ndim not in (1, 2):
            raise StateError(f"Truncate: one or two dimensions are needed, got shape {array.shape}")
        kept = array[..., : self.max_seq_len]
        return (
            kept.astype(f"U{max(map(len, kept.reshape(-1).tolist()), default=1)}") if kept.dtype.kind == "U" else kept
        )


class AddToken(Fixed):
    """Words with one more before them, or after them where ``begin`` is False."""

    def __init__(self, token: str, begin: bool = True) -> None:
        self.token, self.begin = of_type(token, str, "token"), of_type(begin, bool, "begin")

    def compute(self, array: Any) -> Any:
        if texts(array, self.name).ndim not in (1, 2):
            raise StateError(f"AddToken: one or two dimensions are needed, got shape {array.shape}")
        more = np.full((*array.shape[:-1], 1), self.token)
        return np.concatenate([more, array] if self.begin else [array, more], -1)


class TruncateSequencePair(Transform):
    """Two columns shortened to ``max_length`` together: the longer one at each turn, the second where they are even."""

    def __init__(self, max_length: int) -> None:
        self.max_length = whole(max_length, "max_length", self.name, 1)

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        return self._both

    def _both(self, *arrays: Any) -> Any:
        if len(arrays) != 2 or any(array.ndim != 1 for array in arrays):
            raise StateError("TruncateSequencePair: two columns of one dimension are needed")
        first, second = map(len, arrays)
        while first + second > self.max_length:
            first, second = (first - 1, second) if first > second else (first, second - 1)
        return arrays[0][:first], arrays[1][:second]
