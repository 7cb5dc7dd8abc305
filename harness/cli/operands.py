"""The sides a command compares: a run of a golden store, or a dump tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.capture import Capture, read_tree
from harness.capture.capture import RECORDED
from harness.capture.directory_kinds import is_single_file
from harness.cli.beside import labels_of, laid_beside
from harness.cli.recorder import is_only_recorded, recorded
from harness.cli.watched import Watched
from harness.compare import HasRecords
from harness.compare.policy import Party
from harness.errors import StoreError, TreeError
from harness.gate.sides import choose_run, left_aside, party_of
from harness.records import Record
from harness.store import GoldenStore, RunId, StoredRun, manifest, recover_around

if TYPE_CHECKING:
    from harness.scale import Session

_SEPARATOR = "::"


@dataclass(frozen=True)
class Side:
    """One side of a comparison.

    Attributes:
        name: its name in messages.
        network, backend, mode: its network, backend and dump mode.
        emulated: whether an emulated device made it.
        content: its records, in order.
        capture: capture of a dump tree; None for a run of a store.
        rank: the only rank to read from a tree.
        run: its key in its store; None for a capture.
        aside: what is to be said of its choice, see ``left_aside``.
    """

    name: str
    network: str
    backend: str
    mode: str
    emulated: bool
    content: StoredRun | HasRecords
    capture: Capture | None = None
    rank: int | None = None
    run: RunId | None = None
    aside: tuple[str, ...] = ()

    def records(self) -> Iterable[Record]:
        """All records, read again."""
        return self.content.records()

    def read(self) -> Capture | StoredRun:
        """The capture or the golden run that it is."""
        if self.capture is not None:
            return self.capture
        assert isinstance(self.content, StoredRun)
        return self.content

    @cached_property
    def holds_texts_alone(self) -> bool:
        """Whether it is a directory with nothing but the recorder's files."""
        folder = Path(self.name)
        written = self.capture is not None and folder.is_dir() and is_only_recorded(folder)
        # Not by ``artefacts``: some of them are made while records are read.
        return written and (
            bool(recorded(folder, self.rank)) or any(n.startswith(RECORDED) for n in self.capture_texts)
        )

    @property
    def capture_texts(self) -> Iterable[str]:
        """Names of the capture's own artefacts."""
        return () if self.capture is None else self.capture.artefacts

    @property
    def party(self) -> Party:
        """This side, as the policy judges it."""
        if self.capture is not None:
            return party_of(self.capture)
        assert isinstance(self.content, StoredRun)  # the only other thing that can be opened
        return Party.of_run(self.content)

    @cached_property
    def environment(self) -> Mapping[str, Any]:
        """Facts of the environment it was made in, as the manifest beside its store knows them; else empty."""
        store = Path(self.name.partition(_SEPARATOR)[0])
        return {} if self.run is None else manifest.environment_of(store.parent, store.name, self.run)

    @cached_property
    def artefacts(self) -> Mapping[str, bytes]:
        """Its texts by path: graphs, execution orders, recorder artefacts (of a directory without their mode)."""
        if self.capture is not None:
            texts = recorded(Path(self.name), self.rank)
            return {**self.capture.artefacts, **{RECORDED + name: text for name, text in texts.items()}}
        assert isinstance(self.content, StoredRun)  # the only other thing that can be opened
        return self.content.artefacts()


def watched_side(side: Side) -> Party:
    """A side of a judgement that shows a bar on a terminal while its records are read."""
    of_run = partial(len, side.content) if isinstance(side.content, StoredRun) else None
    listed = of_run or (side.capture.listed if side.capture is not None else lambda: 0)
    return replace(side.party, content=Watched(side.content, side.network, listed))


def beside(one: Side, other: Side) -> tuple[Side, Side, list[str]]:
    """Both sides with common steps and ranks (see ``laid_beside``), and lines that say so."""
    own, its = (labels_of(side.capture or side.content) for side in (one, other))  # type: ignore[arg-type]
    if other.capture is not None:
        capture, notes = laid_beside(other.capture, its, own, other.name)
        return one, replace(other, content=capture, capture=capture), notes
    if one.capture is not None:
        capture, notes = laid_beside(one.capture, own, its, one.name)
        return replace(one, content=capture, capture=capture), other, notes
    return one, other, []


@contextmanager
def open_side(given: str, rank: int | None = None, shared: Session | None = None) -> Iterator[Side]:
    """Opens ``PATH`` or ``PATH::BACKEND/MODE``: a golden store, a directory with a dump tree, or a file of a dump.

    Args:
        given: the operand, as on the command line.
        rank: the only rank to read from a tree.
        shared: workers that read a tree; then a template or a URL may name the tree, too.

    Raises:
        StoreError: the store does not exist, or it has several runs and none is chosen.
        TreeError: the tree does not exist.
    """
    path, _, run = given.partition(_SEPARATOR)
    recover_around(path)
    if shared is not None and not Path(path).is_file():
        capture = shared.tree(given, rank)
        yield Side(given, capture.network, capture.backend, capture.mode, capture.emulated, capture, capture, rank)
        return
    if Path(path).is_dir() or "://" in path or is_single_file(path):
        if run:
            kind = "file of a dump" if Path(path).is_file() else "directory"
            raise TreeError(f"{given}: {path} is a {kind}; a run is chosen of a golden store only")
        capture = read_tree(path, rank)
        yield Side(path, capture.network, capture.backend, capture.mode, capture.emulated, capture, capture, rank)
        return
    try:
        store = GoldenStore.open(Path(path))
    except FileNotFoundError:
        raise StoreError(f"{path}: there is neither a golden store nor a directory of that name") from None
    with store:
        chosen = choose_run(store, run)
        emulated = bool(chosen.attrs.get("emulated"))
        aside = tuple(left_aside(chosen, store, run))
        yield Side(
            given, store.network, chosen.id.backend, chosen.id.mode, emulated, chosen, run=chosen.id, aside=aside
        )
