"""``msdump import``: stores a dump tree as a run of a golden store."""

from __future__ import annotations

import re
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from harness.capture import Capture, read_tree
from harness.capture.keeping import declared_by
from harness.cli.check import warn
from harness.cli.watched import watched
from harness.errors import HarnessError, StoreError, TreeError
from harness.escape import line
from harness.report.results import gaps_of
from harness.scale import Scale, session
from harness.store import Compression, GoldenStore, Level, RunData, RunId, change_one
from harness.store.sizes import large
from harness.words import counted

_NAME = re.compile(r"\w[\w.+-]{0,99}")
_MODES_WITHOUT_VALUES = ("statistic",)


def import_tree(
    tree: Path | str,
    golden: Path,
    run: str | None,
    rank: int | None,
    network: str | None,
    level: Level | None,
    packed: bool,
    scale: Scale | None = None,
    keep: dict[str, Any] | None = None,
) -> int:
    """Stores a dump tree as a run. Only a piece of one tensor is in memory at a time, and each file is read once.

    Args:
        tree: dump tree, of this project, of MindSpore, or of msprobe.
        golden: golden store; made if missing, in an existing directory. Its other runs stay.
        run: name of the run, see ``run_id``; None for the tree's own.
        rank: the only rank to read from a tree with several.
        network: network to read from a tree with several; otherwise the store must belong to the tree's network.
        level: what the store keeps; None for values if the tree has them.
        packed: whether to compress a new store.
        scale: workers that share the work; by default this process does it alone.
        keep: receives what ``--json`` writes.

    Returns:
        0; 1 if files of the tree could not be used (they are named).

    Raises:
        HarnessError: the tree cannot be read or holds no tensor, or the store cannot be written; an old store is
            unchanged.
    """
    with session(scale, tree=str(tree), golden=str(golden), rank=rank, network=network) as shared:
        if shared is None:
            return _stored(read_tree(tree, rank, network=network, ahead=True), tree, golden, run, level, packed, keep)
        capture = shared.tree(str(tree), rank, network)
        shared.describe(capture)
        if _level(level, capture) == "digest":
            return _stored(capture, tree, golden, run, level, packed, keep)
        with shared.pieces(capture, golden, "gzip" if packed else _compression(golden)):
            return _stored(capture, tree, golden, run, level, packed, keep)


def _compression(golden: Path) -> Compression:
    """That of a golden that is there."""
    try:
        with GoldenStore.open(golden) as store:
            return store.compression
    except (FileNotFoundError, StoreError):
        return "none"  # whoever writes it says what is wrong


def _level(level: Level | None, capture: Capture) -> Level:
    return level or ("digest" if capture.mode in _MODES_WITHOUT_VALUES else "tensors")


def _stored(
    capture: Capture, tree: Path | str, golden: Path, run: str | None, level: Level | None, packed: bool,
    keep: dict[str, Any] | None,
) -> int:  # fmt: skip
    """Stores a capture; see ``import_tree``."""
    name = run_id(run, capture)
    attrs = {"emulated": capture.emulated, "rules": capture.rules, "imported": True}
    records = watched(capture.records(), capture.network, capture.listed)
    first = next(records, None)
    if first is None:
        warn(capture)
        raise TreeError(f"{tree}: it holds no tensor that can be used; nothing was imported")
    data = RunData(
        chain([first], records), capture.artefacts, attrs, _level(level, capture), lambda: declared_by(capture)
    )
    result = change_one(golden, capture.network or golden.stem, {name: data}, "gzip" if packed else None, describe=True)
    change = result.runs[name]
    moved = f"{change.new} new, {change.changed} changed, {change.removed} removed, {change.unchanged} unchanged"
    slots, tensors = counted(change.slots, "slot"), counted(result.objects, "distinct tensor")
    if keep is not None:
        keep |= {"store": str(golden), "run": str(name), **asdict(change), "objects": result.objects}
        keep |= {"bytes": result.size, "gaps": gaps_of(len(capture.lost), capture.lost)}
    print(line(f"{golden}: run {name}: {slots} ({moved}), {tensors}, {result.size} bytes"))
    for each in large([golden]):
        print(line(each))
    warn(capture)
    return 1 if capture.lost else 0


def run_id(given: str | None, capture: Capture) -> RunId:
    """The name of a run.

    Args:
        given: ``BACKEND/MODE``; a single name is the backend, with the tree's own mode; None for the tree's own backend
            and mode. A name begins with a letter, digit or ``_``, and may also contain ``-``, ``.`` and ``+``.
        capture: capture of the tree.

    Raises:
        HarnessError: the name has another form.
    """
    if given is None:
        return RunId(capture.backend, capture.mode)
    backend, separator, mode = given.partition("/")
    if _NAME.fullmatch(backend) is None or (separator and _NAME.fullmatch(mode) is None):
        raise HarnessError(
            "--run takes NAME or BACKEND/MODE, such as mindspore/tensor, each of letters, digits, '_', '-', '.' and "
            f"'+' and not beginning with one of the last three; got {given!r}"
        )
    return RunId(backend, mode or capture.mode)
