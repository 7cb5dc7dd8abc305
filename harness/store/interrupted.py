"""Before goldens are read, an interrupted change of them is completed or undone; without one the check costs little."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from harness import portable
from harness.store.layout.schema import FOLDER


def recover_around(path: str | os.PathLike[str]) -> None:
    """Completes or undoes an interrupted change of what may hold the store at ``path``.

    It checks the directories above the store, and ``path`` itself if it is a directory. Directories of other users are
    left alone: this user must not complete their changes.

    Raises:
        StoreError: as ``transaction.recover``.
    """
    here = Path(path).absolute()
    for folder in (here, *here.parents):
        if is_ours(folder / FOLDER):
            from harness.store.journal import recover_staged

            recover_staged(folder / FOLDER)


def is_ours(staged: Path) -> bool:
    """Whether a change of this user's is staged here."""
    with suppress(OSError, ValueError):  # missing, or not readable
        return portable.own(staged.lstat())
    return False
