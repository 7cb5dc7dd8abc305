"""Runs a program as several ranks, a forked process each, and takes over what each captured and returned.

A rank leaves its capture (``capture.gathered``) and a message (``communication.wire``) in a directory that only this
run uses. Nothing in them can run.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness import dtypes
from harness.capture import Capture, gathered
from harness.errors import CollectiveError, RecordingError, SettingError
from harness.framework.communication import launch, wire
from harness.framework.tensor import Tensor
from harness.records import Record

MOST = 256
#: seconds that a rank may wait in a collective
TIMEOUT = 600.0


@dataclass(frozen=True)
class Ranked:
    """What one rank left.

    Attributes:
        capture: what it captured, with the rank in every key; its arrays are in memory.
        result: what the program returned there.
    """

    capture: Capture
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
        gathered.write(capture(), folder / f"{rank}.h5")
        (folder / f"{rank}.ended").write_bytes(b"".join(wire.pack({"result": told}, parts)))
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
        found.append(Ranked(_captured(folder / f"{rank}.h5", rank, shared), _made(head["result"], blocks)))
    return found


def _captured(path: Path, rank: int, shared: dict[tuple[Any, ...], Any]) -> Capture:
    """The capture of one rank, in memory; equal content of several ranks once."""
    capture, _, close = gathered.read(path)
    try:
        capture = gathered.of_rank(capture, rank)
        records: list[Record] = []
        for record in capture.records():
            if record.values is not None:
                content = record.digest, record.dtype, record.shape
                if content not in shared:
                    shared[content] = record.load()
                record.values = shared[content]
            records.append(record)
        return replace(capture, source=records, operators=dict(capture.operators), results=dict(capture.results))
    finally:
        close()


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
