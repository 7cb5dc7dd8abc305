"""``msdump show``: prints what a store, a directory of stores, a dump tree or a tensor file holds."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from glob import escape
from pathlib import Path

import numpy as np

from harness.capture import Capture, read_tree
from harness.capture.directory_kinds import is_single_file
from harness.capture.npy import Incomplete, read
from harness.cli.amount import limit
from harness.cli.recorder import is_only_recorded, listed, recorded
from harness.cli.slots import slots_table
from harness.cli.text import shortened, table
from harness.compare.policy import WHOLE
from harness.dtypes import spelled
from harness.errors import StoreError, TreeError
from harness.escape import clipped, line
from harness.gate.variants import apart
from harness.records import Record
from harness.stats import describe
from harness.store import GoldenStore, RunId, StoredRun, recover, recover_around
from harness.store.manifest import store_paths
from harness.suggest import command
from harness.words import among, counted

# Number of text artefacts to name; number of values to print before an array is shortened.
_HEAD = 8
_VALUES = 200
# Characters of a line; files of a tree, and parts that were compiled, to say something about.
_LONGEST, _MAX_PROBLEMS, _PARTS = 1 << 14, 1000, 100
_OPERATOR_HEADINGS = ("rank", "graph", "operator", "type", "iterations", "slots", "outputs", "source")


def show_path(path: str, run: str, every: bool, text: str = "") -> int:
    """Prints what ``path`` holds.

    Args:
        path: golden store, directory of stores, dump tree, directory of the Running Data Recorder, or ``.npy`` file.
        run: ``backend/mode`` of a store; empty for all.
        every: print a line per slot with its statistics, instead of a line per operator.
        text: pattern; print the texts whose names match instead.

    Returns:
        0.

    Raises:
        HarnessError: the path cannot be read, or is none of these.
    """
    if not path:
        raise TreeError("show: an empty text names no file or directory; '.' is the current one")
    recover_around(path)
    for each in _texts(Path(path), run, text) if text else _lines(Path(path), run, every):
        # A table's lines are as long as its cells; it has clipped those.
        print(each if text else clipped(line(each), _LONGEST))
    return 0


def _texts(path: Path, run: str, pattern: str) -> Iterator[str]:
    texts: dict[str, Mapping[str, bytes]]
    if path.is_dir():
        texts = {"": _texts_below(path)}
    else:
        with GoldenStore.open(path) as store:
            texts = {f"{each} ": store.run(*each).artefacts() for each in _chosen(store, run)}
    lines: list[str] = []
    for wanted in (pattern, f"*{pattern}*"):  # a part of the name will do
        lines = lines or [each for prefix, found in texts.items() for each in listed(found, wanted, prefix)]
    if not lines:
        names = sorted({each for found in texts.values() for each in found})
        near = difflib.get_close_matches(pattern, names, n=3, cutoff=0.3) or names[:3]
        hint = f"; there are {', '.join(near)}" if names else ": it holds none"
        raise StoreError(f"{path}: no text has a name like {pattern!r}{hint}")
    yield from lines


def _texts_below(folder: Path) -> dict[str, bytes]:
    """The texts of a dump tree, and the recorder's."""
    texts = recorded(folder)
    if store_paths(folder) or (texts and is_only_recorded(folder)):
        return texts
    return {**read_tree(folder).artefacts, **texts}


def _lines(path: Path, run: str, every: bool) -> Iterator[str]:
    if not path.exists():
        raise TreeError(f"{path}: there is no such file or directory")
    if path.suffix == ".npy":
        yield from _tensor(path)
    elif is_single_file(str(path)):
        yield from _tree(path, every, "file")
    elif path.is_file():
        with GoldenStore.open(path) as store:
            yield from _store(store, run, every)
    elif store_paths(path):
        recover(path)
        yield from _directory(path, store_paths(path))
    else:
        texts = recorded(path)
        if not texts or not is_only_recorded(path):
            yield from _tree(path, every)
        if texts:
            rows = [(name, len(raw), raw.count(b"\n")) for name, raw in texts.items()]
            one = command("msdump", "show", path, "--text", escape(next(iter(texts))))
            yield f"{path}: {counted(len(rows), 'artefact')} of the recorder (`{one}` prints the first)"
            yield from table(("artefact", "bytes", "lines"), rows, right=(1, 2))


def _store(store: GoldenStore, run: str, every: bool) -> Iterator[str]:
    yield f"{store.path}: network {store.network}, schema {store.schema}"
    for each in _chosen(store, run):
        stored = store.run(*each)
        yield ""
        beside = _beside_base(store, stored)
        yield f"run {each}: level {stored.level}, {counted(len(stored), 'slot')}, {_origin(stored)}{beside}"
        texts = stored.artefacts()
        if texts:
            more = f", and {len(texts) - _HEAD} more" if len(texts) > limit(_HEAD) else ""
            yield f"texts: {', '.join(list(texts)[: limit(_HEAD)])}{more}"
            one = command("msdump", "show", store.path, "--run", str(each), "--text", escape(next(iter(texts))))
            yield f"`{one}` prints the first"
        yield from _records(stored.records(), every)


