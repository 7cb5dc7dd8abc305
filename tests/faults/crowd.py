"""Many sessions on one repository, of which some are killed, meet a full disk, a clock that jumps, or locks that fail.

``python -m tests.faults.crowd [--seconds N] [--sessions N] [--seed N]`` keeps so many processes at work for so long,
half of it without ``flock``: sessions that rewrite several goldens, single writers, ``accept``, ``verify --fix``,
sessions that remove goldens, and readers. A golden keeps the number of the session that wrote it last. Then nothing
must be lost, damaged or left over, and each session that lost must have said so in one line. ``--page PAGE`` writes the
table.
"""

from __future__ import annotations

import argparse
import errno
import fcntl
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks._pages import put
from harness import atomic
from harness.cli import main
from harness.errors import HarnessError, told
from harness.store import GoldenStore, RunData, Transaction, change_one, manifest, recover, update
from harness.store.verify import verify
from tests.faults import steps
from tests.store.helpers import CPU, network

STORES = tuple(f"{folder}/{name}.h5" for folder in ("a", "b", "c") for name in ("x", "y"))
#: What befalls a session, as often as it stands here.
FATES = ("", "", "", "killed", "full disk", "failing disk", "clock", "locks fail")
#: A session that takes longer hangs.
_SECONDS = 300
_HEAD = (
    "| locks | sessions at once | sessions | ended well | lost, one line each | killed | findings |\n"
    "|---|---|---|---|---|---|---|\n"
)


class Session(NamedTuple):
    """One process.

    Attributes:
        number: what its goldens keep.
        work: name of what it does.
        stores: those it writes or removes.
        began: the seconds at which it did.
    """

    number: int
    work: str
    stores: tuple[str, ...]
    began: float


@dataclass
class Crowd:
    """A directory of goldens, and who works there.

    Attributes:
        home: where the goldens lie, in ``golden``.
        written: for each store the sessions that may have written it: begin, end, number; 0 for what was there. The end
            of one that did not say it was done has no limit.
        ended: how sessions ended: ``well``, ``lost``, ``killed``.
        bad: what must not be, in words.
    """

    home: Path
    rng: random.Random
    locks: bool = True
    written: dict[str, list[tuple[float, float, int]]] = field(default_factory=dict)
    ended: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.golden = self.home / "golden"
        for name in STORES:
            (self.golden / name).parent.mkdir(parents=True, exist_ok=True)
            update(self.golden / name, name, {CPU: _data(0)})
            self.written[name] = [(0.0, 0.0, 0)]
        manifest.rebuild(self.golden)

    def run(self, seconds: float, at_once: int) -> None:
        """Keeps ``at_once`` sessions at work, then waits for the last."""
        until, number, living = time.monotonic() + seconds, 0, dict[int, Session]()
        while living or time.monotonic() < until:
            while len(living) < at_once and time.monotonic() < until:
                number += 1
                living |= [self._begin(number)]
            child, status = os.wait()
            self._end(living.pop(child), os.waitstatus_to_exitcode(status))

    def _begin(self, number: int) -> tuple[int, Session]:
        work = self.rng.choice(tuple(WORKS))
        several = tuple(sorted(self.rng.sample(STORES, self.rng.randrange(1, 4))))
        stores = {"regen": several, "write": several[:1], "accept": several, "prune": several[:1]}.get(work, ())
        session = Session(number, work, stores, time.monotonic())
        fate, at = self.rng.choice(FATES), self.rng.randrange(1, 60)
        child = os.fork()
        if child:
            return child, session
        try:
            signal.alarm(_SECONDS)
            silent = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1):
                os.dup2(silent, descriptor)
            _befall(fate, at, self.home, self.locks)
            with (self.home / f"said{number}").open("w") as said:
                sys.stderr = said
                code = _ended(lambda: WORKS[work](self.golden, session))
        finally:
            os._exit(code)

    def _end(self, session: Session, code: int) -> None:
        said = self.home / f"said{session.number}"
        lines = said.read_text().splitlines() if said.exists() else []
        how = {0: "well", 1: "well", 2: "lost", -signal.SIGKILL: "killed"}.get(code, "badly")
        self.ended[how] += 1
        one = len(lines) == 1 and lines[0].startswith("msdump: ")
        if how == "badly" or (how == "lost" and not one):
            self.bad.append(f"{session.work} ended with {code}: {' '.join(lines)[-300:]}")
        end = time.monotonic() if how == "well" else float("inf")
        for name in session.stores:
            self.written[name].append(
                (session.began, end, -session.number if session.work == "prune" else session.number)
            )
        said.unlink(missing_ok=True)

    def judge(self) -> None:
        """Looks at what all of them left."""
        try:
            recover(self.golden)
            found = verify(self.golden, fix=True)
            self.bad += verify(self.golden).problems if found.fixed else found.problems
        except HarnessError as error:
            self.bad.append(f"it cannot be recovered: {error}")
        for name, written in self.written.items():
            there = _number_of(self.golden / name)
            done = [end for _, end, _ in written if end != float("inf")]
            # Whoever had ended before another one that was done began has been overwritten.
            latest = max(began for began, end, _ in written if end != float("inf"))
            allowed = {number for _, end, number in written if end >= latest} | ({0} if len(done) == 1 else set())
            if not any(there == number or (there is None and number < 0) for number in allowed):
                self.bad.append(f"{name} is that of session {there}; it should be one of {sorted(allowed)}")
        with Transaction(self.golden):  # takes every lock, and sweeps
            pass
        self.bad += [f"left over: {path}" for path in self.golden.rglob(".*")]


