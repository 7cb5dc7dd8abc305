"""A disk that loses power: which states a command can leave behind, and what the next one makes of them.

The method is ALICE's (Pillai et al., OSDI 2014). A run of a command is recorded: each change of a file's content, each
change of a directory's entries, each ``fsync`` of either. A change is certain once its file or directory was synced
after it; any other may have reached the disk or not, in any order. At each point of the run, states are drawn from what
is legal there: no pending change, all, all but one, one alone, some; contents old, new, cut in half, with a hole.

``python -m tests.faults.power [--states N] [--seed N] [COMMAND...]`` prints a row for each command; ``--page PAGE``
writes the table between its marks there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, NamedTuple

from benchmarks._pages import put
from harness.errors import HarnessError
from harness.store import manifest, recover, update
from tests.faults import steps
from tests.faults.commands import Command, State, _import, _one_line
from tests.faults.sessions import SESSIONS
from tests.faults.writing import COMMANDS, _with_bundle, line
from tests.store.helpers import CPU, run_data


def _nested(folder: Path) -> None:
    """A bundle with stores in folders, of which the goldens have some."""
    _with_bundle(folder, False)
    for place, seed in (("bundle/a/b", 5), ("bundle/c", 6), ("golden/a/b", 7)):
        (folder / place).mkdir(parents=True)
        update(folder / place / "y.h5", "net", {CPU: run_data(seed)})
    manifest.rebuild(folder / "bundle")
    manifest.rebuild(folder / "golden")


#: Commands that write goldens.
GOLDEN = {
    **{name: COMMANDS[name] for name in ("update", "import", "accept", "accept-zip", "learn")},
    "accept, in folders": Command(_nested, line("accept", "@bundle", "--golden", "@golden"), whole=("golden/",)),
    **{name: SESSIONS[name] for name in ("review", "verify --fix")},
}
#: Numbers of files that the run made.
_FRESH = 1 << 62
_HEAD = "| command | calls | states | damaged or left over |\n|---|---|---|---|\n"


class Event(NamedTuple):
    """One change.

    Attributes:
        kind: ``content``, ``enter`` (a name for a file or a directory), ``leave``, ``move`` or ``sync``.
        path: of the file, the directory or the entry, relative to the top.
        file: number of the file that it is about; 0 for a directory.
        content: of the file afterwards.
        source: for ``move``, the old path.
    """

    kind: str
    path: str
    file: int = 0
    content: bytes = b""
    source: str = ""


class Recording(steps.Layer):
    """Calls of this process that change the file system, as events."""

    def __init__(self, under: str) -> None:
        super().__init__(under, None, steps.BEFORE, None)
        self.events: list[Event] = []
        self._numbers: dict[int, int] = {}
        self._source = ""

    def install(self) -> None:
        """See ``steps.Layer``; also notes where renamed files come from."""
        super().install()
        for name in ("replace", "rename"):
            setattr(os, name, self._noting(getattr(os, name)))

    def _noting(self, real: Any) -> Any:
        def call(source: Any, target: Any, **more: Any) -> Any:
            self._source = os.path.join(os.getcwd(), os.fsdecode(source))
            return real(source, target, **more)

        return call

    def step(self, call: str, path: str, act: Callable[[], Any]) -> Any:
        """Does one call and notes what it changed."""
        path = os.path.normpath(os.path.join(os.getcwd(), path)).removesuffix(" (deleted)")
        if not path.startswith(self._under + os.sep) and path != self._under:
            return act()
        there = os.path.lexists(path)
        result = act()
        self.steps.append(steps.Step(call, os.path.relpath(path, self._under)))
        self.events += self._changes(call, path, there)
        return result

    def _changes(self, call: str, path: str, there: bool) -> Iterator[Event]:
        name = os.path.relpath(path, self._under)
        if call in ("unlink", "remove", "rmdir"):
            yield Event("leave", name)
            return
        if not os.path.lexists(path):
            return
        found = os.lstat(path)
        if not there and call == "open":  # the system may give it the number of a file that is gone
            self._numbers[found.st_ino] = _FRESH + len(self.events)
        number = 0 if stat.S_ISDIR(found.st_mode) else self._numbers.get(found.st_ino, found.st_ino)
        if call in ("replace", "rename"):
            yield Event("move", name, number, source=os.path.relpath(self._source, self._under))
        elif call in ("fsync", "fdatasync"):
            yield Event("sync", name, number)
        elif not there:
            yield Event("enter", name, number)
        if number and call not in ("replace", "rename", "link", "fsync", "fdatasync", "symlink"):
            yield Event("content", name, number, Path(path).read_bytes())


@dataclass
class Disk:
    """What is certain on the disk, and what may have reached it.

    Attributes:
        entries: number of the file by path; 0 for directories.
        contents: of files by number.
        pending: changes of entries that are not certain, in order.
        written: contents that a file had since it was synced, in order.
    """

    entries: dict[str, int] = field(default_factory=dict)
    contents: dict[int, bytes] = field(default_factory=dict)
    pending: list[Event] = field(default_factory=list)
    written: dict[int, list[bytes]] = field(default_factory=dict)

    @classmethod
    def of(cls, top: Path) -> Disk:
        """A disk that has what lies below a directory."""
        found = cls()
        for path in sorted(top.rglob("*")):
            number = 0 if path.is_dir() else path.lstat().st_ino
            found.entries[path.relative_to(top).as_posix()] = number
            if number:
                found.contents[number] = path.read_bytes()
        return found

    def take(self, event: Event) -> None:
        """One more change."""
        if event.kind == "content":
            self.written.setdefault(event.file, []).append(event.content)
        elif event.kind != "sync":
            self.pending.append(event)
        elif event.file:
            if self.written.get(event.file):
                self.contents[event.file] = self.written.pop(event.file)[-1]
        else:
            synced = [each for each in self.pending if _folder(each.path) == event.path]
            for each in synced:
                apply(self.entries, each)
            self.pending = [each for each in self.pending if each not in synced]

    def states(self, rng: random.Random) -> Iterator[dict[str, bytes | None]]:
        """Files (None for a directory) that may be there after the power failed, without end."""
        count = len(self.pending)
        subsets = [set(range(count)), set[int](), *({at} for at in range(count)),
                   *(set(range(count)) - {at} for at in range(count))]  # fmt: skip
        for at in range(1 << 30):
            kept = subsets[at % len(subsets)] if at < 4 * len(subsets) else {
                each for each in range(count) if rng.randrange(2)
            }  # fmt: skip
            entries = dict(self.entries)
            for number, event in enumerate(self.pending):
                if number in kept:
                    apply(entries, event, rng.randrange(8) == 0)
            yield self._held(entries, at // len(subsets), rng)

    def _held(self, entries: dict[str, int], way: int, rng: random.Random) -> dict[str, bytes | None]:
        contents = {number: _content(self, number, way if way < 4 else rng.randrange(5), rng)
                    for number in {*entries.values()} - {0}}  # fmt: skip
        reached: dict[str, bytes | None] = {}
        for path in sorted(entries):
            if _folder(path) == "." or reached.get(_folder(path), b"") is None:
                reached[path] = contents[entries[path]] if entries[path] else None
        return reached


def _content(disk: Disk, number: int, way: int, rng: random.Random) -> bytes:
    """A content that a file may have: the last one, the certain one, a part of the last, one with a hole, any."""
    written, certain = disk.written.get(number, []), disk.contents.get(number, b"")
    if not written or way == 1:
        return certain
    last = written[-1]
    if way == 2:
        return last[: len(last) // 2]
    if way == 3:
        return bytes(len(last) // 2) + last[len(last) // 2 :]
    return rng.choice(written) if way == 4 else last


def _folder(path: str) -> str:
    return os.path.dirname(path) or "."


def apply(entries: dict[str, int], event: Event, twice: bool = False) -> None:
    """Makes one change of entries; ``twice``: of a move only the new name reached the disk."""
    if event.kind == "leave":
        entries.pop(event.path, None)
    elif event.kind == "enter":
        entries[event.path] = event.file
    elif event.kind == "move":
        entries[event.path] = event.file
        if not twice:
            entries.pop(event.source, None)


def recorded(command: Command, work: Path) -> list[Event]:
    """The events of a command's run in a directory."""
    with TemporaryFile() as told:
        done = steps.run(lambda: _recording(command, work, told.fileno()), under=work)
        assert done.code == 0, done.output
        _import(done.modules)
        told.seek(0)
        return [Event(*each[:3], bytes.fromhex(each[3]), each[4]) for each in json.loads(told.read())]


