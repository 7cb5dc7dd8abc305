"""Transforms of one text into words, and of words into numbers.

Source: MindSpore 2.10.0, measured (``tests/data/dataset/text.json``).
"""

from __future__ import annotations

import math
import re
import unicodedata
from abc import abstractmethod
from typing import Any

import numpy as np

from harness.dtypes import DType
from harness.errors import SettingTypeError, StateError
from harness.framework.dataset.checks import of_type
from harness.framework.dataset.numbers import number
from harness.framework.dataset.text.vocab import Vocab, to_str
from harness.framework.dataset.transforms.base import Fixed

#: what Unicode calls white space; Python's ``split`` takes four control characters more
_BLANKS = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_WORDS = re.compile(f"[^{_BLANKS}]+")


def texts(array: Any, owner: str) -> Any:
    """``array``; ``StateError`` unless it holds texts."""
    if array.dtype.kind != "U":
        raise StateError(f"{owner}: texts are needed, got {array.dtype}")
    return array


class _Tokenizer(Fixed):
    """A text cut into words; ``with_offsets`` adds where each begins and ends in its UTF-8 bytes (uint32)."""

    def __init__(self, with_offsets: bool = False) -> None:
        self.with_offsets = of_type(with_offsets, bool, "with_offsets")

    @abstractmethod
    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where words begin and end, in characters."""

    def compute(self, array: Any) -> Any:
        if texts(array, self.name).ndim:
            raise StateError(f"{self.name}: one text is needed, got shape {array.shape}")
        text = str(array)
        spans = self.spans(text) or [(0, 0)]
        words = np.array([text[start:end] for start, end in spans])
        if not self.with_offsets:
            return words
        ends = [[len(text[:at].encode()) for at in side] for side in zip(*spans, strict=True)]
        return words, *(np.array(side, np.uint32) for side in ends)


class WhitespaceTokenizer(_Tokenizer):
    """The words between blanks."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        return [found.span() for found in _WORDS.finditer(text)]


class UnicodeCharTokenizer(_Tokenizer):
    """Each character."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        return [(at, at + 1) for at in range(len(text))]


class PythonTokenizer(Fixed):
    """A function of the user's own, from a text to a list of words: (...,) gives (..., words)."""

    def __init__(self, tokenizer: Any) -> None:
        if not callable(tokenizer):
            raise SettingTypeError(f"PythonTokenizer: tokenizer must be callable, got {tokenizer!r}")
        self.tokenizer = tokenizer

    def _input(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            raise SettingTypeError(f"PythonTokenizer: an array is needed, got {type(value).__name__}")
        return value

    def compute(self, array: Any) -> Any:
        array = to_str(array) if array.dtype.kind == "S" else texts(array, self.name)
        words = [np.array(self.tokenizer(each), dtype=np.str_) for each in array.reshape(-1).tolist()]
        if len({each.shape for each in words}) != 1:
            raise StateError("PythonTokenizer: each text of a column must give as many words")
        # measured: the first text's longest word is what the others' words are cut to
        return np.array(words, words[0].dtype).reshape(*array.shape, *words[0].shape)


class CaseFold(Fixed):
    """Texts without upper and lower case, in Unicode's NFKC form, without what is not seen."""

    def compute(self, array: Any) -> Any:
        folded = [self._folded(text) for text in texts(array, self.name).reshape(-1).tolist()]
        return np.array(folded).reshape(array.shape)

    @staticmethod
    def _folded(text: str) -> str:
        seen = "".join(each for each in text if unicodedata.category(each) != "Cf")
        return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())


class Lookup(Fixed):
    """Words as numbers of a vocabulary, as ``data_type``; ``unknown_token``'s number for one that it lacks."""

    def __init__(self, vocab: Vocab, unknown_token: str | None = None, data_type: Any = None) -> None:
        self.vocab = of_type(vocab, Vocab, "vocab")
        self.unknown_token = None if unknown_token is None else of_type(unknown_token, str, "unknown_token")
        self.data_type = np.dtype(np.int32)
        if data_type is not None:
            self.data_type = np.dtype(of_type(data_type, DType, "data_type").numpy)

    def compute(self, array: Any) -> Any:
        numbers = self.vocab.vocab()
        if self.unknown_token is not None and self.unknown_token not in numbers:
            raise StateError(f"Lookup: {self.unknown_token!r} is not in the vocabulary")
        if self.data_type.kind not in "biuf":
            raise StateError(f"Lookup: data_type must be one of numbers, got {self.data_type}")
        words = texts(array, self.name).reshape(-1).tolist()
        missing = [word for word in words if word not in numbers]
        if missing and self.unknown_token is None:
            raise StateError(f"Lookup: {missing[0]!r} is not in the vocabulary, and there is no unknown_token")
        other = numbers.get(self.unknown_token or "", -1)
        return np.array([numbers.get(word, other) for word in words]).astype(self.data_type).reshape(array.shape)


class ToNumber(Fixed):
    """Texts as numbers of ``data_type``; what follows a number in its text counts for nothing."""

    def __init__(self, data_type: Any) -> None:
        self.data_type = np.dtype(of_type(data_type, DType, "data_type").numpy)
        if self.data_type.kind not in "iuf":
            raise SettingTypeError(f"ToNumber: data_type must be one of numbers, got {data_type}")

    def compute(self, array: Any) -> Any:
        made = [self._number(text) for text in texts(array, self.name).reshape(-1).tolist()]
        return np.array(made, self.data_type).reshape(array.shape)

    def _number(self, text: str) -> Any:
        found = number(text, self.data_type)
        if found is None or math.isinf(found):
            raise StateError(f"ToNumber: {text!r} is no number of {self.data_type}")
        return found
