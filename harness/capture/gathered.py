"""Captures of several ranks: kept in a file each, read by one process, joined.

A file is a golden store, and a JSON file beside it says what a store does not keep. Nothing in them can run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.capture.capture import COMPARED, Capture, Problem
from harness.errors import HarnessError, SettingError, StoreError
from harness.recording import Described, Edge
from harness.records import Record, SlotKey
from harness.store import GoldenStore, RunData, RunId, update
from harness.store.layout.tables import Declared

#: how long ranks may take, in seconds
VARIABLE = "MSDUMP_RANKS_TIMEOUT"
_WAIT = 600.0
#: the run that a file holds
_RUN = RunId("rank", "handed-over")


def seconds_to_wait() -> float:
    """How long a process waits for other ranks, in seconds: what ``MSDUMP_RANKS_TIMEOUT`` says, or 600.

    Raises:
        SettingError: the variable holds no number above 0.
    """
    given = os.environ.get(VARIABLE, "")
    try:
        found = float(given) if given else _WAIT
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise SettingError(f"{VARIABLE}: a number of seconds above 0 is accepted, got {given!r}")
    return found


def of_rank(capture: Capture, rank: int) -> Capture:
    """The same capture as that of process ``rank``.

    Args:
        capture: of one process; its texts and problems are named after the rank, unless that is 0.
        rank: from 0.
    """
    if not rank:
        return capture

    def records() -> Iterator[Record]:
        for record in capture.records():
            record.key = record.key._replace(rank=rank)
            yield record

    texts = {_named(name, rank): capture.artefacts[name] for name in capture.artefacts}
    problems = [
        each._replace(path=f"rank {rank}: {each.path}", slot=each.slot and each.slot._replace(rank=rank))
        for each in capture.problems
    ]
    operators = {(rank, graph, name): replace(one, rank=rank) for (_, graph, name), one in capture.operators.items()}
    results = {(rank, graph): edges for (_, graph), edges in capture.results.items()}
    return replace(
        capture, source=list(records()), artefacts=texts, problems=problems, operators=operators, results=results
    )  # fmt: skip


def _named(name: str, rank: int) -> str:
    inside = name.removeprefix(COMPARED)
    return f"{COMPARED if inside != name else ''}rank_{rank}/{inside}"


def joined(captures: Sequence[Capture]) -> Capture:
    """One capture of all ranks; what is not of one rank alone is that of the first.

    Args:
        captures: of each rank, in order; as ``of_rank`` gives them.
    """
    first = captures[0]
    texts: dict[str, bytes] = {}
    for each in captures:
        texts.update(each.artefacts)
    return replace(
        first,
        source=lambda: (record for each in captures for record in each.records()),
        artefacts=texts,
        problems=[problem for each in captures for problem in each.problems],
        operators={key: one for each in captures for key, one in each.operators.items()},
        results={key: edges for each in captures for key, edges in each.results.items()},
    )


def write(capture: Capture, path: Path, said: Mapping[str, Any] | None = None) -> None:
    """Keeps a capture in ``path`` (``.h5``) and ``path.json``; the second file appears last, whole.

    Args:
        capture: of one process.
        path: where; its directory exists.
        said: further JSON values for whoever reads it.

    Raises:
        HarnessError: it cannot be written.
    """
    records = list(capture.records())
    level: Any = "digest" if any(record.values is None for record in records) else "tensors"
    if records:
        told = Declared(tuple(capture.operators.values()), dict(capture.results))
        update(path, capture.network, {_RUN: RunData(records, {}, {}, level, told)}, settle=False)
    about = {
        "network": capture.network, "backend": capture.backend, "mode": capture.mode, "emulated": capture.emulated,
        "rules": capture.rules, "problems": [list(each) for each in capture.problems], "slots": len(records),
        "named": {at: record.extra.named for at, record in enumerate(records) if record.extra.named is not None},
        "texts": {name: text.decode("latin-1") for name, text in capture.artefacts.items()},
        "said": dict(said or {}),
    }  # fmt: skip
    put(path.with_suffix(".json"), about)


def put(path: Path, value: Mapping[str, Any]) -> None:
    """Writes a JSON file that is there whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(value), encoding="utf-8")
    beside.replace(path)


def _problem(path: str, kind: str, why: str, slot: list[Any] | None, op_type: str) -> Problem:
    return Problem(path, kind, why, SlotKey(*slot) if slot is not None else None, op_type)


def read(path: Path) -> tuple[Capture, Mapping[str, Any], Callable[[], None]]:
    """What ``write`` kept: the capture, ``said``, and a function that closes the file; values are read on request.

    Raises:
        HarnessError: it cannot be read.
    """
    try:
        about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        problems = [_problem(*each) for each in about["problems"]]
        facts = about["network"], about["backend"], bool(about["emulated"])
        names, slots = {int(at): str(name) for at, name in about["named"].items()}, int(about["slots"])
        texts = {str(name): str(text).encode("latin-1") for name, text in about["texts"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path.with_suffix('.json')}: what a rank handed over cannot be read: {error}") from None
    found: list[Record] = []
    operators: Mapping[tuple[int, int, str], Described] = {}
    results: Mapping[tuple[int, int], Sequence[Edge]] = {}
    close: Callable[[], None] = lambda: None  # noqa: E731
    if slots:
        store = GoldenStore.open(path)
        close = store.close
        run = store.run(*_RUN)
        found, operators, results = list(run.records()), run.operators, run.declared.results
        for at, name in names.items():
            found[at].extra.named = name
    if len(found) != slots:
        raise HarnessError(f"{path}: a rank handed {slots} slots over, and {len(found)} are there")
    capture = Capture(
        *facts, found, about["mode"], dict(about["rules"]), artefacts=texts, problems=problems,
        operators=operators, results=results,
    )  # fmt: skip
    return capture, about["said"], close
