"""Changes of many goldens that take effect together: all, or none.

New stores are made in ``.msdump-staged`` below the golden directory. ``commit`` writes their manifests there too, makes
everything durable, and writes a journal, which says what is to be put where: from then on the change is decided. Then
files are renamed into place, in sorted order, and the journal goes. Whoever is killed before the journal leaves the
goldens as they were, and a folder that the next session removes; after it, the next session of any kind completes the
change (``recover``). One change at a time holds the directory's lock.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

from harness import atomic
from harness.atomic import DEFAULT_TIMEOUT, writer_lock
from harness.errors import LockError, StoreError, StoreWriteError
from harness.reading import read_bytes, read_json
from harness.store import manifest
from harness.store.layout.schema import FOLDER, Compression, RunId
from harness.store.read import StoredRun
from harness.store.write import RunData, UpdateResult, update

JOURNAL = "journal.json"
_FORMAT = "msdump journal 1"
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
        self._lock = ExitStack()
        if joined:
            return
        try:
            golden.mkdir(parents=True, exist_ok=True)
            self._lock.enter_context(writer_lock(_locked(golden), timeout))
            _complete(self._staged)
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
            StoreError, StoreWriteError: nothing has taken effect.
        """
        names = manifest.store_paths(self._staged)
        try:
            known = names if described else [name for name in names if self._is_described(name)]
            removed = self._describe(known, describe, provenance or {})
            files = [path.relative_to(self._staged).as_posix() for path in _files(self._staged)]
            if files or removed:
                for folder in {path.parent for path in _files(self._staged)} | {self._staged}:
                    atomic.flush_directory(folder)
                text = json.dumps({"format": _FORMAT, "files": files, "remove": removed}, indent=1)
                atomic.write_atomically(self._staged / JOURNAL, text.encode())
                _complete(self._staged)
        except OSError as error:
            raise _failed(self.golden, error) from error
        return names

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
        """Ends it: what was not committed is gone."""
        with self._lock:
            if (self._staged / JOURNAL).exists():  # decided, and interrupted by an error: the next session completes it
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
            return _complete(staged)
    except LockError:
        return []
    except (OSError, StoreWriteError) as error:
        unfinished = ", ".join(_journal(staged)[0][:8])
        if not unfinished:
            return []  # nothing was decided, and what was left over harms nobody
        why = atomic.reason(error) if isinstance(error, OSError) else str(error)
        text = f"{staged.parent}: an interrupted change of these goldens is unfinished and cannot be completed here"
        raise StoreError(f"{text} ({why}): {unfinished}") from None


def _complete(staged: Path) -> list[str]:
    """Puts in place what a journal says, and removes the folder; gives the files that were put in place."""
    if not staged.is_dir():
        return []
    golden = staged.parent
    files, remove = _journal(staged)
    done = []
    for name in files:
        if (staged / name).exists():
            (golden / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(staged / name, golden / name)
            done.append(name)
    for name in remove:
        with suppress(FileNotFoundError):
            (golden / name).unlink()
    for folder in sorted({(golden / name).parent for name in [*files, *remove]}):
        if folder.is_dir():
            atomic.flush_directory(folder)
    with suppress(FileNotFoundError):
        atomic.remove(staged / JOURNAL)
    shutil.rmtree(staged)
    return done


def _journal(staged: Path) -> tuple[list[str], list[str]]:
    """Files to be put in place, and files to be removed; none if nothing was decided."""
    try:
        if not os.path.lexists(staged / JOURNAL):
            return [], []
        journal = read_json(staged / JOURNAL, _MAX_JOURNAL, StoreError)
        lists = journal["files"], journal["remove"]
        if journal["format"] != _FORMAT:
            raise ValueError(journal["format"])
        for name in [*lists[0], *lists[1]]:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or not path.name.endswith((".h5", ".json")):
                raise ValueError(name)
            home, target = staged.parent.resolve(), (staged.parent / path).parent.resolve()
            if not target.is_relative_to(home) or (staged / path).is_symlink():
                raise ValueError(f"{name} leads elsewhere")
    except (OSError, StoreError, ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{staged / JOURNAL}: not a journal of this version ({error}); remove {staged}") from None
    return lists


def _files(staged: Path) -> list[Path]:
    """Everything that was staged, stores before manifests."""
    found = [path for path in staged.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return sorted(found, key=lambda path: (path.suffix != ".h5", path))


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
