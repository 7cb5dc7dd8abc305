"""Mutates a file and gives it to what reads it, in forks that may use 5 s for an input and 300 MB more than before."""

from __future__ import annotations

import os
import random
import resource
import signal
import traceback
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.errors import HarnessError
from tests.fuzz.targets import Target

BATCH, SECONDS, MEMORY = 500, 5, 300 << 20
_ODD = (
    b"\xff" * 8,
    b"\0" * 4,
    b"9" * 30,
    b"1e999",
    b"-1",
    b"\x1b[",
    b"../",
    b"[" * 2000,
    b"\xed\xa0\x80",
    b"\x7f\xff\xff\xff",
)


def mutated(whole: bytes, rng: random.Random) -> bytes:
    """A few bytes changed, cut out, repeated, or odd ones put in."""
    data = bytearray(whole)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at, size = rng.randrange(len(data) + 1), rng.choice((1, 2, 8, 64))
        kind = rng.randrange(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at : at + size] = rng.randbytes(size)
        elif kind == 2:
            del data[at : at + size]
        elif kind == 3:
            data[at:at] = rng.choice(_ODD)
        else:
            data[at:at] = data[at : at + size] * rng.choice((1, 3))
    return bytes(data)


def fuzz(target: Target, count: int, seed: int) -> list[str]:
    """What ``count`` inputs brought to light: exceptions that are no clear error, hangs, ends by a signal."""
    found = []
    with TemporaryDirectory() as folder:
        told = Path(folder, "told")
        for first in range(0, count, BATCH):
            told.write_text("")
            child = os.fork()
            if child == 0:
                _batch(target, range(first, min(count, first + BATCH)), seed, Path(folder), told)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            found += [line for line in told.read_text().splitlines() if line.startswith("bad ")]
            if status:
                found.append(f"ended with {status} after {told.read_text().splitlines()[-1:]}")
    return found


def _batch(target: Target, numbers: range, seed: int, folder: Path, told: Path) -> None:
    """The forked child; never returns."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the log
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        path = folder / f"input{target.suffix}"
        with told.open("a") as notes:
            for number in numbers:
                path.write_bytes(mutated(target.seed, random.Random(f"{seed}-{number}")))
                notes.write(f"{number}\n")
                notes.flush()
                signal.alarm(SECONDS)
                try:
                    target.read(path)
                except HarnessError:
                    pass
                except BaseException as error:
                    last = traceback.extract_tb(error.__traceback__)[-1]
                    notes.write(f"bad {number}: {type(error).__name__} at {Path(last.filename).name}:{last.lineno}\n")
                signal.alarm(0)
    finally:
        os._exit(0)
