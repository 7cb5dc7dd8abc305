"""Changes of many goldens that take effect together: all, or none.

New stores are made in ``.msdump-staged`` below the golden directory. ``commit`` writes their manifests there too, links
the files they replace to ``.kept`` in it, makes everything durable, and writes a journal, which says what is to be put
where: from then on the change is decided. Then files are renamed into place, in sorted order, and the journal is
removed. A process killed before it wrote the journal leaves the goldens unchanged, and a folder that the next session
removes. If it is killed later, the next session of any kind completes the change (``recover``). If a file cannot be put
in place, the journal is renamed, and from then on says what to undo. One change at a time holds the directory's lock.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness import atomic
from harness.atomic import DEFAULT_TIMEOUT, writer_lock
from harness.errors import StoreError, StoreWriteError
from harness.reading import read_bytes
from harness.store import manifest
from harness.store.interrupted import is_ours
from harness.store.journal import (
    FORMAT,
    JOURNAL,
    KEPT,
    UNDOING,
    complete,
    flush_folders,
    keep,
    locked,
    settle,
    undo,
)  # fmt: skip
from harness.store.layout.schema import FOLDER, Compression, RunId
from harness.store.read import GoldenStore, StoredRun
from harness.store.write import RunData, UpdateResult, update


class Transaction:
    """A change of the goldens of a directory; if the ``with`` block ends without ``commit``, the change is dropped.

    Args:
        golden: the directory; it is made if missing.
        joined: whether another process holds the lock and will commit.
        timeout: seconds to wait for another change.

    Raises:
        LockError: another process is changing these goldens.
        StoreWriteError: the directory cannot be written to.
    """

    def __init__(self, golden: Path, *, joined: bool = False, timeout: float = DEFAULT_TIMEOUT) -> None:
        self.golden = golden
        self._staged = golden / FOLDER
        self._removed: set[str] = set()
        self._inside: set[Path] = set()
        self._ended = False
        self._lock = ExitStack()
        if joined:
            return
        try:
            golden.mkdir(parents=True, exist_ok=True)
            self._lock.enter_context(writer_lock(locked(golden), timeout))
            settle(self._staged)
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
        compression: Compression | None = None, *, held: bool = False, renames: bool = False,
    ) -> UpdateResult:  # fmt: skip
        """``store.update`` of the store ``name`` (a path below the directory), to take effect with the rest.

        Args:
            held: whether the caller holds the store's own lock.
            renames: as of ``store.update``.

        Raises:
            LockError, StoreError, StoreWriteError: as ``store.update``.
        """
        target, base = self._staged / name, self.golden / name
        self._refuse_outside(base.parent)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _failed(self.golden, error) from error
        # ``change_one`` may be about to put another one in place.
        with nullcontext() if held or not base.exists() else writer_lock(base):
            done = update(target, network, runs, compression=compression, settle=False, base=base, renames=renames)
        if not done.exists:
            self.remove(name)
        return replace(done, path=self.golden / name)

    def open(self, name: str) -> GoldenStore:
        """The store ``name`` as it is to be; ``FileNotFoundError`` if there is none."""
        staged = self._staged / name
        return GoldenStore.open(staged if staged.exists() else self.golden / name)

    def _refuse_outside(self, folder: Path) -> None:
        """A directory that is a link to elsewhere may come from a pull request: what lies there is not changed."""
        if folder not in self._inside:
            real, home = (Path(os.path.realpath(each)) for each in (folder, self.golden))
            if not real.is_relative_to(home):
                raise StoreError(f"{folder}: a link to {real}, outside of {self.golden}; no golden is written there")
            self._inside.add(folder)

    def remove(self, name: str) -> None:
        """Removes a store, with its manifest, when the change takes effect; ``StoreError`` if it lies elsewhere."""
        self._refuse_outside((self.golden / name).parent)
        self._removed |= {name, manifest.path_of(name)}
        with suppress(FileNotFoundError):
            (self._staged / name).unlink()

    def commit(
        self, provenance: manifest.Provenance | None = None, *, describe: Iterable[str] = (), described: bool = True
    ) -> list[str]:
        """Puts the change into effect, manifests included; returns the changed stores.

        Args:
            provenance: origin of the runs (see ``manifest.rebuild``).
            describe: unchanged stores whose manifests must be correct as well.
            described: False to write no manifest in a directory without manifests.

        Raises:
            StoreError, StoreWriteError: nothing has taken effect, unless ``unfinished``.
        """
        names = manifest.store_paths(self._staged)
        try:
            known = names if described else [name for name in names if self._is_described(name)]
            removed = self._describe(known, describe, provenance or {})
            files = _files(self._staged)
            if files or removed:
                self._decide(files, removed)
                complete(self._staged)
        except OSError as error:
            undo(self._staged, error)
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
            kept = self._staged / KEPT / name
            kept.parent.mkdir(parents=True, exist_ok=True)
            keep(self.golden / name, kept)
        # The golden directory, too: after a loss of power, nothing else would lead to the journal.
        atomic.flush_directory(self.golden)
        flush_folders(self._staged, _files(self._staged))
        flush_folders(self._staged, [f"{KEPT}/{name}" for name in {*files, *removed} - {*fresh}])
        journal = {"format": FORMAT, "files": files, "remove": removed, "fresh": fresh}
        atomic.write_atomically(self._staged / JOURNAL, json.dumps(journal, indent=1).encode())

    def _is_described(self, name: str) -> bool:
        beside = (self.golden / name).parent.glob(f"*{manifest.SUFFIX}")
        return (self.golden / manifest.NAME).exists() or any(beside)

    def _describe(self, names: list[str], also: Iterable[str], provenance: manifest.Provenance) -> list[str]:
        """Stages the manifests of changed stores and the missing ones; returns the files to remove."""
        there = [name for name in manifest.store_paths(self.golden) if name not in self._removed]
        legacy = (self.golden / manifest.NAME).exists()
        kept = sorted((set(there) if legacy else set(also) & set(there)) - set(names))
        known = manifest.runs_of(manifest.read(self.golden, [*names, *kept], broken_is_none=True))
        changed = set(names)
        for name in [*names, *kept]:
            path = (self._staged if name in changed else self.golden) / name
            text = manifest.describe(path, name, known, provenance)
            place = manifest.path_of(name)
            if not _holds(self.golden / place, text):
                (self._staged / place).parent.mkdir(parents=True, exist_ok=True)
                atomic.write_atomically(self._staged / place, text, directory=False)
        removed = {name for name in self._removed if (self.golden / name).exists() and name not in names}
        return sorted(removed - set(map(manifest.path_of, names)) | ({manifest.NAME} if legacy else set()))

    def drop(self) -> None:
        """Ends the transaction; changes that were not committed are lost. The second time, another change may have
        begun: it stays."""
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
    compression: Compression | None = None, *, describe: bool = False,
    provenance: Mapping[RunId, Mapping[str, Any]] | None = None,
) -> UpdateResult:  # fmt: skip
    """``store.update`` of one store together with its manifest, if it has one: both, or neither.

    Args:
        store, network, runs, compression: as for ``store.update``.
        describe: whether a store without a manifest gets one; not beside a manifest of an earlier version.
        provenance: origin of runs, for the manifest.

    Raises:
        LockError, StoreError, StoreWriteError: as ``store.update``, or the name does not end in ``.h5``; nothing has
            changed.
    """
    if not store.name.endswith(".h5"):
        raise StoreError(f"{store}: the name of a golden store ends in .h5")
    if not store.parent.is_dir():
        raise StoreWriteError(f"{store}: there is no directory {store.parent}")
    place = Path(os.path.realpath(store.parent), store.name)
    while True:
        above = _above(place)
        name = place.relative_to(above).as_posix()
        with Transaction(above) as change, writer_lock(store):
            if _above(place) != above:
                continue  # a session of a directory above began meanwhile: it would put its own in place of this one
            done = change.update(name, network, runs, compression, held=True)
            has = (above / manifest.path_of(name)).exists()
            described = has or (describe and not (above / manifest.NAME).exists())
            origin = {manifest.RunKey(name, run): facts for run, facts in (provenance or {}).items()}
            change.commit(origin, described=described, describe=[name] if described else [])
            break
    return replace(done, path=store)


def _above(place: Path) -> Path:
    """The directory whose change may hold a store: the outermost that is changing now, else one with a manifest of an
    earlier version, else the store's own."""
    changing = [each for each in place.parents if is_ours(each / FOLDER)]
    described = [each for each in place.parents if (each / manifest.NAME).is_file()]
    return [*changing[-1:], *described[:1], place.parent][0]


def _files(staged: Path) -> list[str]:
    """All staged files, stores before manifests, as relative paths with ``/``."""
    found = [name for name in manifest.visible(staged) if os.path.isfile(f"{staged}/{name}")]
    return sorted(found, key=lambda name: (not name.endswith(".h5"), name.split("/")))


def _holds(path: Path, content: bytes) -> bool:
    try:
        return read_bytes(path, len(content), StoreError) == content
    except StoreError:
        return False


def _failed(golden: Path, error: OSError) -> StoreWriteError:
    return StoreWriteError(
        f"{golden}: the goldens could not be written ({atomic.reason(error)}); the old ones are unchanged"
    )