def _beside_base(store: GoldenStore, run: StoredRun) -> str:
    """How a variant differs from its base, in words; empty for any other run."""
    base = run.id._replace(variant="")
    if not run.id.variant or base not in store:
        return f", variant without a base {base}" if run.id.variant else ""
    moved = apart(run, store.run(*base))
    return f", variant of {base} of which {among(moved, len(run), 'slot', 'differ')}"


def _chosen(store: GoldenStore, run: str) -> list[RunId]:
    shown = [each for each in store.runs() if not run or str(each) == run]
    if run and not shown:
        raise StoreError(
            f"{store.path}: no run {run} is stored here; the store holds: {', '.join(map(str, store.runs()))}"
        )
    return shown


def _origin(run: StoredRun) -> str:
    rules = run.attrs.get("rules", {})
    faults = rules.get("injected", [])
    shown = f", {counted(len(faults), 'injected fault')}" if faults else ""
    compiled = [each or WHOLE for each in rules.get("compiled", [])]
    more = f" and {len(compiled) - _PARTS} more" if len(compiled) > _PARTS else ""
    named = ", ".join(compiled[:_PARTS]) + more
    shown += f", compiled by torch.compile: {named}" if compiled else ""
    return ("emulated" if run.attrs.get("emulated") else "real") + shown


def _directory(path: Path, names: list[str]) -> Iterator[str]:
    """The stores of a directory, and its ``.h5`` files that are not stores; ``StoreError`` if there is no store."""
    rows, others = [], []
    for name in names:
        try:
            with GoldenStore.open(path / name) as store:
                runs = [f"{each} ({len(store.run(*each))})" for each in store.runs()]
                rows.append((name, store.network, (path / name).stat().st_size, ", ".join(runs)))
        except StoreError as error:
            others.append(str(error))
    if not rows:
        raise StoreError(others[0])
    yield from table(("store", "network", "bytes", "runs (slots)"), rows, right=(2,))
    yield from others


def _tree(path: Path, every: bool, kind: str = "dump tree") -> Iterator[str]:
    capture = read_tree(path)
    records = list(capture.records())
    if not records and not capture.artefacts:
        raise TreeError(f"{path}: nothing in it can be read{_first(capture)}")
    # Of an iteration's directory alone nobody knows what wrote it.
    stated = capture.network or capture.artefacts or capture.rules
    origin = "emulated" if capture.emulated else "real" if stated else "origin not stated"
    network = capture.network or ("not stated" if records else "(no tensors)")
    yield f"{path}: {kind}, network {network}, {origin}, {counted(len(records), 'slot')}"
    yield from _records(records, every)
    for problem in capture.problems[: limit(_MAX_PROBLEMS)]:
        yield clipped(f"{problem.path}: {problem.kind}: {problem.why}")
    if len(capture.problems) > _MAX_PROBLEMS:
        yield f"and {counted(len(capture.problems) - _MAX_PROBLEMS, 'more file')}"


def _first(capture: Capture) -> str:
    """Why nothing could be read: the first file, and how many more there are."""
    if not capture.problems:
        return "; give the directory of a dump, with its tensors or statistics"
    first, more = capture.problems[0], len(capture.problems) - 1
    others = f", and {counted(more, 'more file')}" if more else ""
    return f": {first.path}: {first.kind}: {first.why}{others}"


def _tensor(path: Path) -> Iterator[str]:
    try:
        header, array = read(str(path))
    except (Incomplete, ValueError, OSError) as error:
        raise TreeError(f"{path}: {error}") from None
    shape = ", ".join(map(str, header.shape))
    yield f"{path}: {header.dtype.name}[{shape}]"
    if array is not None:
        found = describe(array, header.dtype.name)
        yield from (f"{field.name:18} {getattr(found, field.name):.9g}" for field in fields(found))
        with np.printoptions(threshold=_VALUES, edgeitems=3, linewidth=120):
            yield from str(array).splitlines()


def _records(records: Iterable[Record], every: bool) -> Iterator[str]:
    if every:
        yield from slots_table(records)
    else:
        rows = _operators(records)
        # Usually there is one rank; then its number would say nothing.
        first = 0 if len({row[0] for row in rows}) > 1 else 1
        right = [at - first for at in (0, 1, 4, 5) if at >= first]
        yield from table(_OPERATOR_HEADINGS[first:], [row[first:] for row in rows], right=right)


def _operators(records: Iterable[Record]) -> list[tuple[object, ...]]:
    """A row per operator of a rank's graph in execution order, over all iterations."""
    slots: dict[tuple[int, int, str], list[Record]] = {}
    for record in records:
        slots.setdefault((record.key.rank, record.key.graph, record.key.operator), []).append(record)
    return [_row(rank, graph, operator, group) for (rank, graph, operator), group in slots.items()]


def _row(rank: int, graph: int, operator: str, group: list[Record]) -> tuple[object, ...]:
    iterations = len({record.key.iteration for record in group})
    source = next((record.source for record in group if record.source), "")
    return rank, graph, shortened(operator), group[0].op_type, iterations, len(group), _outputs(group), source


def _outputs(group: list[Record]) -> str:
    found = {
        r.key.slot: f"{spelled(r.dtype, r.format)}[{', '.join(map(str, r.shape))}]"
        for r in group
        if r.key.io == "output"
    }
    return " ".join(found[slot] for slot in sorted(found))
