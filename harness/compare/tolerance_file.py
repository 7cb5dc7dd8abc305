"""Tolerances as a command states them: on its line, or in a TOML file, which can lie beside the goldens."""

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


def chosen_tolerances(
    file: Path | None, rtol: float | None, atol: float | None, exact: bool, standard: str | None = None
) -> Tolerances | None:
    """The tolerances from the command line; None if there are none.

    Raises:
        ToleranceError: more than one of a file, ``--exact`` and numbers was given, or one of them is not a valid
            tolerance.
    """
    ways = [file is not None, exact, bool(standard), rtol is not None or atol is not None]
    if sum(ways) > 1:
        others = "--tolerance, --exact, and --rtol with --atol exclude one another"
        raise ToleranceError(others if file is None else f"--tolerances, {others}")
    if file is not None:
        return read_tolerances(file)
    if exact:
        return Tolerances.parse("exact")
    if standard:
        return Tolerances.parse(standard)
    return Tolerances.parse((rtol or 0.0, atol or 0.0)) if ways[3] else None