def _data(number: int) -> RunData:
    return RunData(network(number, 2), {"a.ir": str(number).encode() * 99}, {"mine": number})


def _number_of(path: Path) -> int | None:
    """The session that wrote a golden; None where there is none."""
    try:
        with GoldenStore.open(path) as store:
            problems = store.verify()
            assert not problems, problems
            return int(store.run(*CPU).attrs["mine"])
    except FileNotFoundError:
        return None


def _regen(golden: Path, session: Session) -> int:
    with Transaction(golden) as change:
        for name in session.stores:
            change.update(name, name, {CPU: _data(session.number)})
        change.commit()
    return 0


def _write(golden: Path, session: Session) -> int:
    (golden / session.stores[0]).parent.mkdir(parents=True, exist_ok=True)
    change_one(golden / session.stores[0], session.stores[0], {CPU: _data(session.number)}, describe=True)
    return 0


def _accept(golden: Path, session: Session) -> int:
    bundle = golden.parent / f"bundle{session.number}"
    for name in session.stores:
        (bundle / name).parent.mkdir(parents=True, exist_ok=True)
        update(bundle / name, name, {CPU: _data(session.number)})
    manifest.rebuild(bundle)
    return main(["accept", str(bundle), "--golden", str(golden)])


def _prune(golden: Path, session: Session) -> int:
    with Transaction(golden) as change:
        change.remove(session.stores[0])
        change.commit()
    return 0


def _verify(golden: Path, _: Session) -> int:
    return main(["verify", str(golden), "--fix"])


def _read(golden: Path, _: Session) -> int:
    for _round in range(5):
        for name in STORES:
            _number_of(golden / name)
    return main(["show", str(golden)])


WORKS: dict[str, Callable[[Path, Session], int]] = {
    "regen": _regen, "write": _write, "accept": _accept, "prune": _prune, "verify": _verify, "read": _read,
}  # fmt: skip


def _ended(work: Callable[[], int]) -> int:
    """The exit code of a work; an error of ours is a line."""
    try:
        return work()
    except HarnessError as error:
        print(f"msdump: {told(error)}", file=sys.stderr)
    except OSError as error:
        print(f"msdump: {told(error)}", file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        return 70
    return 2


def _befall(fate: str, at: int, home: Path, locks: bool) -> None:
    """Prepares this process for what befalls it at its ``at``-th call that changes the file system."""
    hows: dict[str, str | int] = {"killed": steps.BEFORE, "full disk": errno.ENOSPC, "failing disk": errno.EIO}
    if fate in hows:
        steps.Layer(str(home / "golden"), at, hows[fate], None).install()
    if fate == "clock":
        for name in ("time", "monotonic", "perf_counter"):
            _jumping(name, random.Random(at))
    if not locks or fate == "locks fail":
        why = errno.ENOLCK if not locks else errno.EIO

        def flock(*_: object) -> None:
            raise OSError(why, os.strerror(why))

        atomic.flock = fcntl.flock = flock


def _jumping(name: str, rng: random.Random) -> None:
    """A clock that goes on, and now and then an hour more; that of the calendar goes back as well."""
    real, moved = getattr(time, name), [0.0]

    def now() -> float:
        if rng.randrange(20) == 0:
            moved[0] += rng.choice((-3600, 3600)) if name == "time" else 10
        return float(real() + moved[0])

    setattr(time, name, now)


def _main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.crowd", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--sessions", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page")
    given = parser.parse_args()
    rows, bad = [], list[str]()
    for locks in (True, False):
        with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            crowd = Crowd(Path(folder), random.Random(given.seed), locks)
            crowd.run(given.seconds / 2, given.sessions)
            crowd.judge()
        ended = [crowd.ended[each] for each in ("well", "lost", "killed")]
        row: list[Any] = ["flock" if locks else "none", given.sessions, crowd.ended.total(), *ended, len(crowd.bad)]
        rows.append(f"| {' | '.join(map(str, row))} |\n")
        print(rows[-1], *(f"  {each}\n" for each in crowd.bad[:30]), sep="", end="", flush=True)
        bad += crowd.bad
    if given.page:
        put(given.page, "crowd", _HEAD + "".join(rows))
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(_main())
