"""Reads golden stores. A store is an untrusted file, which may be damaged, foreign or hostile.

A store is read by offsets, without libhdf5, whose loading takes longer than most checks. There are no pickles and no
sizes that the file cannot hold, and every read checks digests.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from harness import portable
from harness.errors import StoreError, first_line
from harness.lazy import lazy
from harness.reading import open_regular
from harness.records import Gap, Record, SlotKey
from harness.stats import digest
from harness.store.layout.contents import USER_BLOCK, Placed, RunSource, Source, has_user_block, read_contents
from harness.store.layout.index import Index, run_checksum
from harness.store.layout.objects import Stored, from_stored, stored_dtype
from harness.store.layout.schema import EVERY_RANK, Compression, Level, RunId
from harness.store.located import Located
from harness.suggest import pull

if TYPE_CHECKING:
    from harness.recording.described import Described
    from harness.store.layout.tables import Declared
    from harness.store.layout.values import Withheld

Array = np.ndarray[Any, np.dtype[Any]]

#: Says in words what is wrong with the tensors of a store's run.
Tensors = Callable[["GoldenStore", "StoredRun"], list[str]]

_HDF5 = b"\x89HDF\r\n\x1a\n"
_LFS = b"version https://git-lfs.github.com/spec/"


def state_of(found: os.stat_result) -> tuple[int, ...]:
    """Values that change with a file or its content."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _source(path: str | os.PathLike[str], descriptor: int, size: int) -> Source:
    """Chooses the reader of an open file of ``size`` bytes; ``StoreError`` if it is damaged or is not a golden
    store."""
    head = portable.pread(descriptor, USER_BLOCK, 0)
    if has_user_block(head):
        return Placed(descriptor, read_contents(head, descriptor, size), size)
    if head.startswith(_LFS):
        raise StoreError(f"a git-LFS pointer, not the golden itself: run `{pull(Path(path))}`")
    if head.startswith((b"<<<<<<< ", b"=======", b">>>>>>> ")):
        raise StoreError("it has git's conflict markers: choose one of the two goldens")
    if head[: len(_HDF5)] != _HDF5 or len(head) < USER_BLOCK:
        raise StoreError("not a complete HDF5 file" + (" (it is empty)" if not head else ""))
    raise StoreError(
        "an HDF5 file, but no golden store of today: those of schema 1 are no longer read; make the golden again with "
        "--msdump-regen"
    )


