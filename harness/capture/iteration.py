"""Lists one iteration directory of a dump tree: tensor files, the names of mapped ones, rows of statistics."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from harness.capture import raw
from harness.capture.names import FileName, NameKinds, parse
from harness.capture.plain_files import PlainFiles
from harness.capture.statistic_rows import FILE as STATISTICS
from harness.capture.statistic_rows import MAX_BYTES, BadRow, Row, rows
from harness.capture.statistic_table import StatisticTable
from harness.capture.statistic_table import table as columns
from harness.dump.asynchronous import names as asynchronous
from harness.dump.names import mangle
from harness.errors import TreeError
from harness.reading import kind_of, read_bytes, refuse_outside

MAX_MAPPING = 1 << 26
_DIGITS = re.compile(r"\d{1,20}(\.npy)?$")
_MAPPING = "mapping.csv"


class Entry(NamedTuple):
    """One tensor: its file, its row of statistics, or both.

    Attributes:
        name: the parsed file name, or the name the file would have.
        path: path of the file, or of ``statistic.csv``.
        row: its row, if there are statistics.
        has_file: whether there is a tensor file.
        raw: the tensor's place in a file that holds several.
    """

    name: FileName
    path: str
    row: Row | None = None
    has_file: bool = True
    raw: raw.RawTensor | None = None


class IterationDirectory:
    """Lists one directory.

    Args:
        path: path of the directory.
        root: real path of the tree, which no link may leave: ``TreeError``.
        problem: called for each file that is left out: path, kind, reason.
        kinds: what is known of names, from other directories.

    Attributes:
        table: rows of statistics, if the directory holds nothing else; then ``entries`` is empty.
        plain: tensor files, in the same case.
    """

    def __init__(
        self,
        path: str,
        root: str,
        problem: Callable[[str, str, str], None],
        kinds: NameKinds | None = None,
    ) -> None:
        self._path = path
        self._kinds = kinds
        self._root = root
        self._problem = problem
        self.table: StatisticTable | None = None
        self.plain: PlainFiles | None = None

    def entries(self) -> list[Entry]:
        """All tensors, in any order."""
        files: list[Entry] = []
        plain = PlainFiles(self._path, self._kinds)
        mapped: list[tuple[str, str]] = []
        table = ""
        try:
            with os.scandir(self._path) as found:
                for entry in found:
                    name = entry.name
                    if entry.is_symlink():
                        refuse_outside(entry.path, self._root, TreeError)
                    if not entry.is_file():
                        self._no_file(entry, parse(name) is not None)
                        continue
                    if plain.take(name):
                        continue
                    parsed = parse(name)
                    if parsed is not None:
                        if not plain.add(name, parsed):
                            files.append(Entry(parsed, entry.path))
                    elif name == STATISTICS:
                        table = entry.path
                    elif raw.is_raw(name):
                        self._raw(name, entry.path, files)
                    else:
                        self._other(name, entry.path, mapped)
        except OSError as error:
            raise TreeError(f"{self._path}: {error.strerror}") from None
        self._mapped(mapped, files)
        if not files and not table:
            self.plain = plain
            return []
        files += [Entry(*each) for each in plain.all()]
        if not table:
            return files
        data = self._text(table, MAX_BYTES)
        self.table = columns(data) if not files else None
        return self._with_statistics(files, table, data) if self.table is None else []

    def _other(self, name: str, path: str, mapped: list[tuple[str, str]]) -> None:
        """Handles a file that is not named like a tensor."""
        if _DIGITS.fullmatch(name):
            mapped.append((name, path))
        elif name.startswith(".") and name.endswith(".part"):
            self._problem(path, "incomplete", "a temporary file; its writer was killed")
        elif name.endswith(".npy"):
            self._problem(path, "name", "not the name of a dump file")

    def _no_file(self, entry: os.DirEntry[str], tensor: bool) -> None:
        """Reports an entry that is named like a dump file but is not a regular file."""
        name = entry.name
        if tensor or name in (STATISTICS, _MAPPING) or _DIGITS.fullmatch(name) or raw.is_raw(name):
            try:
                why = kind_of(entry.stat().st_mode)
            except OSError as error:
                why = str(error.strerror)
            self._problem(entry.path, "damaged", f"{why}, where a regular file is needed")

    def _raw(self, name: str, path: str, files: list[Entry]) -> None:
        """Adds the tensors of a file that holds several of one operator."""
        try:
            files += [Entry(each, path, raw=tensor) for each, tensor in raw.tensors(path, name, self._root)]
        except TreeError as error:
            self._problem(path, "damaged", str(error))

    def _mapped(self, found: list[tuple[str, str]], files: list[Entry]) -> None:
        """Adds the files that are named by a number."""
        mapping = self._mapping(os.path.join(self._path, _MAPPING)) if found else {}
        for name in sorted(mapping.keys() - {name for name, _ in found}):
            if _DIGITS.fullmatch(name) and (parse(mapping[name]) is not None or raw.is_raw(mapping[name])):
                self._problem(os.path.join(self._path, name), "incomplete", f"{_MAPPING} names it, and it is gone")
        for name, path in found:
            original = mapping.get(name)
            if original is not None and raw.is_raw(original):
                self._raw(original, path, files)
                continue
            parsed = parse(original) if original is not None else None
            if parsed is None:
                why = f"{_MAPPING} has no row for it" if original is None else f"{_MAPPING} calls it {original[:200]!r}"
                self._problem(path, "name", why)
                continue
            files.append(Entry(parsed, path))

    def _mapping(self, path: str) -> dict[str, str]:
        data = self._text(path, MAX_MAPPING)
        lines = (line.partition(",") for line in data.decode("utf-8", "surrogateescape").splitlines())
        return {name: original for name, comma, original in lines if comma}

    def _text(self, path: str, limit: int) -> bytes:
        """A text's bytes; empty if it cannot be read."""
        if os.path.islink(path):
            refuse_outside(path, self._root, TreeError)
        if not os.path.lexists(path):
            return b""
        try:
            return read_bytes(path, limit, TreeError, inside=self._root)
        except TreeError as error:
            if os.path.isfile(path) and os.path.getsize(path) > limit:
                raise
            self._problem(path, "damaged", str(error))
            return b""

    # -- statistics ------------------------------------------------------------------------------------------------
    def _with_statistics(self, files: list[Entry], table: str, data: bytes) -> list[Entry]:
        """Gives each file its row; a row without a file is an entry of its own."""
        waiting: dict[tuple[str, str, int, str, int], Entry] = {_key(file.name): file for file in files}
        found: list[Entry] = []
        lines = 0
        for row in rows(data):
            if isinstance(row, BadRow):
                lines += 1
                self._problem(table, "damaged", f"line {row.line}: {row.why}")
                continue
            name = FileName(
                row.op_type, row.op_name, row.task, row.stream, row.timestamp, row.io, row.slot, row.format,
                row.statistics.dtype,
            )  # fmt: skip
            file = next((waiting.pop(key) for key in _keys(name) if key in waiting), None) if waiting else None
            found.append(Entry(name, table, row, False) if file is None else file._replace(row=row))
            lines += 1
        if not lines:
            self._problem(table, "empty", "a table of statistics without a row")
        return [*found, *waiting.values()]


def _key(name: FileName) -> tuple[str, str, int, str, int]:
    """The key that a tensor's file and its row share; the row's name may be unmangled."""
    return mangle(name.op_type), mangle(name.op_name), name.timestamp, name.io, name.slot


def _keys(row: FileName) -> Iterator[tuple[str, str, int, str, int]]:
    """Keys of the file that may belong to a row: earlier releases shorten the name in asynchronous files only."""
    yield _key(row)
    for style in asynchronous.EARLIER:
        yield _key(row._replace(op_name=asynchronous.op_name(row.op_name, style)))
