"""Mutates files and gives them to their readers in forks. One fork reads many files, so an input costs little.

A fork may use 300 MB more than before, and 5 s of the processor for an input. It counts what it does in memory that it
shares with its parent: where one dies, the parent knows at which input, and goes on behind it. Every input can be made
again from its target's name, a seed and its number.
"""

from __future__ import annotations

import io
import mmap
import os
import random
import resource
import shutil
import signal
import struct
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

from harness import escape
from harness.errors import HarnessError
from tests.fuzz.mutations import SECRET, Mutate, mutators_of, odd_kind, odd_name

BATCH, SECONDS, MEMORY = 2000, 5, 300 << 20
#: No input takes so long, however loaded the machine is: what waits for a pipe uses no processor.
_WAITED = 120
_SEED_ROW = 50  # so many inputs in a row are made of one seed
KINDS = ("bytes", "values", "lines", "repaired", "names", "kinds")
_COUNTS = struct.Struct(f"<qqd{len(KINDS)}q")
Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Target:
    """A parser.

    Attributes:
        seeds: whole files by their path in a directory.
        read: reads the directory; a text it gives is what a command printed.
        repaired: changes a file and makes its checksums right again, by the file's name.
        trees: names and kinds of files change, too.
        weight: its share of the inputs.
        fixed: files that nobody changes.
        told: what the text of a whole input holds.
    """

    seeds: tuple[Files, ...]
    read: Callable[[Path], object]
    repaired: Mapping[str, Mutate] = field(default_factory=dict)
    trees: bool = False
    weight: int = 60
    fixed: tuple[str, ...] = ()
    told: str = ""


@dataclass
class Result:
    """What came of a target's inputs; ``findings`` are what must not be, each with the input's number."""

    inputs: int = 0
    refused: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    slowest: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[int, str]] = field(default_factory=list)