def _recording(command: Command, work: Path, told: int) -> None:
    recording, write = Recording(os.path.realpath(work)), os.write
    recording.install()
    try:
        _one_line(command.act, work)
    finally:
        view = memoryview(
            json.dumps([[*each[:3], each.content.hex(), each.source] for each in recording.events]).encode()
        )
        while view:
            view = view[write(told, view) :]


class Found(NamedTuple):
    """What came of a command: its events, states that were tried, and what is wrong."""

    events: int
    states: int
    bad: list[str]


def every_state(command: Command, folder: Path, states: int, seed: int, stride: int = 1) -> Found:
    """Tries ``states`` different states after every ``stride``-th event of a command."""
    old, work = folder / "old", folder / "work"
    old.mkdir()
    command.prepare(old)
    shutil.copytree(old, work)
    before, disk = State.of(old), Disk.of(work)
    events, after = recorded(command, work), State.of(work)
    assert any(each.kind == "sync" for each in events), "nothing is made durable: this proves nothing"
    rng, seen, bad = random.Random(seed), set[bytes](), list[str]()
    for at, event in enumerate(events):
        disk.take(event)
        if at % stride:
            continue
        fresh = 0
        for state in islice(disk.states(rng), 20 * states):
            mark = _mark(state)
            if mark in seen:
                continue
            seen.add(mark)
            try:
                _judge(command, state, work, before, after)
            except (AssertionError, HarnessError) as error:
                bad.append(f"after event {at} of {len(events)} ({event.kind} {event.path}): {str(error)[:400]}")
            fresh += 1
            if fresh == states:
                break
    return Found(len(events), len(seen), bad)


