"""Reads tolerances from a TOML file, which can lie beside the goldens and serve several commands."""

from __future__ import annotations

import tomllib
from pathlib import Path

from harness.compare.tolerances import Tolerances
from harness.errors import ToleranceError
from harness.reading import parsing, read_bytes

_MAX_BYTES = 1 << 20
#: For a name of many parts, tomllib's time grows with the square of their number.
_MAX_LINE = 4096


def read_tolerances(path: Path) -> Tolerances:
    """Reads the tolerances in a TOML file.

    The file has one table, ``[tolerance]``, with the keys and values of ``Tolerances.parse``: ``default``, dtypes,
    operator types, and patterns (quoted); numbers, pairs, ``"exact"``, ``"default"``, or tables of ``rtol``, ``atol``,
    ``scaled``, ``max_ulp``.

    Raises:
        ToleranceError: the file is missing, is not TOML, or holds something else.
    """
    data = read_bytes(path, _MAX_BYTES, ToleranceError)
    if max(map(len, data.splitlines()), default=0) > _MAX_LINE:
        raise ToleranceError(f"{path}: a line of more than {_MAX_LINE} bytes; no tolerance needs one")
    with parsing(f"{path}: no TOML", ToleranceError):
        content = tomllib.loads(data.decode("utf-8"))
    table = content.pop("tolerance", None)
    if content or not isinstance(table, dict):
        others = f"; found {', '.join(map(repr, content))}" if content else ""
        raise ToleranceError(f"{path}: a file of tolerances has the table [tolerance] and nothing else{others}")
    try:
        with parsing("[tolerance]", ToleranceError):
            return Tolerances.parse(table)
    except ToleranceError as error:
        raise ToleranceError(f"{path}: {error}") from None
