"""Changes of many goldens that take effect together: all, or none.

New stores are made in ``.msdump-staged`` below the golden directory. ``commit`` writes their manifests there too, links
the files they replace to ``.kept`` in it, makes everything durable, and writes a journal, which says what is to be put
where: from then on the change is decided. Then files are renamed into place, in sorted order, and the journal goes.
Whoever is killed before the journal leaves the goldens as they were, and a folder that the next session removes; after
it, the next session of any kind completes the change (``recover``). Where a file cannot be put in place, the journal is
renamed, and says from then on what is to be undone. One change at a time holds the directory's lock.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import NamedTuple, Self

from harness import atomic
from harness.atomic import DEFAULT_TIMEOUT, writer_lock
from harness.errors import LockError, StoreError, StoreWriteError
from harness.reading import read_bytes, read_json
from harness.store import manifest
from harness.store.layout.schema import FOLDER, Compression, RunId
from harness.store.read import StoredRun
from harness.store.write import RunData, UpdateResult, update

JOURNAL, UNDOING = "journal.json", "undo.json"
_FORMAT = "msdump journal 2"
#: Where the files lie that a change replaces or removes.
_KEPT = ".kept"
#: A journal of more bytes is not read.
_MAX_JOURNAL = 256 * 2**20


class Transaction:
    """A change of the goldens of a directory; a ``with`` statement that is left without ``commit`` drops it.

    Args:
        golden: the directory; it is made where it is missing.
        joined: whether another process holds the lock, and will commit.
        timeout: seconds to wait for another change.

    Raises:
        LockError: another change of these goldens goes on.
        StoreWriteError: the directory cannot be written to.
    """

    def __init__(self, golden: Path, *, joined: bool = False, timeout: float = DEFAULT_TIMEOUT) -> None:
        self.golden = golden
        self._staged = golden / FOLDER
        self._removed: set[str] = set()
        self._ended = False
        self._lock = ExitStack()
        if joined:
            return
        try:
            golden.mkdir(parents=True, exist_ok=True)
            self._lock.enter_context(writer_lock(_locked(golden), timeout))
            _settle(self._staged)
            self._staged.mkdir()
        except OSError as error:
            self._lock.close()
            raise _failed(golden, error) from error
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.drop()

    def update(
        self, name: str, network: str, runs: Mapping[RunId, RunData | StoredRun | None],
        compression: Compression | None = None,
    ) -> UpdateResult:  # fmt: skip
        """``store.update`` of the store ``name`` (a path below the directory), to take effect with the rest.

        Raises:
            LockError, StoreError, StoreWriteError: as ``store.update``.
        """
        target = self._staged / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _failed(self.golden, error) from error
        done = update(target, network, runs, compression=compression, settle=False, base=self.golden / name)
        if not done.exists:
            self.remove(name)
        return replace(done, path=self.golden / name)

    def remove(self, name: str) -> None:
        """Removes a store, with its manifest, when the change takes effect."""
        self._removed |= {name, manifest.path_of(name)}
        with suppress(FileNotFoundError):
            (self._staged / name).unlink()

    def commit(
        self, provenance: manifest.Provenance | None = None, *, describe: Iterable[str] = (), described: bool = True
    ) -> list[str]:
        """Lets the change take effect, manifests included; gives the stores that changed.

        Args:
            provenance: where the runs come from (see ``manifest.rebuild``).
            describe: stores that did not change, and whose manifest is to be right all the same.
            described: False where a store in a directory without manifests gets none.

        Raises:
            StoreError, StoreWriteError: nothing has taken effect, unless ``unfinished``.
        """
        names = manifest.store_paths(self._staged)
        try:
            known = names if described else [name for name in names if self._is_described(name)]
            removed = self._describe(known, describe, provenance or {})
            files = [path.relative_to(self._staged).as_posix() for path in _files(self._staged)]
            if files or removed:
                self._decide(files, removed)
                _complete(self._staged)
        except OSError as error:
            _undo(self._staged, error)
            raise _failed(self.golden, error) from error
        return names

    @property
    def unfinished(self) -> bool:
        """Whether a change was decided that could neither be completed nor undone; the next command tries again."""
        return any((self._staged / name).exists() for name in (JOURNAL, UNDOING))

    def _decide(self, files: list[str], removed: list[str]) -> None:
        """Keeps what will be replaced, makes everything durable, and writes the journal."""
        fresh = [name for name in files if not os.path.lexists(self.golden / name)]
        for name in sorted({*files, *removed} - {*fresh}):
            kept = self._staged / _KEPT / name
            kept.parent.mkdir(parents=True, exist_ok=True)
            _keep(self.golden / name, kept)
        for folder in {path.parent for path in _files(self._staged)} | {self._staged}:
            atomic.flush_directory(folder)
        journal = {"format": _FORMAT, "files": files, "remove": removed, "fresh": fresh}
        atomic.write_atomically(self._staged / JOURNAL, json.dumps(journal, indent=1).encode())

    def _is_described(self, name: str) -> bool:
        beside = (self.golden / name).parent.glob(f"*{manifest.SUFFIX}")
        return (self.golden / manifest.NAME).exists() or any(beside)

    def _describe(self, names: list[str], also: Iterable[str], provenance: manifest.Provenance) -> list[str]:
        """Stages the manifests of changed stores, and those that are missing; gives what has to go."""
        there = [name for name in manifest.store_paths(self.golden) if name not in self._removed]
        legacy = (self.golden / manifest.NAME).exists()
        kept = sorted((set(there) if legacy else set(also) & set(there)) - set(names))
        known = manifest.runs_of(manifest.read(self.golden, [*names, *kept], broken_is_none=True))
        for name in [*names, *kept]:
            path = (self._staged if name in names else self.golden) / name
            text = manifest.describe(path, name, known, provenance)
            place = manifest.path_of(name)
            if not _holds(self.golden / place, text):
                (self._staged / place).parent.mkdir(parents=True, exist_ok=True)
                atomic.write_atomically(self._staged / place, text, directory=False)
        removed = {name for name in self._removed if (self.golden / name).exists() and name not in names}
        return sorted(removed - set(map(manifest.path_of, names)) | ({manifest.NAME} if legacy else set()))

    def drop(self) -> None:
        """Ends it: what was not committed is gone. The second time, another change may have begun: it stays."""
        if self._ended:
            return
        self._ended = True
        with self._lock:
            if self.unfinished:
                return
            shutil.rmtree(self._staged, ignore_errors=True)
        with suppress(OSError):
            self.golden.rmdir()  # made for nothing


def change_one(
    store: Path, network: str, runs: Mapping[RunId, RunData | StoredRun | None],
    compression: Compression | None = None,
) -> UpdateResult:  # fmt: skip
    """``store.update`` of one store together with its manifest, if its directory has any: both, or neither.

    Raises:
        LockError, StoreError, StoreWriteError: as ``store.update``; nothing has changed.
    """
    if not store.parent.is_dir():
        raise StoreWriteError(f"{store}: there is no directory {store.parent}")
    place = store.parent.resolve() / store.name
    above = next((each for each in place.parents if (each / manifest.NAME).is_file()), store.parent)
    name = place.relative_to(above.resolve()).as_posix()
    with Transaction(above) as change, writer_lock(store):
        done = change.update(name, network, runs, compression)
        change.commit(described=False, describe=[name] if (above / manifest.path_of(name)).exists() else [])
    return replace(done, path=store)


def recover(golden: Path) -> list[str]:
    """Completes an interrupted change of these goldens, or removes what it left; gives the files it put in place.

    Nothing happens while the change goes on in another process.

    Raises:
        StoreError: it cannot be completed; the error names what is unfinished.
    """
    found = [Path(folder) / FOLDER for folder, folders, _ in os.walk(golden) if FOLDER in folders]
    return [name for staged in found for name in recover_staged(staged)]


def recover_staged(staged: Path) -> list[str]:
    """``recover`` of one interrupted change, staged in this folder."""
    try:
        with writer_lock(_locked(staged.parent), 0):
            return _settle(staged)
    except LockError:
        return []
    except (OSError, StoreWriteError) as error:
        if not any(os.path.lexists(staged / name) for name in (JOURNAL, UNDOING)):
            return []  # nothing was decided, and what was left over harms nobody
        why = error if isinstance(error, OSError) else OSError(str(error))
        raise _unfinished(staged, why) from None


def _settle(staged: Path) -> list[str]:
    """Completes what was decided, undoes it where that cannot be, and removes the folder; gives the files that were put
    in place."""
    if not staged.is_dir():
        return []
    if os.path.lexists(staged / UNDOING):
        _undo(staged, None)
    try:
        return _complete(staged)
    except OSError as error:
        _undo(staged, error)
        return []


class _Journal(NamedTuple):
    """What was decided: files to be put in place, files to be removed, and which of the former replace none."""

    files: list[str]
    remove: list[str]
    fresh: list[str]


def _complete(staged: Path) -> list[str]:
    """Puts in place what a journal says, and removes the folder; gives the files that were put in place."""
    golden = staged.parent
    files, remove, _ = _journal(staged, JOURNAL)
    done = []
    for name in files:
        if (staged / name).exists():
            (golden / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(staged / name, golden / name)
            done.append(name)
    for name in remove:
        with suppress(FileNotFoundError):
            (golden / name).unlink()
    _flush(golden, [*files, *remove])
    _forget(staged, JOURNAL)
    return done


def _undo(staged: Path, why: OSError | None) -> None:
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
            if os.path.lexists(staged / _KEPT / name):
                os.replace(staged / _KEPT / name, golden / name)
        _flush(golden, [*files, *remove])
        _forget(staged, UNDOING)
    except OSError as error:
        raise _unfinished(staged, why or error) from error


def _flush(golden: Path, names: list[str]) -> None:
    for folder in sorted({(golden / name).parent for name in names}):
        if folder.is_dir():
            atomic.flush_directory(folder)


def _forget(staged: Path, name: str) -> None:
    """Ends a change that is complete, or undone; what cannot be cleared away the next one clears."""
    (staged / name).unlink(missing_ok=True)
    with suppress(OSError):
        atomic.flush_directory(staged)
        shutil.rmtree(staged)


def _keep(path: Path, kept: Path) -> None:
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
        if journal["format"] != _FORMAT:
            raise ValueError(journal["format"])
        for name in [name for names in lists for name in names]:
            _hold_inside(staged, name)
    except (OSError, StoreError, ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{staged / at}: not a journal of this version ({error}); remove {staged}") from None
    return lists


def _hold_inside(staged: Path, name: str) -> None:
    """Raises ``ValueError`` for a name in a journal that leads elsewhere, or is no golden's."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.name.endswith((".h5", ".json")):
        raise ValueError(name)
    home, target = staged.parent.resolve(), (staged.parent / path).parent.resolve()
    folders = [(staged / top / path).parent.resolve() for top in ("", _KEPT)]
    if not target.is_relative_to(home) or not all(each.is_relative_to(staged.resolve()) for each in folders):
        raise ValueError(f"{name} leads elsewhere")
    if (staged / path).is_symlink():
        raise ValueError(f"{name} leads elsewhere")


def _files(staged: Path) -> list[Path]:
    """Everything that was staged, stores before manifests."""
    found = [path for path in staged.rglob("*") if path.is_file()]
    shown = [path for path in found if not any(part.startswith(".") for part in path.relative_to(staged).parts)]
    return sorted(shown, key=lambda path: (path.suffix != ".h5", path))


def _holds(path: Path, content: bytes) -> bool:
    try:
        return read_bytes(path, len(content), StoreError) == content
    except StoreError:
        return False


def _locked(golden: Path) -> Path:
    """What the lock of a directory's goldens is named after."""
    return golden / "goldens"


def _failed(golden: Path, error: OSError) -> StoreWriteError:
    return StoreWriteError(
        f"{golden}: the goldens could not be written ({atomic.reason(error)}); what was there before stands"
    )
