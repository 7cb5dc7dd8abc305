"""What cells tell the compiler, which stands below them: ``nn.Cell`` derives from ``Described``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Described:
    """A cell, as far as the compiler asks. A cell whose ``__init__`` was not called has none of these attributes.

    Attributes:
        _scope: where its operators stand (``Default/fc1-Dense``); None until it is given one.
        _cells: the cells inside it, by name.
        _dump: whether ``set_dump`` marked it; absent for one that was never marked.
    """

    _scope: str | None
    _cells: Mapping[str, Any]
    _dump: bool


def scope_of(owner: Any) -> str | None:
    """The scope of a cell; None for a cell that has none yet, and for anything else."""
    return owner._scope if isinstance(owner, Described) and "_scope" in owner.__dict__ else None


def cells_of(owner: Any) -> Mapping[str, Any]:
    """The cells inside a cell, by name; none for anything else."""
    return owner._cells if isinstance(owner, Described) and "_cells" in owner.__dict__ else {}


def is_dumped(owner: Any) -> bool:
    """Whether ``set_dump`` marked a cell."""
    return isinstance(owner, Described) and "_dump" in owner.__dict__ and owner._dump
