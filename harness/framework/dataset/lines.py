"""``TextFileDataset`` and ``CSVDataset``: a row for each line of text files.

Source: MindSpore 2.10.0, measured (``tests/interop/lines_facts.py``).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset import samplers
from harness.framework.dataset.base import Row
from harness.framework.dataset.checks import of_type
from harness.framework.dataset.files import FilesDataset
from harness.framework.dataset.numbers import number
from harness.reading import open_with_status

_TYPES = {str: np.dtype(np.str_), int: np.dtype(np.int32), bool: np.dtype(np.int32), float: np.dtype(np.float32)}


def _text(raw: bytes, where: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise StateError(f"{where} is not UTF-8") from None


class _LinesDataset(FilesDataset):
    """Base of both: refuses files without a row."""

    def _check_rows(self) -> None:
        """``StateError`` where there is no row in any file."""
        if not sum(self._counts()):
            raise StateError(f"{self.owner}: there is no row in {self.files}")

    def _opened(self, path: str) -> Any:
        """A file to read bytes from; ``StateError`` if it cannot be read."""
        try:
            return open(open_with_status(path)[0], "rb")
        except OSError as error:
            raise StateError(f"{self.owner}: cannot read {path!r}: {error.strerror}") from None


class TextFileDataset(_LinesDataset):
    """``text``: each line of text files that is not empty, without its end ("\\n").

    Args:
        dataset_files: a file or pattern, or a list of them.
        num_samples: at most so many rows, of a shard if there are any.
        num_parallel_workers: so many files are read in turn, line by line.
        shuffle: True or ``Shuffle.GLOBAL``: files and rows in another order each epoch; ``Shuffle.FILES``: files.
        num_shards, shard_id: shards are of equally many rows.

    ``cache`` is not supported.

    Raises:
        SettingError, SettingTypeError: an argument is none of these, or there is no such file.
        StateError: on reading, of files without a line, and of lines that are not UTF-8.
    """

    def __init__(
        self,
        dataset_files: Any,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = samplers.Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)

    def columns(self) -> list[str]:
        return ["text"]

    def _chosen(self) -> list[Any]:
        self._check_rows()
        return self.columns()

    def _lines(self, path: str) -> Iterator[bytes]:
        with self._opened(path) as file:
            yield from (line for each in file if (line := each.removesuffix(b"\n")))

    def _count(self, path: str) -> int:
        return sum(1 for _ in self._lines(path))

    def _read(self, path: str, start: int, end: int | None, chosen: list[Any]) -> Iterator[Row]:
        for at, line in itertools.islice(enumerate(self._lines(path)), start, end):
            yield (np.array(_text(line, f"{self.owner}: {path!r}, line {at}")),)


class CSVDataset(_LinesDataset):
    """Rows of CSV files: fields that a character separates, in double quotes or plain.

    A row that ends with its file and has only one field is left out, as in MindSpore.

    Args:
        dataset_files: a file or pattern, or a list of them.
        field_delim: the character between fields.
        column_defaults: a str, int or float for each column tells its type (int32, float32); None for texts.
        column_names: names of the columns; None or [] for those in the first line of each file.

    The other arguments are those of ``TextFileDataset``.

    Raises:
        SettingError, SettingTypeError: an argument is none of these, or there is no such file.
        StateError: on reading, of files without a row, rows of another number of fields, a field that is no number
            of its column's type, quotes within a plain field or without an end, and texts that are not UTF-8.
    """

    def __init__(
        self,
        dataset_files: Any,
        field_delim: str = ",",
        column_defaults: Any = None,
        column_names: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = samplers.Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        if len(of_type(field_delim, str, "field_delim")) != 1 or field_delim in '"\r\n':
            raise SettingError(f"{self.owner}: field_delim must be one character, got {field_delim!r}")
        self.between = field_delim.encode()[:1]
        between = re.escape(self.between)
        self._field = re.compile(rb'(?:"((?:[^"]|"")*+)"|([^"\r\n%b]*+))(?:(%b)|[\r\n]++|(\Z))' % (between, between))
        defaults = of_type([] if column_defaults is None else column_defaults, list, "column_defaults")
        for each in defaults:
            if not isinstance(each, (str, int, float)):
                raise SettingTypeError(f"{self.owner}: column_defaults must be texts and numbers, got {each!r}")
        self.types = [_TYPES[type(each)] for each in defaults]
        self.names = list(of_type([] if column_names is None else column_names, (list, tuple), "column_names"))
        for each in self.names:
            of_type(each, str, "column_names")

    def columns(self) -> list[str]:
        if self.names:
            if len(set(self.names)) < len(self.names) or "" in self.names:
                raise StateError(f"{self.owner}: column_names must differ, and none may be empty: {self.names}")
            return self.names
        first, *more = [self._head(path) for path in self.files]
        for path, names in zip(self.files[1:], more, strict=True):
            if names != first:
                raise StateError(f"{self.owner}: the columns of {path!r} are {names}, those of the first file {first}")
        if not first or len(set(first)) < len(first):
            raise StateError(f"{self.owner}: {self.files[0]!r} must name its columns in its first line, got {first}")
        return first

    def _head(self, path: str) -> list[str]:
        """The names in the first line of a file."""
        with self._opened(path) as file:
            line = file.readline().removesuffix(b"\n").removesuffix(b"\r")
        names = _text(line, f"{self.owner}: {path!r}, the first line").split(self.between.decode("latin-1"))
        return names[:-1] if names[-1] == "" else names

    def _chosen(self) -> list[Any]:
        self._check_rows()
        count = len(self.columns())
        if len(self.types) > count:
            raise StateError(f"{self.owner}: {len(self.types)} column_defaults for {count} columns")
        return [*self.types, *[_TYPES[str]] * (count - len(self.types))]

    def _records(self, path: str) -> Iterator[tuple[list[bytes], bool]]:
        """The fields of each row, and whether it ends with the file instead of a line's end."""
        with self._opened(path) as file:
            if not self.names:
                file.readline()
            content = file.read()
        at = len(content) - len(content.lstrip(b"\r\n"))
        fields: list[bytes] = []
        row = 0
        while at < len(content) or fields:
            found = self._field.match(content, at)
            if found is None:
                raise StateError(f"{self.owner}: {path!r}, row {row}: a quote within a field, or without its end")
            quoted, plain, between, end = found.groups()
            fields.append(plain if quoted is None else quoted.replace(b'""', b'"'))
            at = found.end()
            if between is None:
                yield fields, end is not None
                fields = []
                row += 1

    def _count(self, path: str) -> int:
        return sum(1 for _ in self._records(path))

    def _read(self, path: str, start: int, end: int | None, chosen: list[Any]) -> Iterator[Row]:
        for at, (fields, ended) in itertools.islice(enumerate(self._records(path)), start, end):
            if ended and len(fields) == 1:
                return
            where = f"{self.owner}: {path!r}, row {at}"
            if len(fields) != len(chosen):
                raise StateError(f"{where}: {len(fields)} fields, and there are {len(chosen)} columns")
            yield tuple(self._value(field, kind, where) for field, kind in zip(fields, chosen, strict=True))

    def _value(self, field: bytes, kind: np.dtype[Any], where: str) -> Any:
        text = _text(field, where)
        if kind.kind == "U":
            return np.array(text)
        value = number(text, kind)
        if value is None:
            raise StateError(f"{where}: {text!r} is no number of {kind}")
        return np.array(value, kind)
