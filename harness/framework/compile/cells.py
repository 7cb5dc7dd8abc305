"""What cells tell the compiler, which stands below them: ``nn.Cell`` derives from ``Described``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.framework.tensor.watching import call_observer


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
    if not isinstance(owner, Described) or "_scope" not in owner.__dict__:
        return None
    if owner._scope is None and (heard := call_observer()) is not None:
        return heard.scope_of(owner)
    return owner._scope


def cells_of(owner: Any) -> Mapping[str, Any]:
    """The cells inside a cell, by name; none for anything else."""
    return owner._cells if isinstance(owner, Described) and "_cells" in owner.__dict__ else {}


def is_dumped(owner: Any) -> bool:
    """Whether ``set_dump`` marked a cell."""
    return isinstance(owner, Described) and "_dump" in owner.__dict__ and owner._dump