class GoldenStore:
    """A golden store opened for reading. Use ``GoldenStore.open`` in a ``with`` statement.

    Attributes:
        closed: whether the store is closed.
        state: of the file when it was opened; see ``state_of``.

    Examples:
        >>> from harness.store import GoldenStore
        >>> with GoldenStore.open("golden/net.h5") as store:
        ...     print(store.network, [str(run) for run in store.runs()])
        Net ['first/tensor']
    """

    closed: bool
    state: tuple[int, ...]

    def __init__(self, path: str | os.PathLike[str], descriptor: int, keep: int = 0) -> None:
        self._given = path
        self._kept: dict[bytes, Array] = {}
        self._room = keep
        self._descriptor = descriptor
        self.closed = False
        self._opened: dict[RunId, StoredRun] = {}
        self._declared: dict[tuple[tuple[str, bytes], ...], Declared] = {}
        with self.located(""):
            found = os.fstat(descriptor)
            self.state, self._source = state_of(found), _source(path, descriptor, found.st_size)

    @property
    def path(self) -> Path:
        """The file's path."""
        return Path(self._given)

    @property
    def schema(self) -> int:
        """Version of the file's layout."""
        return self._source.schema

    @property
    def network(self) -> str:
        """Name of the network the store belongs to."""
        return self._source.network

    @lazy
    def compression(self) -> Compression:
        """How objects are compressed."""
        with self.located("the file"):
            return self._source.compression

    @classmethod
    def open(cls, path: str | os.PathLike[str], keep: int = 0) -> Self:
        """Opens a store.

        Args:
            path: the file's path.
            keep: bytes of tensors to keep in memory after they were read and checked.

        Raises:
            FileNotFoundError: there is no such file.
            StoreError: the file is damaged, is not a golden store, or has a newer schema version.
        """
        try:
            descriptor = open_regular(path)
        except FileNotFoundError:
            raise FileNotFoundError(f"{path}: there is no such golden store") from None
        except OSError as error:
            if os.path.isdir(path):
                raise StoreError(f"{path}: this is a directory; a golden store is one file (.h5)") from None
            raise StoreError(f"{path}: the golden store cannot be opened ({first_line(error)})") from None
        try:
            return cls(path, descriptor, keep)
        except BaseException:
            os.close(descriptor)
            raise

    def close(self) -> None:
        """Closes the file; records taken from it can no longer load values."""
        if not self.closed:
            self.closed = True
            self._kept.clear()
            self._source.close()
            os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @lazy
    def _runs(self) -> Mapping[RunId, RunSource]:
        with self.located("runs"):
            return self._source.runs()

    def runs(self) -> tuple[RunId, ...]:
        """All runs, sorted."""
        return tuple(self._runs)

    def run(
        self, backend: str, mode: str, granularity: str = "operators", rank: int = EVERY_RANK, variant: str = ""
    ) -> StoredRun:
        """One run, by its ``backend``, ``mode``, ``granularity``, ``rank`` and ``variant`` (see ``RunId``).

        Raises:
            StoreError: there is no such run; the message names all.
        """
        run = RunId(backend, mode, granularity, rank, variant)
        found = self._opened.get(run)
        if found is None:
            if run not in self._runs:
                there = ", ".join(map(str, self._runs)) or "none"
                raise StoreError(f"{self.path}: no run {run} is stored here; the store holds: {there}")
            found = self._opened[run] = StoredRun(self, run, self._runs[run])
        return found

    def __contains__(self, run: object) -> bool:
        """Whether the store holds this run."""
        return run in self._runs

    def stored_object(self, content: bytes, dtype_name: str, shape: tuple[int, ...]) -> Stored | None:
        """The stored form of the object with digest ``content``, unchecked; None if it is missing or unreadable.

        Args:
            content: 16-byte digest of the tensor.
            dtype_name: CamelCase name of its dtype (``Float32``).
            shape: its logical shape.
        """
        try:
            return self.read_object(content, dtype_name, shape)
        except StoreError:
            return None

    def read_object(self, content: bytes, dtype_name: str, shape: tuple[int, ...]) -> Stored:
        """Like ``stored_object`` for the same ``content``, ``dtype_name`` and ``shape``.

        Raises:
            StoreError: the object is missing or cannot be read, or the store is closed.
        """
        if self.closed:
            raise StoreError(f"{self.path}: the store is closed")
        with self.located(f"object {content.hex()}"):
            return self._source.stored_object(content, stored_dtype(dtype_name), shape)

    def kept(self, content: bytes) -> Array | None:
        """The tensor with digest ``content`` if it was kept in memory (read-only), else None."""
        return self._kept.get(content)

    def declared(self, tables: Mapping[str, bytes]) -> Declared:
        """What tables of operators say; runs with equal tables, which is most of them, share it.

        Raises:
            StoreError: they are damaged.
        """
        from harness.store.layout.tables import declared_of  # a check of tensors needs none of it

        key = tuple(tables.items())
        if key not in self._declared:
            self._declared[key] = declared_of(tables)
        return self._declared[key]

    def keep(self, content: bytes, array: Array) -> None:
        """Keeps a checked tensor in memory, while there is room.

        Args:
            content: its 16-byte digest.
            array: its values; they become read-only.
        """
        if array.nbytes <= self._room:
            self._room -= array.nbytes
            array.flags.writeable = False
            self._kept[content] = array

    def verify(self, tensors_of: Tensors | None = None) -> list[str]:
        """Reads the whole store, and says in words everything that is wrong with it; empty if nothing is.

        Args:
            tensors_of: finds what is wrong with the tensors of a run, instead of reading them here.
        """
        problems = []
        for run_id in self.runs():
            try:
                run = self.run(*run_id)
                problems += run.problems(None if tensors_of is None else partial(tensors_of, self))
            except StoreError as error:
                problems.append(str(error))
        return problems

    def located(self, where: str | SlotKey, run: RunId | None = None) -> Located:
        """Inside the block, adds the file, the run and ``where`` (the place in it, in words) to the message of an
        error."""
        return Located(self._given, where, run)


