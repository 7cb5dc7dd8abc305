"""Mappings that are made when something of them is first asked for: a check of tensors needs none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

Key = TypeVar("Key")
Item = TypeVar("Item")


class Made(Mapping[Key, Item]):
    """A mapping that a function makes at the first request. A pickle holds what it made.

    Args:
        make: called at most once.
    """

    def __init__(self, make: Callable[[], Mapping[Key, Item]]) -> None:
        self._make: Callable[[], Mapping[Key, Item]] | None = make
        self._found: Mapping[Key, Item] = {}

    @property
    def _made(self) -> Mapping[Key, Item]:
        if self._make is not None:
            self._found, self._make = self._make(), None
        return self._found

    def __getitem__(self, key: Key) -> Item:
        return self._made[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __getstate__(self) -> dict[str, Any]:
        return {"_make": None, "_found": dict(self._made)}

    def __repr__(self) -> str:
        return repr(dict(self._made))
