"""What all suites share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Suite:
    """Rules about one extension: each method ``test_...`` is one. It raises ``AssertionError``, also under ``-O``."""

    @classmethod
    def rules(cls) -> list[str]:
        """The names of the rules, in order."""
        return [name for name in dir(cls) if name.startswith("test_")]

    def broken(self) -> dict[str, str]:
        """Asks every rule, without pytest: those that do not hold, and what they say.

        An error of another kind counts: an extension must not end whoever uses it.
        """
        found = {}
        for name in self.rules():
            try:
                getattr(self, name)()
            except Exception as error:
                found[name] = f"{type(error).__name__}: {error}"
        return found


def expect(holds: Any, otherwise: str) -> None:
    """Raises ``AssertionError`` with ``otherwise`` unless ``holds``."""
    if not holds:
        raise AssertionError(otherwise)


def same(one: Array, other: Array) -> bool:
    """Whether two arrays have one dtype, one shape and the same bits."""
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A directory for one rule."""
    with TemporaryDirectory(prefix="msdump-suite-") as made:
        yield Path(made)


@contextlib.contextmanager
def refused(kinds: type[BaseException] | tuple[type[BaseException], ...], what: str) -> Iterator[None]:
    """The block must raise one of ``kinds``."""
    try:
        yield
    except kinds:
        return
    raise AssertionError(f"{what} was accepted")
