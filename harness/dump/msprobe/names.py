"""Names in msprobe's files: entries of ``dump.json``, and the cells that ``construct.json`` puts them into.

An entry is ``Kernel.{name}.forward.{n}`` (``backward`` for gradients), as ``Cell.{name}.{class}.forward.{n}`` is for
cells; ``n`` counts the executions of a step. The operator's own name stands in the entry itself.
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
# What msprobe takes in paths; it refuses any other character.
_REFUSED = re.compile(r"[^A-Za-z0-9_.\-]")
_HASH_DIGITS = 12


def direction(name: str) -> str:
    """``backward`` for an operator of the gradient."""
    return BACKWARD if name.startswith(GRADIENTS) else FORWARD


def stem(name: str) -> str:
    """An operator's full name as a part of an entry: ``/`` is ``.``, what msprobe refuses is ``_``."""
    return _REFUSED.sub("_", name.replace("/", "."))


class Stems:
    """The stem of each operator of a process.

    A name that is too long, or whose stem another name had before, gets one that ends with a hash of the name.
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
    """The cells an operator lies in, innermost first, as ``construct.json`` names them.

    ``Default/network-WithLossCell/fc1-Dense/MatMul-op0`` lies in ``Cell.network.fc1.Dense.forward.0`` and in
    ``Cell.network.WithLossCell.forward.0``. The root has no name, and parts of a scope that are no cell are left out.
    """
    found: list[str] = []
    path: list[str] = []
    for part in name.split("/")[:-1]:
        attribute, dash, kind = part.partition("-")
        if dash and attribute and kind:
            path.append(stem(attribute))
            found.append(f"{CELL}.{'.'.join(path)}.{stem(kind)}.{direction(name)}.0")
    return found[::-1]
