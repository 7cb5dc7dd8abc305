"""Whoever reads goldens looks first whether a change of them was interrupted; without one that costs little."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from harness.store.layout.schema import FOLDER


def recover_around(path: str | os.PathLike[str]) -> None:
    """Completes or undoes an interrupted change of what may hold the store at ``path``.

    Looked at are the directories it lies in, and ``path`` itself if it is one. What others own is left alone: their
    changes are not for this user to complete.

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
    with suppress(OSError, ValueError):  # none there, or nobody may look
        return not hasattr(os, "geteuid") or staged.lstat().st_uid == os.geteuid()
    return False
