"""Every line of the rooms that keep goldens fails once: memory is out there, or the user ends the command there.

``python -m tests.faults.lines [--stride N] [--seconds N] [COMMAND...]`` prints a row for each command; ``--page PAGE``
writes the table between its marks there. A line counts the first and the last time that a command comes by; those of
``steps`` fail calls of the system.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from types import FrameType
from typing import Any, NamedTuple

import harness
from benchmarks._pages import put
from harness.errors import HarnessError
from harness.store import recover
from tests.faults import steps
from tests.faults.commands import Command, State, _import, _one_line
from tests.faults.power import GOLDEN

_TOP = os.path.dirname(harness.__file__)
#: Whose lines fail: modules, and directories.
ROOMS = tuple(os.path.join(_TOP, each) for each in ("store" + os.sep, "reading.py", "atomic.py", "inflating.py"))
KINDS: tuple[type[BaseException], ...] = (MemoryError, KeyboardInterrupt)
_HEAD = "| command | lines | runs | CPU seconds | damaged or left over |\n|---|---|---|---|---|\n"


class Line(NamedTuple):
    """A line of a module, and the how manieth time that it is run."""

    module: str
    line: int
    time: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line}, time {self.time}"


class Tracer:
    """Counts the lines of this process that lie in ``ROOMS``; raises ``error`` at one of them."""

    def __init__(self, at: Line | None = None, error: type[BaseException] = MemoryError) -> None:
        self.at, self.error = at, error
        self.times: dict[tuple[str, int], int] = {}

    def install(self) -> None:
        """From now on."""
        sys.settrace(self._call)

    def _call(self, frame: FrameType, event: str, given: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(ROOMS) else None

    def _line(self, frame: FrameType, event: str, given: Any) -> Any:
        if event == "line":
            place = os.path.relpath(frame.f_code.co_filename, _TOP), frame.f_lineno
            passed = self.times[place] = self.times.get(place, 0) + 1
            if self.at == (*place, passed):
                sys.settrace(None)
                raise self.error
        return self._line


def recorded(command: Command, work: Path) -> list[Line]:
    """The lines that a command runs in a directory: each the first and the last time."""
    with TemporaryFile() as told:
        done = steps.run(lambda: _recording(command, work, told.fileno()), under=work)
        assert done.code == 0, done.output
        _import(done.modules)
        told.seek(0)
        counted = json.loads(told.read())
    return [Line(module, line, at) for module, line, times in counted for at in sorted({1, times})]


def _recording(command: Command, work: Path, told: int) -> None:
    tracer, write = Tracer(), os.write
    tracer.install()
    try:
        _one_line(command.act, work)
    finally:
        sys.settrace(None)
        write(told, json.dumps([[*place, times] for place, times in tracer.times.items()]).encode())


def _failing(command: Command, work: Path, line: Line, kind: type[BaseException]) -> Callable[[], None]:
    def act() -> None:
        Tracer(line, kind).install()
        try:
            _one_line(command.act, work)
        except kind:  # of a function that is no command
            print("msdump: out of memory", file=sys.stderr)
            sys.exit(2)

    return act


class Found(NamedTuple):
    """What came of a command: its lines, runs, and what is wrong."""

    lines: int
    runs: int
    bad: list[str]


def every_line(
    command: Command, folder: Path, *, stride: int = 1, start: int = 0, enough: Callable[[], bool] = lambda: False,
    only: Callable[[Line], bool] = lambda _: True,
) -> Found:  # fmt: skip
    """Fails every ``stride``-th line of a command, from ``start`` on, in each way, each time from the same state; of
    lines for which ``only`` is true."""
    old, work = folder / "old", folder / "work"
    old.mkdir()
    command.prepare(old)
    shutil.copytree(old, work)
    before = State.of(old)
    lines, after = [*filter(only, recorded(command, work))], State.of(work)
    runs, bad = 0, list[str]()
    for line in lines[start::stride]:
        if runs and enough():
            break
        for kind in KINDS:
            shutil.rmtree(work)
            shutil.copytree(old, work)
            ended = steps.run(_failing(command, work, line, kind), under=work)
            bad += [f"{line}, {kind.__name__}: {told}" for told in _wrong(command, ended, work, before, after)]
            runs += 1
    return Found(len(lines), runs, bad)


def _wrong(command: Command, ended: steps.Outcome, work: Path, before: State, after: State) -> Iterator[str]:
    """What must not be after a line failed."""
    told = [line for line in ended.output.splitlines() if line.strip()]
    # What a command had to say before stands in front of its error.
    refused = ended.code != 2 or [line.startswith("msdump: ") for line in told].count(True) == 1
    lost = ended.code == 1 and "(MemoryError)" in ended.output  # a slot whose reader had no memory is told as such
    if not (ended.code in (0, 2, 130) or lost) or "Traceback" in ended.output or not refused:
        yield f"exit code {ended.code}: {ended.output[-400:]}"
    found = State.of(work)
    for name in before.files.keys() - found.files.keys() - (before.files.keys() - after.files.keys()):
        yield f"{name} is lost"
    for name, content in found.files.items():
        if content not in [state.files[name] for state in (before, after) if name in state.files]:
            yield f"{name} is neither the old nor the new one"
    try:
        if command.whole:
            recover(work)
        for start in command.whole:
            if State.of(work).below(start) not in [state.below(start) for state in (before, after)]:
                yield f"{start}: neither the old state nor the new one"
    except HarnessError as error:
        yield f"it cannot be recovered: {error}"
    rerun = steps.run(lambda: _one_line(command.act, work), under=work)
    if rerun.code == 2 and command.refusal and command.refusal in rerun.output:
        return
    if rerun.code != 0:
        yield f"the next run: {rerun.output}"
    found = State.of(work)
    if found.files != after.files:
        yield "the next run did not bring the new state"
    strange = [name for name in found.hidden - after.hidden if not (work / name).is_dir()]
    if strange:
        yield f"left over after the next run: {strange}"


def _main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.lines", description=__doc__)
    parser.add_argument("command", nargs="*")
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--page")
    given = parser.parse_args()
    rows, failed = [], 0
    for name in given.command or GOLDEN:
        began = _spent()
        enough = lambda began=began: given.seconds is not None and _spent() - began > given.seconds  # type: ignore[misc]  # noqa: E731
        with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            found = every_line(GOLDEN[name], Path(folder), stride=given.stride, start=given.start, enough=enough)
        failed += len(found.bad)
        rows.append(f"| {name} | {found.lines} | {found.runs} | {_spent() - began:.0f} | {len(found.bad)} |\n")
        print(rows[-1], *(f"  {each}\n" for each in found.bad[:20]), sep="", end="", flush=True)
    if given.page:
        put(given.page, "failing lines", _HEAD + "".join(rows))
    return int(failed > 0)


def _spent() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


if __name__ == "__main__":
    sys.exit(_main())
