"""A vocabulary: words and their numbers.

Source: MindSpore 2.10.0, measured (``tests/data/dataset/text.json``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset.base import Dataset
from harness.framework.dataset.checks import noted, of_type, outside

_LAST = 2**31 - 1


def _texts(values: Any, name: str) -> list[str]:
    for each in of_type(values, list, name):
        of_type(each, str, name)
    twice = [word for word, count in Counter(values).items() if count > 1]
    if twice:
        raise noted(SettingError(f"{name} contains duplicate words: {twice}."), values, name, "Vocab")
    return list(values)


def _above_zero(value: Any, name: str) -> int | None:
    if value is not None and of_type(value, int, name) <= 0:
        raise SettingError(f"{name} must be greater than 0, got {value}")
    return None if value is None else int(value)


def _numbered(words: Iterable[str], special: list[str], special_first: Any) -> Vocab:
    of_type(special_first, bool, "special_first")
    own = list(words)
    both = sorted(set(special) & set(own))
    if both:
        raise StateError(f"Vocab: special_tokens are words too: {both}")
    made = Vocab()
    made._numbers = {word: at for at, word in enumerate([*special, *own] if special_first else [*own, *special])}
    return made


class Vocab:
    """Words and their numbers, made by one of its ``from_`` methods; ``vocab()`` is a dict in the order of numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] | None = None

    @classmethod
    def from_list(
        cls, word_list: list[str], special_tokens: list[str] | None = None, special_first: bool = True
    ) -> Any:
        """The words of a list, numbered from 0; special tokens before or after them.

        Raises:
            SettingError: a word is there twice.
        """
        words, special = _texts(word_list, "word_list"), _texts(special_tokens or [], "special_tokens")
        if set(words) & set(special):
            raise SettingError(f"special_tokens are words too: {sorted(set(words) & set(special))}")
        return _numbered(words, special, special_first)

    @classmethod
    def from_dict(cls, word_dict: dict[str, int]) -> Any:
        """Words with numbers of the user's own (0 to 2 ** 31 - 1)."""
        for word, number in of_type(word_dict, dict, "word_dict").items():
            of_type(word, str, "word")
            if not 0 <= of_type(number, int, "word_id") <= _LAST:
                raise outside(number, "word_id", "Vocab", 0, _LAST)
        made = cls()
        made._numbers = dict(word_dict)
        return made

    @classmethod
    def from_dataset(
        cls,
        dataset: Dataset,
        columns: Any = None,
        freq_range: tuple[int | None, int | None] | None = None,
        top_k: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Any:
        """The texts in ``columns`` (all if None), the most frequent first and equally frequent ones by the alphabet;
        those alone whose count is within ``freq_range``, and of these the first ``top_k``.

        Raises:
            StateError: a column that is not there, or holds no texts.
        """
        of_type(dataset, Dataset, "dataset")
        low, high = cls._range(freq_range)
        top, special = _above_zero(top_k, "top_k"), _texts(special_tokens or [], "special_tokens")
        names = [columns] if isinstance(columns, str) else columns
        counts: Counter[str] = Counter()
        for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
            for name in row if names is None else names:
                if name not in row or row[name].dtype.kind not in "US":
                    raise StateError(f"Vocab: {name!r} is no column of texts; there are {list(row)}")
                counts.update(map(str, row[name].reshape(-1).tolist()))
        kept = [word for word, count in counts.items() if low <= count and (high is None or count <= high)]
        return _numbered(sorted(kept, key=lambda word: (-counts[word], word))[:top], special, special_first)

    @staticmethod
    def _range(given: Any) -> tuple[int, int | None]:
        if given is None:
            return 0, None
        if len(of_type(given, tuple, "freq_range")) != 2:
            raise SettingError(f"freq_range needs two numbers, got {given}")
        low, high = (None if each is None else of_type(each, int, "freq_range") for each in given)
        if (low or 0) < 0 or (high is not None and high < (low or 0)):
            raise SettingError(f"freq_range must be 0 <= low <= high, got {given}")
        return low or 0, high

    @classmethod
    def from_file(
        cls,
        file_path: str,
        delimiter: str = "",
        vocab_size: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Any:
        """A word from each of the first ``vocab_size`` lines: what stands before ``delimiter``, or the whole line.

        Raises:
            StateError: there is no such file, or a word is there twice.
        """
        size, special = _above_zero(vocab_size, "vocab_size"), _texts(special_tokens or [], "special_tokens")
        of_type(delimiter, str, "delimiter")
        if not Path(of_type(file_path, str, "file_path")).is_file():
            raise StateError(f"Vocab: there is no file {file_path!r}")
        lines = Path(file_path).read_bytes().decode().split("\n")  # a carriage return is a part of its word
        lines = (lines[:-1] if lines[-1] == "" else lines)[:size]
        words = [line.split(delimiter)[0] if delimiter else line for line in lines]
        if len(set(words)) < len(words):
            raise StateError(f"Vocab: a word of {file_path!r} is there twice")
        return _numbered(words, special, special_first)

    def vocab(self) -> dict[str, int]:
        """Words and their numbers.

        Raises:
            StateError: it was not made by a ``from_`` method.
        """
        if self._numbers is None:
            raise StateError("Vocab: not built yet; use from_dataset, from_list, from_file or from_dict")
        return dict(sorted(self._numbers.items(), key=lambda item: item[1]))

    def tokens_to_ids(self, tokens: Any) -> Any:
        """The number of a word, or of each in a list or an array (n,): -1 where there is none."""
        numbers = self.vocab()
        given = of_type(tokens, (str, list, np.ndarray), "tokens")
        given = given.tolist() if isinstance(given, np.ndarray) else given
        if isinstance(given, str):
            return numbers.get(given, -1)
        return [numbers.get(of_type(each, str, "tokens"), -1) for each in given]

    def ids_to_tokens(self, ids: Any) -> Any:
        """The word of a number, or of each in a list or an array (n,): "" where there is none.

        Raises:
            SettingError: a number is not in 0 to 2 ** 31 - 1.
        """
        words = {number: word for word, number in self.vocab().items()}
        given = of_type(ids, (int, list, np.ndarray), "ids")
        given = given.tolist() if isinstance(given, np.ndarray) else given
        for each in given if isinstance(given, list) else [given]:
            if not 0 <= of_type(each, int, "ids") <= _LAST:
                raise outside(each, "ids", "Vocab", 0, _LAST)
        return [words.get(each, "") for each in given] if isinstance(given, list) else words.get(given, "")


def _arrays(array: Any) -> Any:
    if not isinstance(array, np.ndarray):
        raise SettingTypeError(f"a numpy array is needed, got {type(array).__name__}")
    return array


def to_bytes(array: Any, encoding: str = "utf8") -> Any:
    """An array of texts as one of bytes.

    Raises:
        SettingError: not an array.
    """
    if not isinstance(array, np.ndarray):
        raise SettingError(f"a numpy array is needed, got {type(array).__name__}")
    return np.char.encode(array, encoding)


def to_str(array: Any, encoding: str = "utf8") -> Any:
    """An array of bytes as one of texts."""
    return np.char.decode(_arrays(array), encoding)
