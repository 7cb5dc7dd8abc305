"""Tolerances in a file of their own (TOML), to be kept beside the goldens and shared by commands."""

from __future__ import annotations

import tomllib
from pathlib import Path

from harness.compare.tolerances import Tolerances
from harness.errors import ToleranceError

_MAX_BYTES = 1 << 20


def read_tolerances(path: Path) -> Tolerances:
    """The tolerances a TOML file states.

    The file has one table, ``[tolerance]``, with the keys and values of ``Tolerances.parse``: ``default``, dtypes,
    operator types, and patterns (quoted); numbers, pairs, ``"exact"``, ``"default"``, or tables of ``rtol``, ``atol``,
    ``scaled``, ``max_ulp``.

    Raises:
        ToleranceError: there is no such file, it is no TOML, or it holds something else.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise ToleranceError(f"{path}: {error.strerror}") from None
    if len(data) > _MAX_BYTES:
        raise ToleranceError(f"{path}: more than {_MAX_BYTES} bytes; a file of tolerances is a page")
    try:
        content = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ToleranceError(f"{path}: it is no TOML: {error}") from None
    table = content.pop("tolerance", None)
    if content or not isinstance(table, dict):
        others = f"; found {', '.join(map(repr, content))}" if content else ""
        raise ToleranceError(f"{path}: a file of tolerances has the table [tolerance] and nothing else{others}")
    try:
        return Tolerances.parse(table)
    except (ToleranceError, TypeError) as error:
        raise ToleranceError(f"{path}: {error}") from None
