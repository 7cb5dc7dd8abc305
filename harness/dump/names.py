"""Names of dump files: ``{op type}.{mangled name}.{task}.{stream}.{timestamp}.{io}.{slot}.{format}.{dtype}.npy``.

Source: dump_output.md section 2, measured on 2.10.0.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable

MAX_NAME_BYTES = 255
MAX_MAPPED_NUMBER = 2**31 - 1
TIMESTAMP_DIGITS = 16
FORMAT = "DefaultFormat"
PARAMETER = "Parameter"

# The original mangles the first four; control characters would break a file name or a row of mapping.csv.
_MANGLED = re.compile(r"[/\\. \x00-\x1f\x7f]")


def mangle(name: str) -> str:
    """``name`` in the form of a file name: ``/``, ``\\``, ``.``, blank and control characters become ``_``."""
    return _MANGLED.sub("_", name).encode("utf-8", "replace").decode("utf-8")


def row_text(name: str) -> str:
    """``name`` unmangled, in the form of a row of ``mapping.csv``: only control characters become ``_``."""
    return re.sub(r"[\x00-\x1f\x7f]", "_", name).encode("utf-8", "replace").decode("utf-8")


def file_name(
    op_type: str,
    name: str,
    timestamp: int,
    io: str,
    slot: int,
    dtype: str,
    *,
    mangled: bool = True,
    stream: int = 0,
    form: str = FORMAT,
) -> str:
    """The file name of one slot (task 0, as in the kernel-by-kernel dump); it may be too long for a file system.

    Args:
        op_type: primitive name, or ``Parameter``.
        name: full name with scope, or the parameter's own name; unmangled.
        timestamp: microseconds since 1970.
        io: ``input`` or ``output``.
        slot: position in the flattened argument or output list.
        dtype: dtype name, CamelCase or (on Ascend) in lower case.
        mangled: False keeps ``name`` as it is (rows of ``mapping.csv`` for names that mangle alike).
        stream: id of the stream; 0 on CPU and GPU.
        form: storage format of the tensor.
    """
    shown = mangle(name) if mangled else row_text(name)
    return f"{mangle(op_type)}.{shown}.0.{stream}.{timestamp}.{io}.{slot}.{form}.{dtype}.npy"


def ambiguous(names: Iterable[str]) -> frozenset[str]:
    """Names that share their mangled form with another name, except a name that equals its mangled form.

    ``a.b`` of ``{a.b, a_b}``: its files could not be distinguished from those of ``a_b``.
    """
    by_mangled: dict[str, set[str]] = {}
    for name in names:
        by_mangled.setdefault(mangle(name), set()).add(name)
    return frozenset(
        name for mangled, group in by_mangled.items() if len(group) > 1 for name in group if name != mangled
    )


class Clock:
    """Microsecond timestamps that only grow, so that no two files of a process get equal names."""

    def __init__(self) -> None:
        self._last = 0

    def stamp(self) -> int:
        """Microseconds since 1970, at least one more than the last time."""
        self._last = max(time.time_ns() // 1000, self._last + 1)
        return self._last
