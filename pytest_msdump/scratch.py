"""The directory of what a session leaves beside its goldens."""

from __future__ import annotations

from pathlib import Path

SCRATCH = ".msdump"


def scratch(root: Path, name: str) -> Path:
    """``root/.msdump/name``; the directory's own .gitignore keeps it out of the repository.

    Raises:
        StoreWriteError: it cannot be made.
    """
    folder = root / SCRATCH
    ignore = folder / ".gitignore"
    try:
        folder.mkdir(exist_ok=True)
        if not ignore.exists():
            ignore.write_text("# Made by pytest-msdump.\n*\n", encoding="utf-8")
    except OSError as error:
        from harness.atomic import reason
        from harness.errors import StoreWriteError

        raise StoreWriteError(f"{folder}: cannot be written ({reason(error)})") from error
    return folder / name
