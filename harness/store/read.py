"""Reading a golden store: a file from elsewhere, which may be damaged, foreign or hostile.

No pickles, no links out of the file, no sizes the file cannot hold; digests are checked whenever values are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import MappingProxyType, ModuleType, TracebackType
from typing import Any, Self

import numpy as np

from harness.errors import StoreError, first_line
from harness.records import Record
from harness.stats import digest
from harness.store.arrays import Stored
from harness.store.checksum import run_checksum
from harness.store.index import Index, checked_index, describe_key
from harness.store.migrate import check_schema
from harness.store.objects import from_stored
from harness.store.overview import RunOverview, look
from harness.store.schema import (
    COMPRESSIONS,
    FORMAT,
    INDEX_DTYPE,
    LEVELS,
    RESERVED,
    Compression,
    Level,
    RunId,
    run_path,
    slot_path,
    unescape,
)  # fmt: skip

Array = np.ndarray[Any, np.dtype[Any]]

#: What HDF5 and numpy raise over a file whose inner structure is broken.
_DAMAGE = (KeyError, MemoryError, OSError, OverflowError, RuntimeError, TypeError, ValueError)

#: Groups inside groups: no store nests artefacts deeper.
_MAX_DEPTH = 64


def hdf() -> ModuleType:
    """What reads by libhdf5; h5py takes longer to import than most checks take."""
    from harness.store import hdf

    return hdf


class GoldenStore:
    """A golden store opened for reading. Use ``GoldenStore.open`` in a ``with`` statement.

    What describes it is read without libhdf5 where it can be (``overview``); libhdf5 is loaded when it is needed.

    Attributes:
        path: of the file.
        closed: whether it is closed.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._size = os.fstat(descriptor).st_size
        self._file: Any = None
        self.closed = False
        self._runs: dict[RunId, StoredRun] = {}
        self._overview = look(descriptor, self._size)

    @cached_property
    def schema(self) -> int:
        """Version of the file's layout; ``StoreError`` where this code does not read it."""
        with self.located("the file"):
            if self._overview is not None:
                return check_schema(self._overview.schema)
            if hdf().read_text_attribute(self.root, b"format") != FORMAT:
                raise StoreError(f"this HDF5 file is no golden store (its attribute 'format' is not {FORMAT!r})")
            return check_schema(hdf().read_int_attribute(self.root, b"schema"))

    @cached_property
    def network(self) -> str:
        """Name of the network the store belongs to."""
        if self._overview is not None and self._overview.sound:
            return self._overview.network
        with self.located("the file"):
            return str(hdf().read_text_attribute(self.root, b"network"))

    @cached_property
    def compression(self) -> Compression:
        """How objects are stored."""
        with self.located("the file"):
            if self._overview is not None and self._overview.sound:
                found = self._overview.compression
            else:
                found = str(hdf().read_text_attribute(self.root, b"compression"))
            if found not in COMPRESSIONS:
                raise StoreError(f"unknown compression {found!r}; known are {', '.join(COMPRESSIONS)}")
            return found

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Opens a store.

        Raises:
            FileNotFoundError: there is no such file.
            StoreError: it is damaged, no golden store, or of a newer schema version.
        """
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise FileNotFoundError(f"{path}: there is no such golden store") from None
        except OSError as error:
            raise StoreError(f"{path}: the golden store cannot be opened ({first_line(error)})") from None
        store = cls(Path(path), descriptor)
        try:
            _ = store.schema
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Closes the file; records taken from it can no longer load values."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if not self.closed:
            self.closed = True
            os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def runs(self) -> tuple[RunId, ...]:
        """All runs, sorted."""
        if self._overview is not None and self._overview.sound:
            return self._overview.runs()
        found = []
        with self.located("runs"):
            runs = hdf().open_group(self.root, b"runs")
            for backend in hdf().names_of(runs) if runs is not None else []:
                modes = hdf().open_group(runs, backend)
                found += [RunId(unescape(backend), unescape(m)) for m in hdf().names_of(modes)] if modes else []
        return tuple(sorted(found))

    def run(self, backend: str, mode: str) -> StoredRun:
        """One run; ``StoreError`` naming those there are if there is none such."""
        run = RunId(backend, mode)
        if run not in self._runs:
            overview = self._overview.run(run) if self._overview is not None else None
            if overview is None and self.group(run) is None:
                there = ", ".join(map(str, self.runs())) or "none"
                raise StoreError(f"{self.path}: no run {run} is stored here; there are: {there}")
            self._runs[run] = StoredRun(self, run, overview)
        return self._runs[run]

    def __contains__(self, run: object) -> bool:
        """Whether there is such a run."""
        return (self._overview is not None and run in self._overview) or run in self.runs()

    def group(self, run: RunId) -> Any | None:
        """The group of a run; None where there is none."""
        with self.located(f"run {run}"):
            return hdf().open_group(self.root, run_path(run))

    def stored_object(self, content: bytes) -> Stored | None:
        """The object of that digest as it lies in the file, unchecked; None if there is none or it is unreadable."""
        try:
            with self.located(f"object {content.hex()}"):
                dataset = hdf().open_dataset(self.root, b"objects/" + content.hex().encode())
                return None if dataset is None else self.read(dataset)
        except StoreError:
            return None

    def verify(self) -> list[str]:
        """Everything that is wrong with the store, read wholly, in words; empty if nothing is."""
        problems = []
        for run_id in self.runs():
            try:
                problems += self.run(*run_id).problems()
            except StoreError as error:
                problems.append(str(error))
        return problems

    @property
    def root(self) -> Any:
        """The root group; ``StoreError`` once the store is closed."""
        if self.closed:
            raise StoreError(f"{self.path}: the store is closed")
        if self._file is None:
            # The file that is open already, though another may have its name by now.
            opened = f"/proc/self/fd/{self._descriptor}"
            self._file = hdf().open_file(self.path, opened if os.path.exists(opened) else self.path)
        return hdf().root_of(self._file)

    def read(self, dataset: Any, expected: np.dtype[Any] | None = None) -> Stored:
        """A dataset's array as it lies in the file; ``StoreError`` if it is not of the dtype ``expected``."""
        found: Stored = hdf().read(dataset, self._descriptor, self._size, expected)
        return found

    @contextmanager
    def located(self, where: str) -> Iterator[None]:
        """Says in which file and where in it an error was found."""
        try:
            yield
        except StoreError as error:
            if str(error).startswith(f"{self.path}: "):
                raise
            raise StoreError(f"{self.path}: {where}: {error}") from None
        except _DAMAGE as error:
            raise StoreError(f"{self.path}: {where}: damaged ({first_line(error)})") from error