class StoredRun:
    """One run of a store.

    Attributes:
        id: see ``RunId``.
        level: ``tensors`` or ``digest``.
        checksum: digest over everything the run held when it was written (32 hex digits).
        attrs: JSON values given when the run was written.

    Examples:
        >>> from harness.store import GoldenStore
        >>> with GoldenStore.open("golden/net.h5") as store:
        ...     run = store.run("first", "tensor")
        ...     print(run.level, len(run.index), next(iter(run.records())).load())
        tensors 12 [[1. 2. 3.]]
    """

    id: RunId
    level: Level
    checksum: str
    attrs: Mapping[str, Any]

    def __init__(self, store: GoldenStore, run: RunId, source: RunSource) -> None:
        self._store, self._source = store, source
        self.id = run
        with self.located(""):  # attributes are checked when they are asked for
            self.level, self.checksum, self.attrs = source.level, source.checksum, source.attrs

    def __repr__(self) -> str:
        return f"<StoredRun: {self.id} of {os.path.basename(self.path)}, {self.level}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened_again, (os.path.abspath(self.path), tuple(self.id), self.checksum)

    @property
    def network(self) -> str:
        """The store's network."""
        return self._store.network

    @property
    def path(self) -> Path:
        """The store's path."""
        return self._store.path

    @lazy
    def index(self) -> Index:
        """All slots, in execution order."""
        with self.located("index"):
            return self._source.index()

    def __len__(self) -> int:
        return len(self.index)

    def records(self) -> Iterator[Record]:
        """Every slot, in execution order; values are read and checked on request."""
        return map(self.record, range(len(self.index)))

    def record(self, row: int) -> Record:
        """The slot at ``row`` of ``index``: values are read and checked on request, statistics are in ``extra``."""
        record = self.index.record(row)
        if self.level == "tensors" and self.index.has_values(row):
            record.values = self._loader(row)
        return record

    def loader(self, key: SlotKey, content: bytes) -> Callable[[], Array] | None:
        """What reads the values of the slot ``key``; None if they were not kept, or their digest is not ``content``."""
        row = self.index.position.get(key) if self.level == "tensors" else None
        if row is None or self.index.digests[row] != content or not self.index.has_values(row):
            return None
        return self._loader(row)

    def _loader(self, row: int) -> Callable[[], Array]:
        return lambda: self.tensor(row)

    def stored(self, row: int) -> Stored:
        """The stored form of the tensor at ``row`` of ``index``.

        Raises:
            StoreError: it is missing, values were not kept, or the store is closed.
        """
        with self.located(self.index.keys[row]):
            return self._stored(row, self.index.name(row, "dtype"), self.index.shape(row))

    def _stored(self, row: int, name: str, shape: tuple[int, ...]) -> Stored:
        index = self.index
        if self.level != "tensors":
            raise StoreError("values were not kept (level digest)")
        if not index.has_values(row):
            raise StoreError("values were not kept; --msdump-level=everything keeps them")
        if self._store.closed:
            raise StoreError("the store is closed")
        return self._store._source.stored_object(index.digests[row], stored_dtype(name), shape)

    def tensor(self, row: int) -> Array:
        """The tensor at ``row`` of ``index``, in its logical shape and its own dtype; read-only if kept in memory.

        Raises:
            StoreError: values were not kept, or the golden is damaged: the stored tensor and the index disagree in
                dtype, shape or digest.
        """
        index = self.index
        known = None if self._store.closed else self._store.kept(index.digests[row])
        if known is not None and self.level == "tensors":
            return known
        with self.located(index.keys[row]):
            name, shape = index.name(row, "dtype"), index.shape(row)
            array = from_stored(self._stored(row, name, shape), name, shape)
            found = digest(array, name)
            if found != index.digests[row]:
                raise StoreError(
                    f"the golden is damaged: the index says digest {index.digests[row].hex()}, the stored tensor "
                    f"has {found.hex()}"
                )
        self._store.keep(index.digests[row], array)
        return array

    def artefact_names(self) -> list[str]:
        """Names of all text artefacts, sorted."""
        with self.located("artefacts"):
            return self._source.artefact_names()

    def artefact(self, name: str) -> bytes:
        """The content of the text artefact ``name``; ``StoreError`` if the run has none of that name."""
        with self.located(f"artefact {name}"):
            return self._source.artefact(name)

    def artefacts(self) -> Mapping[str, bytes]:
        """All text artefacts by name, sorted."""
        return {name: self.artefact(name) for name in self.artefact_names()}

    @property
    def identity(self) -> str:
        """Digest over what its operators are, see ``layout.values.identity``; empty where nobody described them."""
        return self._source.identity

    def tables(self) -> Mapping[str, bytes]:
        """The tables that describe its operators, as they are stored; empty where nobody described them."""
        with self.located("tables of operators"):
            return self._source.tables()

    @lazy
    def declared(self) -> Declared:
        """Its operators, results and gaps.

        Raises:
            StoreError: the tables are damaged.
        """
        tables = self.tables()
        with self.located("tables of operators"):
            return self._store.declared(tables)

    @lazy
    def operators(self) -> Mapping[tuple[int, int, str], Described]:
        """What each operator is and where its inputs come from, by rank, graph and name; empty where nobody described
        them."""
        return {(each.rank, each.graph, each.name): self._whole(each) for each in self.declared.operators}

    def _whole(self, operator: Described) -> Described:
        """An operator whose large constants have their values, as far as the store has them."""
        from harness.store.layout.values import Withheld

        if self.level != "tensors" or not any(isinstance(each.value, Withheld) for each in operator.inputs):
            return operator
        edges = (
            each._replace(value=self._object(each.value)) if isinstance(each.value, Withheld) else each
            for each in operator.inputs
        )
        return replace(operator, inputs=tuple(edges))

    def _object(self, told: Withheld) -> Any:
        try:
            array = from_stored(self._store.read_object(told.digest, told.dtype, told.shape), told.dtype, told.shape)
        except StoreError:
            return told
        return array if digest(array, told.dtype) == told.digest else told

    @property
    def gaps(self) -> Sequence[Gap]:
        """Slots that could not be read when it was made, and were accepted so."""
        return self.declared.gaps if "gaps" in self._source.table_names else ()

    def stored_parts(self) -> dict[str, Stored]:
        """The stored form of tables and artefacts, to be copied; empty if the run is damaged."""
        try:
            with self.located("parts"):
                return self._source.stored_parts()
        except StoreError:
            return {}

    def problems(self, tensors_of: Callable[[StoredRun], list[str]] | None = None) -> list[str]:
        """Reads the whole run, and says in words everything that is wrong with it; empty if nothing is.

        Args:
            tensors_of: finds what is wrong with the run's tensors, instead of reading them here.
        """
        found: list[str] = []
        texts: dict[str, bytes] = {}
        described: dict[str, bytes] = {}
        for name in self.artefact_names():
            try:
                texts[name] = self.artefact(name)
            except StoreError as error:
                found.append(str(error))
        altered = f"{self._store.path}: run {self.id}: it was altered after it was written"
        try:
            described = dict(self.tables())
            if self.declared.identity != self.identity:
                found.append(f"{altered} (identity)")
        except (StoreError, TypeError, ValueError) as error:
            found.append(str(error))
        described |= {"identity": self.identity.encode()} if described else {}
        if not found and run_checksum(self.index, self.level, dict(self.attrs), texts, described) != self.checksum:
            found.append(f"{altered} (checksum)")
        if self.level == "tensors":
            found += self.damaged(range(len(self.index))) if tensors_of is None else tensors_of(self)
        return found

    def damaged(self, rows: Iterable[int]) -> list[str]:
        """Says in words what is wrong with the tensors at these ``rows`` of ``index``."""
        found = []
        kept = self.index.kept
        for row in rows:
            try:
                if kept[row]:
                    self.tensor(row)
            except StoreError as error:
                found.append(str(error))
        return found

    def located(self, where: str | SlotKey) -> Located:
        """See ``GoldenStore.located``; adds the run before ``where``."""
        return self._store.located(where, self.id)


def _opened_again(path: str, run: tuple[Any, ...], checksum: str) -> StoredRun:
    """A run that was pickled: its store is opened; ``StoreError`` if the run is another one now."""
    store = GoldenStore.open(path)
    try:
        found = store.run(*run)
        if found.checksum != checksum:
            raise StoreError(f"{path}: run {found.id} is not the one that was pickled")
    except BaseException:
        store.close()
        raise
    return found
