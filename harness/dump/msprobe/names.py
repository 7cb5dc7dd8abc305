"""Names in msprobe's files: entries of ``dump.json``, and their cells in ``construct.json``.

An entry is ``Kernel.{name}.forward.{n}`` (``backward`` for gradients), as ``Cell.{name}.{class}.forward.{n}`` is for
cells; ``n`` counts the executions of a step. The entry itself holds the operator's own name.
"""

from __future__ import annotations

import hashlib
import re

KERNEL = "Kernel"
CELL = "Cell"
FORWARD, BACKWARD = "forward", "backward"
GRADIENTS = "Gradients/"
MOST_BYTES = 200
"""Longer names are cut: with direction, number, slot and suffix a file name has at most 255 bytes."""
# Characters that msprobe accepts in paths; it refuses any other.
_REFUSED = re.compile(r"[^A-Za-z0-9_.\-]")
_HASH_DIGITS = 12


def direction(name: str) -> str:
    """``backward`` for an operator of the gradient."""
    return BACKWARD if name.startswith(GRADIENTS) else FORWARD


def stem(name: str) -> str:
    """An operator's full name as a part of an entry: ``/`` becomes ``.``, characters that msprobe refuses become
    ``_``."""
    return _REFUSED.sub("_", name.replace("/", "."))


class Stems:
    """The stem of each operator of a process.

    If a name is too long, or another name has its stem, the stem ends with a hash of the name.
    """

    def __init__(self) -> None:
        self._stems: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, name: str) -> str:
        """The stem of full name ``name``, the same each time."""
        found = self._stems.get(name)
        if found is None:
            found = stem(name)
            if len(found) > MOST_BYTES or found in self._taken:
                digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
                found = f"{found[: MOST_BYTES - _HASH_DIGITS - 1]}_{digest}"
            self._stems[name] = found
            self._taken.add(found)
        return found


def entry(stem: str, name: str, execution: int) -> str:
    """The key of one execution of operator ``name`` in ``dump.json``."""
    return f"{KERNEL}.{stem}.{direction(name)}.{execution}"


def cells(name: str) -> list[str]:
    """The cells of an operator, innermost first, with their names in ``construct.json``.

    ``Default/network-WithLossCell/fc1-Dense/MatMul-op0`` is in ``Cell.network.fc1.Dense.forward.0`` and in
    ``Cell.network.WithLossCell.forward.0``. The root has no name, and parts of a scope that are not cells are left out.
    """
    found: list[str] = []
    path: list[str] = []
    for part in name.split("/")[:-1]:
        attribute, dash, kind = part.partition("-")
        if dash and attribute and kind:
            path.append(stem(attribute))
            found.append(f"{CELL}.{'.'.join(path)}.{stem(kind)}.{direction(name)}.0")
    return found[::-1]
