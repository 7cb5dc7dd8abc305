"""What was decided of a change of goldens (``transaction``): written down, completed by the next command, or undone."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from harness import atomic
from harness.atomic import lock_path, writer_lock
from harness.errors import LockError, StoreError, StoreWriteError
from harness.reading import read_json
from harness.store.layout.schema import FOLDER

JOURNAL, UNDOING = "journal.json", "undo.json"
FORMAT = "msdump journal 2"
#: Where the files lie that a change replaces or removes.
KEPT = ".kept"
#: A journal of more bytes is not read.
_MAX_JOURNAL = 256 * 2**20


def recover(golden: Path) -> list[str]:
    """Completes an interrupted change of these goldens, or removes what it left; gives the files it put in place.

    Nothing happens while the change goes on in another process.

    Raises:
        StoreError: it cannot be completed; the error names what is unfinished.
    """
    done: list[str] = []
    for folder, folders, files in os.walk(golden):
        here = Path(folder)
        if FOLDER in folders or lock_path(locked(here)).name in files:
            done += recover_staged(here / FOLDER)
        for name in files:
            if name.startswith(".") and name.endswith(".h5.lock"):
                _sweep(here / name[1:].removesuffix(".lock"))
            atomic.sweep_broken_lock(here / name)
    return done


def _sweep(store: Path) -> None:
    """Removes the lock of a killed writer's."""
    with suppress(LockError, StoreWriteError), writer_lock(store, 0):
        pass


def is_being_put_in_place(golden: Path) -> bool:
    """Whether files of a change that was decided are on their way to their places, or wait for the next command."""
    return any((golden / FOLDER / name).exists() for name in (JOURNAL, UNDOING))


def recover_staged(staged: Path) -> list[str]:
    """``recover`` of one interrupted change, staged in this folder."""
    try:
        with writer_lock(locked(staged.parent), 0):
            return settle(staged)
    except LockError:
        return []
    except (OSError, StoreWriteError) as error:
        if not any(os.path.lexists(staged / name) for name in (JOURNAL, UNDOING)):
            return []  # nothing was decided, and what was left over harms nobody
        why = error if isinstance(error, OSError) else OSError(str(error))
        raise _unfinished(staged, why) from None


def settle(staged: Path) -> list[str]:
    """Completes what was decided, undoes it where that cannot be, and removes the folder; gives the files that were put
    in place."""
    if not staged.is_dir():
        return []
    if os.path.lexists(staged / UNDOING):
        undo(staged, None)
    try:
        return complete(staged)
    except OSError as error:
        undo(staged, error)
        return []


class _Journal(NamedTuple):
    """What was decided: files to be put in place, files to be removed, and which of the former replace none."""

    files: list[str]
    remove: list[str]
    fresh: list[str]


def complete(staged: Path) -> list[str]:
    """Puts in place what a journal says, and removes the folder; gives the files that were put in place."""
    golden = staged.parent
    files, remove, _ = _journal(staged, JOURNAL)
    done = []
    made = [name for name in files if not (golden / name).parent.is_dir() and (staged / name).parent.is_dir()]
    for name in made:
        (golden / name).parent.mkdir(parents=True, exist_ok=True)
    if made:  # before anything moves there: what lies in a folder that a loss of power takes is lost
        flush_folders(golden, made)
    for name in files:
        if os.path.exists(f"{staged}/{name}"):
            os.replace(f"{staged}/{name}", f"{golden}/{name}")
            done.append(name)
    for name in remove:
        with suppress(FileNotFoundError):
            (golden / name).unlink()
    flush_folders(golden, [*files, *remove])
    _forget(staged, JOURNAL)
    return done


def undo(staged: Path, why: OSError | None) -> None:
    """Takes back what was decided, as far as it went, and removes the folder.

    Raises:
        StoreError: that cannot be done either; the error names what is unfinished.
    """
    golden = staged.parent
    try:
        if os.path.lexists(staged / JOURNAL):
            os.replace(staged / JOURNAL, staged / UNDOING)
            with suppress(OSError):
                atomic.flush_directory(staged)
        if not os.path.lexists(staged / UNDOING):
            return  # nothing was decided
        files, remove, fresh = _journal(staged, UNDOING)
        for name in fresh:
            (golden / name).unlink(missing_ok=True)
            with suppress(OSError):
                (golden / name).parent.rmdir()  # made for it
        for name in sorted({*files, *remove} - {*fresh}):
            if os.path.lexists(staged / KEPT / name):
                os.replace(staged / KEPT / name, golden / name)
        flush_folders(golden, [*files, *remove])
        _forget(staged, UNDOING)
    except OSError as error:
        raise _unfinished(staged, why or error) from error


def flush_folders(top: Path, names: list[str]) -> None:
    """Makes the names of these files below a directory durable, with those of all folders that lead to them."""
    above = {str(each) for name in names for each in PurePosixPath(name).parents}
    for folder in sorted({*above, "."}):
        if (top / folder).is_dir():
            atomic.flush_directory(top / folder)


def _forget(staged: Path, name: str) -> None:
    """Ends a change that is complete, or undone; what cannot be cleared away the next one clears."""
    (staged / name).unlink(missing_ok=True)
    with suppress(OSError):
        atomic.flush_directory(staged)
        shutil.rmtree(staged)


def keep(path: Path, kept: Path) -> None:
    """Gives a file that will be replaced a second name, or a copy where there are no hard links."""
    try:
        os.link(path, kept, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV):
            raise
        shutil.copy2(path, kept, follow_symlinks=False)


def _unfinished(staged: Path, error: OSError) -> StoreError:
    names: list[str] = []
    for name in (JOURNAL, UNDOING):
        if os.path.lexists(staged / name):
            names = _journal(staged, name).files or _journal(staged, name).remove
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return StoreError(
        f"{staged.parent}: an interrupted change of these goldens is unfinished and cannot be completed here "
        f"({atomic.reason(error)}): {', '.join(names[:8])}{more}"
    )


def _journal(staged: Path, at: str) -> _Journal:
    """What was decided; nothing where there is no journal."""
    try:
        if not os.path.lexists(staged / at):
            return _Journal([], [], [])
        journal = read_json(staged / at, _MAX_JOURNAL, StoreError)
        lists = _Journal(journal["files"], journal["remove"], journal["fresh"])
        if journal["format"] != FORMAT:
            raise ValueError(journal["format"])
        leads_inside = cache(partial(_leads_inside, staged))  # the files of a change lie in few folders
        for name in dict.fromkeys(name for names in lists for name in names):
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or not path.name.endswith((".h5", ".json")):
                raise ValueError(name)
            if not leads_inside(path.parent) or os.path.islink(f"{staged}/{name}"):
                raise ValueError(f"{name} leads elsewhere")
    except (OSError, StoreError, ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{staged / at}: not a journal of this version ({error}); remove {staged}") from None
    return lists


def _leads_inside(staged: Path, folder: PurePosixPath) -> bool:
    """Whether a folder of a change lies inside its directory, on every side of the change."""
    home, real = staged.parent.resolve(), staged.resolve()
    if not (staged.parent / folder).resolve().is_relative_to(home):
        return False
    return all((staged / top / folder).resolve().is_relative_to(real) for top in ("", KEPT))


def locked(golden: Path) -> Path:
    """What the lock of a directory's goldens is named after."""
    return golden / "goldens"
