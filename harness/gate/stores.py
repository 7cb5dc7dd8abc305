"""Keeps the last golden store open, because the tests of a network follow one another and share it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from harness.capture.lookup import nowhere as nowhere
from harness.errors import HarnessError, SettingError
from harness.records import GIVEN_SCOPE, Array, SlotKey
from harness.store import GoldenStore, RunId
from harness.store.read import state_of

#: Bytes of tensors that stay in memory once they were read and checked.
KEPT = 64 << 20


class Opened:
    """Opens stores for reading; an unchanged file is not opened a second time."""

    def __init__(self) -> None:
        self._store: GoldenStore | None = None
        self._path: str | os.PathLike[str] = ""

    def open(self, path: str | os.PathLike[str]) -> GoldenStore:
        """Returns the store at ``path``; callers must not close it.

        Raises:
            FileNotFoundError, StoreError: as ``GoldenStore.open``.
        """
        store = self._store
        if store is None or store.closed or self._path != path or not _is(store, path):
            self.close()
            store = self._store = GoldenStore.open(path, keep=KEPT)
            self._path = path
        return store

    def close(self) -> None:
        """Closes what is open."""
        if self._store is not None:
            self._store.close()
        self._store = None


def _is(store: GoldenStore, path: str | os.PathLike[str]) -> bool:
    """Whether ``path`` still leads to the file that ``store`` opened, as it was then."""
    try:
        return store.state == state_of(os.stat(path))
    except OSError:
        return False


OPENED = Opened()


def stored_in(path: str, run: tuple[Any, ...], key: SlotKey, content: bytes) -> Callable[[], Array] | None:
    """What loads the values of a slot of a golden's run; None if the golden has no such values, or cannot be read: what
    is wrong with it is told when the test is judged.

    Args:
        run: its key, see ``RunId``.
        content: digest of the values.
    """
    try:
        return OPENED.open(path).run(*run).loader(key, content)
    except (FileNotFoundError, HarnessError):
        return None


def has_given(path: str, run: tuple[Any, ...], name: str) -> bool:
    """Whether a golden's run has a value of this name that a test gave; False if the golden cannot be read."""
    key = SlotKey(0, 0, 0, f"{GIVEN_SCOPE}/{name}", 0, "output", 0)
    try:
        return key in OPENED.open(path).run(*run).index.position
    except (FileNotFoundError, HarnessError):
        return False


def value_of(path: str, run: tuple[Any, ...], name: str) -> Array | str | None:
    """What a golden's run holds under a name.

    Args:
        run: its key, see ``RunId``.
        name: of a value that a test gave, or ``OPERATOR:output.0`` in the first iteration.

    Returns:
        The tensor, a text, or None if there is no such golden, or it has no such run yet.

    Raises:
        SettingError: the run has nothing of that name, or keeps no values.
        StoreError: the golden cannot be read.
    """
    from difflib import get_close_matches

    from harness.capture.capture import COMPARED

    try:
        store = OPENED.open(path)
    except FileNotFoundError:
        return None
    if RunId(*run) not in store.runs():
        return None
    stored = store.run(*run)
    operator, _, slot = name.rpartition(":")
    given = f"{GIVEN_SCOPE}/{name}"
    rows = stored.index.position
    found = {
        key: row
        for key, row in rows.items()
        if (key.operator, key.slot_name) in ((given, "output.0"), (operator, slot))
    }
    if found:
        if stored.level != "tensors":
            raise SettingError(f"msdump.golden: {name!r}: the golden keeps digests only (level {stored.level})")
        return stored.tensor(found[min(found, key=lambda key: (key.iteration, key.execution))])
    texts = stored.artefacts()
    text = texts.get(f"{COMPARED}{given}.txt")
    if text is not None:
        return text.decode(errors="surrogateescape")
    known = [key.operator.removeprefix(f"{GIVEN_SCOPE}/") for key in rows if key.operator.startswith(f"{GIVEN_SCOPE}/")]
    known += [
        each[len(f"{COMPARED}{GIVEN_SCOPE}/") : -4] for each in texts if each.startswith(f"{COMPARED}{GIVEN_SCOPE}/")
    ]
    known += [f"{key.operator}:{key.slot_name}" for key in rows if not key.operator.startswith(f"{GIVEN_SCOPE}/")]
    near = get_close_matches(name, known, 3, 0.5) or known[:3]
    raise SettingError(f"msdump.golden: the golden has no {name!r}; it has {', '.join(near)}, ...")