def _mark(state: dict[str, bytes | None]) -> bytes:
    found = sha256()
    for path, content in sorted(state.items()):
        found.update(f"{path}\0{content is None}\0{len(content or b'')}\0".encode() + (content or b""))
    return found.digest()


def _judge(command: Command, state: dict[str, bytes | None], work: Path, before: State, after: State) -> None:
    """Gives a state to the next command: goldens are whole, and it needs nobody's hand."""
    shutil.rmtree(work)
    work.mkdir()
    for path, content in sorted(state.items()):
        if content is None:
            (work / path).mkdir()
        else:
            (work / path).write_bytes(content)
    found = State.of(work)
    for name, held in found.files.items():
        allowed = [each.files[name] for each in (before, after) if name in each.files]
        assert held in allowed, f"{name} is neither the old nor the new one"
    lost = before.files.keys() - found.files.keys() - (before.files.keys() - after.files.keys())
    assert not lost, f"{sorted(lost)} are lost"
    if command.whole:
        recover(work)
        found = State.of(work)
        for start in command.whole:
            assert found.below(start) in [each.below(start) for each in (before, after)], f"{start}: half new"
    rerun = steps.run(lambda: _one_line(command.act, work), under=work)
    if rerun.code == 2 and command.refusal and command.refusal in rerun.output:
        return  # all was done
    assert rerun.code == 0, f"the next run: {rerun.output}"
    found = State.of(work)
    assert found.files == after.files, "the next run did not bring the new state"
    strange = {name for name in found.hidden - after.hidden if not (work / name).is_dir()}
    assert not strange, f"left over: {sorted(strange)}"


def _main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.power", description=__doc__)
    parser.add_argument("command", nargs="*")
    parser.add_argument("--states", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page")
    given = parser.parse_args()
    rows, failed = [], 0
    for name in given.command or GOLDEN:
        with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            found = every_state(GOLDEN[name], Path(folder), given.states, given.seed)
        failed += len(found.bad)
        rows.append(f"| {name} | {found.events} | {found.states} | {len(found.bad)} |\n")
        print(rows[-1], *(f"  {each}\n" for each in found.bad[:20]), sep="", end="", flush=True)
    if given.page:
        put(given.page, "power loss", _HEAD + "".join(rows))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(_main())
