"""The scopes that a capture of PyTorch watches."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from harness.errors import SettingError, SettingTypeError


class Selection:
    """A name filter over scopes (``Default/layer1-Sequential/0-Linear``).

    Args:
        patterns: globs (``*`` crosses ``/``); one that matches a scope selects everything below it too. None selects
            all, an empty sequence nothing.

    Raises:
        SettingTypeError: neither None nor strings.
        SettingError: an empty pattern.
    """

    def __init__(self, patterns: str | Iterable[str] | None) -> None:
        given = (patterns,) if isinstance(patterns, str) else patterns
        self._patterns: tuple[str, ...] | None = None
        if given is not None:
            try:
                self._patterns = tuple(given)
            except TypeError:
                raise SettingTypeError(f"select: {patterns!r} is neither a glob, nor several, nor None") from None
            if wrong := [each for each in self._patterns if not isinstance(each, str)]:
                raise SettingTypeError(f"select: a glob is a string such as 'Default/fc1-*', got {wrong[0]!r}")
            if not all(self._patterns):
                raise SettingError("select: an empty glob matches nothing; give () to select nothing")
        self._known: dict[str, bool] = {}

    @property
    def nothing(self) -> bool:
        """Whether everything is left out."""
        return self._patterns == ()

    def has(self, scope: str) -> bool:
        """Whether ``scope``, or one above it, is selected."""
        found = self._known.get(scope)
        if found is None:
            found = self._known[scope] = self._patterns is None or self._matches(scope)
        return found

    def _matches(self, scope: str) -> bool:
        parts = scope.split("/")
        above = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
        return any(fnmatchcase(each, pattern) for each in above for pattern in self._patterns or ())
