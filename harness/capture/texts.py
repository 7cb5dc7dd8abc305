"""Texts that are made when they are first read: a check of tensors needs none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping


class Texts(Mapping[str, bytes]):
    """UTF-8 texts by path; a function makes its text at the first request.

    Args:
        source: texts, or functions without arguments that make them.
    """

    def __init__(self, source: Mapping[str, str | Callable[[], str]]) -> None:
        self._source = dict(source)
        self._made: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> bytes:
        found = self._made.get(name)
        if found is None:
            text = self._source[name]
            found = self._made[name] = (text if isinstance(text, str) else text()).encode()
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._source)

    def __len__(self) -> int:
        return len(self._source)


class Joined(Mapping[str, bytes]):
    """The texts of two mappings that share no name; no text is made before it is read."""

    def __init__(self, first: Mapping[str, bytes], second: Mapping[str, bytes]) -> None:
        self._first, self._second = first, second

    def __getitem__(self, name: str) -> bytes:
        return self._second[name] if name in self._second else self._first[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._first
        yield from self._second

    def __len__(self) -> int:
        return len(self._first) + len(self._second)