class Input:
    """A directory that holds one input after the other."""

    def __init__(self, target: Target, name: str, seed: int, home: Path) -> None:
        self._target, self._name, self._seed = target, name, seed
        self.folder, self.outside = home / "in", home / "outside"
        self._current: Files | None = None
        self._changed: str | None = None
        self._changes: dict[str, list[tuple[str, Mutate]]] = {}
        self.untouched = self.stamp()

    def stamp(self) -> tuple[int, ...]:
        """What changes when anybody writes to the directory outside."""
        folder, secret = os.stat(self.outside), os.stat(self.outside / "secret")
        return folder.st_mtime_ns, secret.st_mtime_ns, secret.st_size, secret.st_ino

    def put(self, number: int) -> str:
        """Makes input ``number``; which kind of change it is."""
        target, rng = self._target, random.Random(f"{self._name}-{self._seed}-{number}")
        files = target.seeds[number // _SEED_ROW % len(target.seeds)]
        if self._current is not files:
            self.hold(files)
        elif self._changed is not None:
            self._write(self._changed, files[self._changed])
        if target.trees and rng.randrange(8) == 0:
            self._current, self._changed = None, None
            if rng.randrange(2):
                odd_name(self.folder, rng)
                return "names"
            odd_kind(self.folder, rng, self.outside)
            return "kinds"
        name = rng.choice([each for each in files if each not in target.fixed])
        kind, change = rng.choice(self._changes_of(name))
        self._write(name, change(files[name], rng))
        self._changed = name
        return kind

    def _changes_of(self, name: str) -> list[tuple[str, Mutate]]:
        if name not in self._changes:
            own = next((each for end, each in self._target.repaired.items() if name.endswith(end)), None)
            self._changes[name] = [*mutators_of(name).items(), *([("repaired", own)] if own else [])]
        return self._changes[name]

    def keep(self, place: Path) -> None:
        """Copies the regular files of the input to a directory of the corpus."""
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                kept = place / path.relative_to(self.folder)
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(path.read_bytes())

    def hold(self, files: Files) -> None:
        """Makes the directory hold these files and nothing else."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name in files:
            self._write(name, files[name])
        self._current, self._changed = files, None

    def _write(self, name: str, content: bytes) -> None:
        path = f"{self.folder}/{name}"
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path))
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.write(descriptor, content)
        os.close(descriptor)

    def forget(self) -> None:
        """The next input begins with a directory of its own."""
        self._current = None


@contextmanager
def home() -> Iterator[Path]:
    """A directory for inputs, in memory where there is one, with one beside it that nobody may reach."""
    top = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(mkdtemp(prefix="msdump-fuzz-", dir=top))
    try:
        (folder / "outside").mkdir()
        (folder / "outside" / "secret").write_bytes(SECRET)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fuzz(target: Target, count: int, seed: int, name: str = "") -> Result:
    """Gives ``count`` inputs to a target."""
    found, began = Result(), time.perf_counter()
    with home() as folder, mmap.mmap(-1, mmap.PAGESIZE) as shared:
        told = folder / "told"
        told.touch()
        first = 0
        while first < count:
            shared[: _COUNTS.size] = _COUNTS.pack(first, 0, 0.0, *([0] * len(KINDS)))
            child = os.fork()
            if child == 0:
                _batch(target, range(first, min(count, first + BATCH)), Input(target, name, seed, folder), shared, told)
            _, ended, used = os.wait4(child, 0)
            status = os.waitstatus_to_exitcode(ended)
            found.processor += used.ru_utime + used.ru_stime
            at, refused, slowest, *kinds = _COUNTS.unpack(shared[: _COUNTS.size])
            found.refused += refused
            found.slowest = max(found.slowest, slowest)
            found.kinds.update(dict(zip(KINDS, kinds, strict=True)))
            if status:
                found.findings.append((at, f"ended with {status}: {_ended(status)}"))
            first = at + 1 if status else min(count, first + BATCH)
        for line in told.read_text().splitlines():
            number, _, what = line.partition(" ")
            found.findings.append((int(number), what))
    found.inputs, found.seconds = count, time.perf_counter() - began
    return found


def _ended(status: int) -> str:
    hangs = {signal.SIGPROF: f"{SECONDS} s of the processor", signal.SIGALRM: f"{_WAITED} s"}
    return f"it took more than {hangs[-status]}" if -status in hangs else "a signal or an exit"


def _batch(target: Target, numbers: range, given: Input, shared: mmap.mmap, told: Path) -> None:
    """The forked child; never returns."""
    code = 1
    try:
        silent = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(silent, descriptor)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        refused, slowest, kinds = 0, 0.0, dict.fromkeys(KINDS, 0)
        for number in numbers:
            shared[: _COUNTS.size] = _COUNTS.pack(number, refused, slowest, *kinds.values())
            kinds[given.put(number)] += 1
            shared[: _COUNTS.size] = _COUNTS.pack(number, refused, slowest, *kinds.values())
            began = time.process_time()
            clean, wrong = judged(target, given)
            slowest = max(slowest, time.process_time() - began)
            refused += not clean
            if wrong:
                given.forget()
                with told.open("a") as notes:
                    notes.write(f"{number} {wrong}\n")
        shared[: _COUNTS.size] = _COUNTS.pack(numbers[-1], refused, slowest, *kinds.values())
        code = 0
    finally:
        os._exit(code)


def judged(target: Target, given: Input) -> tuple[bool, str]:
    """Whether the input was read, and what is wrong with how it was, if anything is."""
    _limit(SECONDS)
    read, wrong = False, ""
    try:
        said = target.read(given.folder)
        read = True
        if isinstance(said, str):
            wrong = _printed(said)
    except HarnessError as error:
        wrong = _hidden(error) or _printed(escape.text(str(error)))
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        wrong = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}: {str(error)[:80]!r}"
    finally:
        _limit(0)
    if not wrong and given.stamp() != given.untouched:
        wrong = "escape: it wrote to a directory beside its own"
    return read, wrong


def _limit(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(_WAITED if seconds else 0)


def _hidden(error: BaseException) -> str:
    """A clear error that was made of a want of memory hides one."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):
            return f"more than {MEMORY} bytes: {str(error)[:80]!r}"
        cause = cause.__cause__ or cause.__context__
    return ""


def _printed(said: str) -> str:
    """What is wrong with what a command printed."""
    if SECRET.decode() in said:
        return "escape: it shows a file outside"
    if "Traceback" in said or "out of memory" in said:
        return f"a traceback: {said.strip().splitlines()[-1][:80]!r}"
    return "" if escape.text(said) == said else "a control character is printed"


def captured(command: Callable[[], int]) -> str:
    """What a command prints, on either stream; ``ValueError`` for an exit code that is none of a command's."""
    before, text = (sys.stdout, sys.stderr), io.StringIO()
    sys.stdout = sys.stderr = text
    try:
        code = command()
    finally:
        sys.stdout, sys.stderr = before
    if code not in (0, 1, 2):
        raise ValueError(f"exit code {code}")
    return text.getvalue()
