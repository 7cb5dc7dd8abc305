"""The kinds of files in an iteration directory, told by their names, and whether a path is a file alone."""

from __future__ import annotations

import os
from typing import NamedTuple

from harness.capture import raw
from harness.capture.arguments import is_arguments_file
from harness.capture.names import parse
from harness.capture.statistic_rows import FILE as STATISTICS
from harness.dump.writer import MAPPING
from harness.errors import TreeError

_STORE = ".h5"
_STORES = (_STORE, ".hdf5", "")
_HDF5 = b"\x89HDF\r\n\x1a\n"
_USER_BLOCKS = (0, 512)


class Kinds(NamedTuple):
    """The kinds of files that exist.

    Attributes:
        files: whether the directory holds anything.
        tensors, statistics, arguments, raw_files: whether there are such files.
        named: whether a file is named like a dump file, or a list of such names exists.
        directories: whether there are directories.
        dtype: dtype of one of the tensors, as its file name spells it.
    """

    files: bool = False
    tensors: bool = False
    statistics: bool = False
    arguments: bool = False
    raw_files: bool = False
    named: bool = False
    directories: bool = False
    dtype: str | None = None

    @property
    def mode(self) -> str:
        """The dump mode: ``tensor``, ``statistic`` or ``full``; empty if no file tells."""
        if self.tensors or self.raw_files:
            return "full" if self.statistics else "tensor"
        return "statistic" if self.statistics else ""

    @property
    def alone(self) -> bool:
        """Whether the directory holds only dump files, because one iteration was taken out of its tree."""
        return (self.named or self.statistics or self.raw_files) and not self.directories


def kinds_of(path: str) -> Kinds:
    """Looks at the names in a directory, however many; ``TreeError`` if it cannot be read."""
    found = Kinds()
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                found = _with(found, entry.name, entry.is_dir(follow_symlinks=False))
    except OSError as error:
        raise TreeError(f"{path}: {error.strerror}") from None
    return found


def _with(found: Kinds, name: str, is_directory: bool) -> Kinds:
    if not found.files:
        found = found._replace(files=True)
    if is_directory:
        return found if found.directories else found._replace(directories=True)
    if name.endswith(".npy"):
        if found.tensors and found.dtype is not None:
            return found
        parsed = parse(name)
        if parsed is None:
            return found._replace(tensors=True)
        return found._replace(tensors=True, named=True, dtype=parsed.dtype)
    if name == MAPPING:
        return found._replace(named=True)
    if name == STATISTICS:
        return found._replace(statistics=True)
    if is_arguments_file(name):
        return found._replace(arguments=True)
    return found._replace(raw_files=True) if not found.raw_files and raw.is_raw(name) else found


def is_single_file(path: str) -> bool:
    """Whether ``path`` is a file that, by its name and its first bytes, is no golden store."""
    if os.path.splitext(path)[1] in _STORES or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            head = file.read(_USER_BLOCKS[-1] + len(_HDF5))
    except OSError:
        return False
    return not any(head[at : at + len(_HDF5)] == _HDF5 for at in _USER_BLOCKS)


def instead_of_a_tree(path: str) -> str:
    """What lies where a dump tree is wanted, and what to give, in words."""
    wanted = "give a dump path, or one of its rank_N directories"
    if not os.path.exists(path):
        return f"there is no such file or directory; {wanted}"
    if path.endswith(_STORE) and os.path.isfile(path):
        return f"a golden store, where a dump tree is wanted; `diff` compares two stores; {wanted}"
    if not os.path.isdir(path):
        return f"not a directory; {wanted}"
    if any(name.endswith(_STORE) for _, _, names in os.walk(path) for name in names):
        return "a directory of golden stores; name one of its .h5 files, or give a dump path"
    return f"it holds no rank_N directory; {wanted}"