class StoredRun:
    """One run of a store.

    Attributes:
        id: backend and mode.
        level: ``tensors`` or ``digest``.
    """

    def __init__(self, store: GoldenStore, run: RunId, overview: RunOverview | None) -> None:
        self._store = store
        self.id = run
        self._overview = overview
        with store.located(f"run {run}"):
            level = overview.level if overview is not None else hdf().read_text_attribute(self._group, b"level")
            if level not in LEVELS:
                raise StoreError(f"unknown level {level!r}; known are {', '.join(LEVELS)}")
        self.level: Level = level

    @cached_property
    def _group(self) -> Any:
        group = self._store.group(self.id)
        if group is None:
            raise StoreError("it is missing")
        return group

    @property
    def network(self) -> str:
        """The store's network."""
        return self._store.network

    @cached_property
    def checksum(self) -> str:
        """Digest over everything the run holds, as it was when it was written (32 hex digits)."""
        if self._overview is not None:
            return self._overview.checksum
        with self.located("checksum"):
            return str(hdf().read_text_attribute(self._group, b"checksum"))

    @cached_property
    def attrs(self) -> Mapping[str, Any]:
        """JSON values given when the run was written."""
        if self._overview is not None:
            return self._overview.attrs
        with self.located("attrs"):
            try:
                attrs = json.loads(hdf().read_text_attribute(self._group, b"attrs"))
            except ValueError as error:
                raise StoreError(f"no JSON: {error}") from None
            if not isinstance(attrs, dict):
                raise StoreError("not a JSON object")
            return MappingProxyType(attrs)

    @cached_property
    def index(self) -> Index:
        """All slots, in execution order."""
        if self._overview is not None:
            return self._overview.index
        with self.located("index"):
            rows = self._member(b"index", INDEX_DTYPE).array()
        with self.located("names"):
            names = self._member(b"names").array()
            if names.dtype.kind != "S" or names.ndim != 1:
                raise StoreError("it is no table of strings")
            texts = [raw.decode("utf-8", "surrogateescape") for raw in names.tolist()]
        with self.located("index"):
            return checked_index(rows, texts)

    def __len__(self) -> int:
        return len(self.index)

    def _member(self, name: bytes, expected: np.dtype[Any] | None = None) -> Stored:
        dataset = hdf().open_dataset(self._group, name)
        if dataset is None:
            raise StoreError("it is missing")
        return self._store.read(dataset, expected)

    def records(self) -> Iterator[Record]:
        """Every slot, in execution order; values are read, and checked, when asked for."""
        return map(self.record, range(len(self.index)))

    def record(self, row: int) -> Record:
        """One slot; its values are read, and checked, when asked for. Its statistics are in ``extra``."""
        record = self.index.record(row)
        if self.level == "tensors":
            record.values = self._loader(row)
        return record

    def _loader(self, row: int) -> Callable[[], Array]:
        return lambda: self.tensor(row)

    def stored(self, row: int) -> Stored:
        """A slot's tensor as it lies in the file; ``StoreError`` if it is missing or values were not kept."""
        key = self.index.keys[row]
        with self.located(describe_key(key)):
            if self._overview is not None and not self._store.closed:
                stored = self._overview.stored(slot_path(key), self.index.name(row, "dtype"))
                if stored is not None:
                    return stored
            dataset = hdf().open_dataset(self._group, slot_path(key))
            if dataset is None:
                kept = "its tensor is missing" if self.level == "tensors" else "values were not kept (level digest)"
                raise StoreError(kept)
            return self._store.read(dataset)

    def tensor(self, row: int) -> Array:
        """A slot's tensor.

        Raises:
            StoreError: values were not kept, or the golden is damaged: what is stored for the slot is not what the
                index says, in dtype, shape, or digest.
        """
        index, stored = self.index, self.stored(row)
        with self.located(describe_key(index.keys[row])):
            name = index.name(row, "dtype")
            array = from_stored(stored, name, index.shape(row))
            found = digest(array, name)
            if found != index.digests[row]:
                raise StoreError(
                    f"the golden is damaged: the index says digest {index.digests[row].hex()}, the stored tensor "
                    f"has {found.hex()}"
                )
        return array

    def artefacts(self) -> Mapping[str, bytes]:
        """All text artefacts by name, sorted."""
        if self._overview is not None:
            return self._overview.artefacts
        found = {}
        for name, stored in self._stored_artefacts().items():
            with self.located(f"artefact {name}"):
                found[name] = stored.unpacked().tobytes()
        return found

    def stored_parts(self) -> dict[str, Stored]:
        """Index, names and every artefact (``artefact <name>``) as they lie in the file."""
        parts = {f"artefact {name}": stored for name, stored in self._stored_artefacts().items()}
        return parts | {"index": self._member(b"index"), "names": self._member(b"names")}

    def _stored_artefacts(self) -> dict[str, Stored]:
        found: dict[str, Stored] = {}
        with self.located("artefacts"):
            for name in hdf().names_of(self._group):
                if name.decode("utf-8", "replace") not in RESERVED:
                    self._collect(self._group, (name,), found)
        return dict(sorted(found.items()))

    def _collect(self, group: Any, path: tuple[bytes, ...], found: dict[str, Stored]) -> None:
        name = "/".join(map(unescape, path))
        with self.located(f"artefact {name}"):
            if len(path) > _MAX_DEPTH:
                raise StoreError(f"it lies more than {_MAX_DEPTH} groups deep")
            inner = hdf().open_member(group, path[-1])
            if not hdf().is_group(inner):
                found[name] = self._store.read(inner)
                return
        for child in hdf().names_of(inner):
            self._collect(inner, (*path, child), found)

    def problems(self) -> list[str]:
        """Everything that is wrong with this run, read wholly, in words."""
        found = []
        expected = run_checksum(self.index, self.level, dict(self.attrs), self.artefacts())
        if expected != self.checksum:
            found.append(f"{self._store.path}: run {self.id}: it was altered after it was written (checksum)")
        for row in range(len(self.index)) if self.level == "tensors" else ():
            try:
                self.tensor(row)
            except StoreError as error:
                found.append(str(error))
        return found

    @contextmanager
    def located(self, where: str) -> Iterator[None]:
        with self._store.located(f"run {self.id}: {where}"):
            yield
