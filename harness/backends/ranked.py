"""Runs a program as several ranks, a forked process each, and takes over what each captured and returned.

A rank leaves a golden store and a message (``communication.wire``) in a directory that only this run uses. Nothing in
them can run.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness import dtypes
from harness.capture import Capture
from harness.errors import CollectiveError, RecordingError, SettingError
from harness.framework.communication import launch, wire
from harness.framework.tensor import Tensor
from harness.records import Record
from harness.store import GoldenStore, RunData, RunId, update

MOST = 256
#: seconds that a rank may wait in a collective
TIMEOUT = 600.0
_RUN = RunId("rank", "handed-over")


@dataclass(frozen=True)
class Ranked:
    """What one rank left.

    Attributes:
        records: every slot, with the rank in its key.
        texts: artefacts by name; those of ranks other than 0 below ``rank_<i>/``.
        result: what the program returned there.
    """

    records: Sequence[Record]
    texts: dict[str, bytes]
    result: Any


def run(count: int, program: Callable[[], Any], capture: Callable[[], Capture]) -> list[Ranked]:
    """Calls ``program`` in ``count`` processes, each a rank.

    Args:
        count: number of ranks, 1 to 256.
        program: called in each process; it returns tensors, arrays, numbers, texts, None, and what holds them.
        capture: gives what a process captured; called there, after the program.

    Raises:
        SettingError: ``count`` is not such a number.
        CollectiveError: a rank failed, ended early or waits for ever; the message names it and who waits. No process
            is left.
    """
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
        raise SettingError(f"ranks: a number from 1 to {MOST} is accepted, got {count!r}")
    with tempfile.TemporaryDirectory(prefix="msdump-ranks-") as name:
        folder, ranks = Path(name), list[int]()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads
            ended = launch.fork_ranks(count, TIMEOUT, ranks.append)
        if ended is None:
            _live(ranks[0], folder, program, capture)
        assert ended is not None
        if ended.failure:
            raise _error(ended, folder)
        return _taken(count, folder)


def _live(rank: int, folder: Path, program: Callable[[], Any], capture: Callable[[], Capture]) -> None:
    """The life of a rank's process, which ends here whatever happens."""
    code = 1
    try:
        returned = program()
        parts: list[bytes] = []
        told = _described(returned, parts)
        found = capture()
        texts = {name: found.artefacts[name] for name in found.artefacts}
        records = list(found.records())
        level: Any = "digest" if any(record.values is None for record in records) else "tensors"
        if records:
            update(folder / f"{rank}.h5", found.network, {_RUN: RunData(records, {}, {}, level)}, settle=False)
        head = {"result": told, "texts": [*texts], "slots": len(records)}
        (folder / f"{rank}.ended").write_bytes(b"".join(wire.pack(head, [*texts.values(), *parts])))
        code = 0
    except BaseException as error:
        if not isinstance(error, CollectiveError):
            with contextlib.suppress(OSError):
                (folder / f"{rank}.failed").write_text(
                    f"{type(error).__name__}: {error}\0{traceback.format_exc()}", encoding="utf-8"
                )
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _error(ended: launch.Run, folder: Path) -> CollectiveError:
    """The error of a run that was given up, with the traceback of the rank that failed first."""
    file = folder / f"{ended.first}.failed"
    if not file.exists():
        return CollectiveError(ended.failure)
    said, _, lines = file.read_text(encoding="utf-8").partition("\0")
    error = CollectiveError(ended.failure.replace("failed (exit code 1)", f"failed: {said}", 1))
    error.add_note(lines)
    return error


def _taken(count: int, folder: Path) -> list[Ranked]:
    found = []
    shared: dict[tuple[Any, ...], Any] = {}
    for rank in range(count):
        reader = wire.Reader()
        reader.add((folder / f"{rank}.ended").read_bytes())
        message = reader.take()
        if message is None:
            raise RecordingError(f"rank {rank} did not hand over what it captured")
        head, blocks = message
        names = [name if not rank else f"rank_{rank}/{name}" for name in head["texts"]]
        texts = dict(zip(names, blocks, strict=False))
        records = list(_records(folder / f"{rank}.h5", rank, shared)) if head["slots"] else []
        if len(records) != head["slots"]:
            raise RecordingError(f"rank {rank} handed {head['slots']} slots over, and {len(records)} are there")
        found.append(Ranked(records, texts, _made(head["result"], blocks[len(names) :])))
    return found


def _records(path: Path, rank: int, shared: dict[tuple[Any, ...], Any]) -> Iterator[Record]:
    """The records of one rank, in memory; equal content of several ranks once."""
    store = GoldenStore.open(path)
    try:
        for record in store.run(*_RUN).records():
            record.key = record.key._replace(rank=rank)
            if record.values is not None:
                content = record.digest, record.dtype, record.shape
                if content not in shared:
                    shared[content] = record.load()
                record.values = shared[content]
            yield record
    finally:
        store.close()


# --- what a program returns -------------------------------------------------------------------------------------------


def _described(value: Any, parts: list[bytes]) -> Any:
    """A returned value as JSON; arrays go to ``parts``."""
    if isinstance(value, (Tensor, np.ndarray, np.generic)):
        array = np.ascontiguousarray(value.asnumpy() if isinstance(value, Tensor) else value)
        parts.append(array.tobytes())
        dtype = dtypes.from_numpy(array.dtype).name
        return [type(value).__name__ == "ndarray", dtype, list(np.shape(array)), len(parts) - 1]
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"plain": value}
    if isinstance(value, dict):
        return {"dict": [[_described(key, parts), _described(each, parts)] for key, each in value.items()]}
    if isinstance(value, (tuple, list)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [_described(each, parts) for each in value]}
    raise SettingError(
        f"a rank gives back tensors, arrays, numbers, texts and what holds them; got {type(value).__name__}"
    )


def _made(told: Any, parts: Sequence[bytes]) -> Any:
    if isinstance(told, list):
        is_array, dtype, shape, at = told
        array = np.frombuffer(parts[at], dtypes.by_name(dtype).numpy).reshape(shape)
        return array if is_array else Tensor(array)
    ((kind, value),) = told.items()
    if kind == "plain":
        return value
    if kind == "dict":
        return {_made(key, parts): _made(each, parts) for key, each in value}
    items = [_made(each, parts) for each in value]
    return items if kind == "list" else tuple(items)
