"""Which of the networks of a tree is read."""

from __future__ import annotations

from collections.abc import Iterable

from harness.errors import TreeError


def chosen(names: Iterable[str], wanted: str | None, path: str) -> str:
    """The network to read; empty where there is none.

    Args:
        names: of all there are, in any order.
        wanted: by name; None for the only one.
        path: of the tree, as it was given.

    Raises:
        TreeError: no such network; several, and none is named.
    """
    there = sorted(set(names))
    if wanted is None and len(there) > 1:
        raise TreeError(f"{path}: tensors of several networks: {', '.join(there)}; say which one to read")
    if wanted is not None and wanted not in there:
        raise TreeError(f"{path}: no network {wanted!r} in it; it holds {', '.join(there) or 'no tensors'}")
    return wanted or (there[0] if there else "")
