"""Runs a program in several processes, one a rank of a gloo group; each hands its capture over in a file."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.capture import Capture
from harness.capture.gathered import VARIABLE, of_rank, put, read, seconds_to_wait, write
from harness.capture.torch.returned import leaves
from harness.errors import HarnessError, RankError, SettingError, UnsupportedError
from harness.records import Record

MOST = 256
_PAUSE = 0.005
#: seconds between asking a process to end and ending it
_GRACE = 2.0


def run(count: int, program: Callable[[], Any], capture: Callable[[], Capture]) -> tuple[list[Capture], list[Any]]:
    """Forks ``count`` processes, in which ``program`` is called in a gloo group with one thread each.

    Args:
        count: number of ranks, 1 to 256.
        program: called in each process; random numbers go on from the caller's state, on each rank alike.
        capture: gives a process's capture, called there after the program.

    Returns:
        The captures of all ranks, in order, and what the program returned there: a tensor (an array, a number) as it
        is, else a dict of the tensors in it by their place (``[0]``, ``.logits``).

    Raises:
        RankError: a rank failed, was ended, or had not ended in time (``MSDUMP_RANKS_TIMEOUT``, 600 s by default); the
            others are ended, and no process is left.
        UnsupportedError: there is no gloo, or this process cannot be forked.
    """
    _refuse(count)
    seconds = seconds_to_wait()
    folder = Path(tempfile.mkdtemp(prefix="msdump-ranks-"))
    sys.stdout.flush()
    sys.stderr.flush()
    running: dict[int, int] = {}
    try:
        for rank in range(count):
            child = os.fork()
            if not child:
                _be(rank, count, folder, seconds, program, capture)
            running[rank] = child
        _wait_for(running, folder, count, seconds)
        return _taken(folder, count)
    finally:
        _end(running)
        shutil.rmtree(folder, ignore_errors=True)


def _refuse(count: int) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
        raise SettingError(f"ranks: a number from 1 to {MOST} is accepted, got {count!r}")
    distributed = torch.distributed
    if not hasattr(os, "fork") or not distributed.is_available() or not distributed.is_gloo_available():
        raise UnsupportedError("ranks: they are forked processes of a gloo group, which this PyTorch or system lacks")
    if distributed.is_initialized():
        raise UnsupportedError("ranks: this process is in a group already; each rank makes its own")
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        raise UnsupportedError("ranks: a process that uses CUDA cannot be forked")


def _be(
    rank: int, count: int, folder: Path, seconds: float, program: Callable[[], Any], capture: Callable[[], Capture]
) -> None:
    """The life of a rank's process, which ends here whatever happens."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller ends its ranks
        threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
        os.environ |= {
            "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count),
        }  # fmt: skip
        torch.set_num_threads(1)
        store = torch.distributed.FileStore(str(folder / "meeting"), count)
        torch.distributed.init_process_group(
            "gloo", store=store, rank=rank, world_size=count, timeout=timedelta(seconds=seconds)
        )
        returned = program()
        found = _arrays(returned)
        numbered: dict[str, Any] = {f"n{at}": each for at, each in enumerate(found.values())}
        np.savez(folder / f"returned-{rank}.npz", names=np.asarray([*found], dtype=np.str_), **numbered)
        write(capture(), folder / f"rank-{rank}.h5")
        code = 0
    except BaseException as error:
        told = f"{type(error).__name__}: {error}".strip()
        with contextlib.suppress(Exception):
            put(folder / f"failed-{rank}.json", {"told": told, "lines": traceback.format_exc(), "at": time.time()})
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _leave_with(parent: int) -> None:
    """Ends this process once the one that started it is gone."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _arrays(returned: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path, leaf in leaves(returned):
        value = leaf
        if isinstance(leaf, torch.Tensor):
            try:
                local = leaf.to_local() if hasattr(leaf, "to_local") else leaf
                value = local.detach().cpu().numpy()
            except (RuntimeError, TypeError):  # numpy has no such dtype
                continue
        if isinstance(value, (np.ndarray, np.generic, bool, int, float, complex, str)):
            found[path or "."] = np.asarray(value)
    return found


def _wait_for(running: dict[int, int], folder: Path, count: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    codes: dict[int, int] = {}
    while running:
        for rank, process in list(running.items()):
            done, status = os.waitpid(process, os.WNOHANG)
            if done:
                del running[rank]
                codes[rank] = os.waitstatus_to_exitcode(status)
        if any(codes.values()):
            time.sleep(0.2)  # another may have failed first, and this one with it
            raise _failed(folder, codes, running, count)
        if time.monotonic() > end:
            late = ", ".join(map(str, sorted(running)))
            raise RankError(f"rank {late} of {count} had not ended after {seconds:g} s ({VARIABLE}); all were ended")
        time.sleep(_PAUSE)


def _failed(folder: Path, codes: dict[int, int], running: dict[int, int], count: int) -> RankError:
    """The error of the rank that failed first."""
    told: list[tuple[float, int, str, str]] = []
    for rank in range(count):
        with contextlib.suppress(OSError, ValueError, KeyError):
            said = json.loads((folder / f"failed-{rank}.json").read_text(encoding="utf-8"))
            told.append((said["at"], rank, said["told"], said["lines"]))
    waiting = f"; rank {', '.join(map(str, sorted(running)))} waited and was ended" if running else ""
    if told:
        _, rank, text, lines = min(told)
        error = RankError(f"rank {rank} of {count}: {text}{waiting}")
        error.add_note(lines)
        return error
    rank, code = next((rank, code) for rank, code in sorted(codes.items()) if code)
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return RankError(f"rank {rank} of {count} was ended ({how}) and said nothing{waiting}")


def _taken(folder: Path, count: int) -> tuple[list[Capture], list[Any]]:
    captures, results = [], []
    for rank in range(count):
        try:
            capture, _, close = read(folder / f"rank-{rank}.h5")
            capture.source = [_loaded(record) for record in capture.records()]
            close()
            with np.load(folder / f"returned-{rank}.npz", allow_pickle=False) as file:
                found = {str(name): file[f"n{at}"] for at, name in enumerate(file["names"])}
        except (HarnessError, OSError, ValueError) as error:
            raise RankError(f"rank {rank} of {count}: what it captured was not handed over: {error}") from None
        captures.append(of_rank(capture, rank))
        results.append(_result(found))
    _share([record for each in captures for record in each.records()])
    return captures, results


def _loaded(record: Record) -> Record:
    if record.values is not None:
        record.values = record.load()
    return record


def _share(records: Sequence[Record]) -> None:
    """Equal content of several ranks lies in memory once."""
    known: dict[tuple[Any, ...], Any] = {}
    for record in records:
        if record.digest is not None and record.values is not None:
            record.values = known.setdefault((record.digest, record.dtype, record.shape), record.values)


def _result(found: dict[str, Any]) -> Any:
    made = {name: _tensor(value) for name, value in found.items()}
    return made["."] if list(made) == ["."] else made or None


def _tensor(value: Any) -> Any:
    return value.item() if value.dtype.kind in "US" else torch.from_numpy(value)


def _end(running: dict[int, int]) -> None:
    for process in running.values():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)
    end = time.monotonic() + _GRACE
    while running:
        for rank, process in list(running.items()):
            if os.waitpid(process, os.WNOHANG)[0]:
                del running[rank]
        if running and time.monotonic() > end:
            for process in running.values():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        time.sleep(_PAUSE)
