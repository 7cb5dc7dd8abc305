"""A session of several processes, one a rank, as ``torchrun -m pytest --msdump`` starts them.

Rank 0 judges and writes: the others hand over what they captured, through files below ``.msdump/ranks``, and wait for
what it says. They print nothing unless a test of theirs fails by itself.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_msdump.options import Settings
from pytest_msdump.scratch import scratch

if TYPE_CHECKING:
    from collections.abc import Callable

_PAUSE = 0.01
#: how long rank 0 stays for the others at the end
_LEAVE = 20.0
#: how long a rank whose test failed waits for the others to fail, too
_SOON = 3.0
LAUNCHED: pytest.StashKey[Launched] = pytest.StashKey()

# pytest shows no frame of this module.
__tracebackhide__ = True


def ranks_of(environ: Mapping[str, str]) -> tuple[int, int]:
    """The process's rank and the number of ranks, as ``torchrun`` sets them; ``(0, 1)`` for any other process.

    Raises ``pytest.UsageError`` for numbers that cannot be.
    """
    rank, size = environ.get("RANK"), environ.get("WORLD_SIZE")
    if not rank or not size or "MASTER_ADDR" not in environ:
        return 0, 1
    if not (rank.isascii() and rank.isdigit() and size.isascii() and size.isdigit() and int(rank) < int(size)):
        raise pytest.UsageError(f"msdump: RANK is a number below WORLD_SIZE; given are RANK={rank}, WORLD_SIZE={size}")
    return int(rank), int(size)


def install(config: pytest.Config, settings: Settings) -> Launched | None:
    """Prepares a session of several ranks; None if the process is alone.

    Raises ``pytest.UsageError`` for what several ranks cannot do together.
    """
    rank, size = ranks_of(os.environ)
    if size == 1:
        return None
    for flag, given in (
        ("--msdump-learn", settings.learn), ("--msdump-repeat", settings.repeat),
        ("-n", config.getoption("numprocesses", default=None)),
    ):  # fmt: skip
        if given:
            raise pytest.UsageError(f"msdump: {flag} is for a session of one process; WORLD_SIZE is {size}")
    made = config.stash[LAUNCHED] = Launched(settings, rank, size)
    config.pluginmanager.register(made, "msdump-ranks")
    return made


def of(config: pytest.Config) -> Launched | None:
    """The session's ranks; None if it has one."""
    return config.stash.get(LAUNCHED, None)


class Launched:
    """The ranks of a session.

    Attributes:
        rank: of this process.
        size: number of ranks.
    """

    def __init__(self, settings: Settings, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self._seconds = _seconds()
        self._settings = settings
        self._name = _session_name(size)
        self._numbers: Counter[str] = Counter()
        self._keys: dict[str, str] = {}
        self._handed: set[str] = set()
        self._closers: list[Callable[[], None]] = []
        self._silenced: io.StringIO | None = None
        self._out: Any = None
        #: tests that fail by themselves on rank 0, too
        self._shared: set[str] = set()
        #: whether a test failed here alone, so that others may wait for ever
        self._alone = False
        #: whether a test of this rank failed by itself
        self._own = False

    def _folder(self) -> Path:
        folder = scratch(self._settings.root, "ranks") / self._name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Keeps what ranks other than 0 print."""
        reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
        if self.rank and reporter is not None:
            self._silenced, self._out = io.StringIO(), reporter._tw._file
            reporter._tw._file = self._silenced

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """A test begins; one that runs again is another."""
        name = item.nodeid
        self._keys[name] = f"{blake2b(name.encode(), digest_size=10).hexdigest()}-{self._numbers[name]}"
        self._numbers[name] += 1

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes failures of this rank's own, which rank 0 does not tell."""
        told = getattr(report, "msdump_told", False) or report.nodeid in self._shared
        self._own = self._own or (report.failed and not told)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Likewise."""
        self._own = self._own or report.failed

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Rank 0 leaves last; the others wait until it has printed, because the launcher ends all with the first."""
        for close in self._closers:
            close()
        folder = self._folder()
        if self._silenced is not None:
            reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
            if reporter is not None:
                reporter._tw._file = self._out
            if self._own:
                sys.stdout.write("".join(f"rank {self.rank}: {line}" for line in _lines(self._silenced.getvalue())))
        sys.stdout.flush()
        _mark(folder / f"left-{self.rank}")
        if self._alone:
            return
        others = [folder / f"left-{rank}" for rank in range(self.size)]
        if self.rank:
            _wait_for(others[:1], self._seconds)
        elif _wait_for(others, _LEAVE):
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                folder.parent.rmdir()

    def _place(self, nodeid: str, rank: int) -> Path:
        return self._folder() / f"{self._keys[nodeid]}-rank{rank}.h5"

    def hand_over(self, test: Any) -> None:
        """Gives rank 0 what this rank's test captured."""
        from harness.capture.gathered import write

        nodeid = test.item.nodeid
        self._handed.add(self._keys[nodeid])
        write(test.capture(), self._place(nodeid, self.rank), {"state": "done", "replicated": test.replicated})

    def ended(self, item: pytest.Item, why: str, failed: bool = False) -> None:
        """Tells the others that a test ended here before it was judged.

        Args:
            item: the test.
            why: in one line.
            failed: whether it failed; if another rank is not done soon, it may wait for this one, and the session ends.
        """
        nodeid = item.nodeid
        key = self._keys.get(nodeid)
        if key is None or key in self._handed:
            return
        self._handed.add(key)
        from harness.capture.gathered import put

        put(self._place(nodeid, self.rank).with_suffix(".json"), {"said": {"state": "ended", "why": why[:500]}})
        if not self.rank:
            self.tell(nodeid, f"rank 0: {why[:500]}")
        if failed and not self._others_are_done(key):
            self._alone = True
            item.session.shouldfail = f"rank {self.rank} failed while others may wait for it; the launcher ends them"
        verdict = self._place(nodeid, 0).with_suffix(".verdict")
        if failed and self.rank and verdict.exists() and '"rank 0: ' in verdict.read_text(encoding="utf-8"):
            self._shared.add(nodeid)

    def _others_are_done(self, key: str) -> bool:
        folder = self._folder()
        return _wait_for([folder / f"{key}-rank{rank}.json" for rank in range(1, self.size)], _SOON) and (
            not self.rank or _wait_for([folder / f"{key}-rank0.verdict"], _SOON)
        )

    def gather(self, test: Any) -> str:
        """Rank 0 takes what the others captured; returns why it could not, in one line, or nothing."""
        from harness.capture.gathered import of_rank, read
        from harness.errors import HarnessError

        nodeid, folder, wrong = test.item.nodeid, self._folder(), []
        self._handed.add(self._keys[nodeid])
        for rank in range(1, self.size):
            path = self._place(nodeid, rank)
            said = path.with_suffix(".json")
            if not _wait_for([said], self._seconds, unless=folder / f"left-{rank}"):
                late = f"rank {rank} was not done with it {self._seconds:g} s after rank 0 (MSDUMP_RANKS_TIMEOUT)"
                wrong.append(f"rank {rank} did not run it" if (folder / f"left-{rank}").exists() else late)
                continue
            try:
                about = json.loads(said.read_text(encoding="utf-8"))["said"]
                if about["state"] != "done":
                    wrong.append(f"rank {rank}: {about['why']}")
                    continue
                capture, told, close = read(path)
            except (HarnessError, OSError, ValueError, KeyError, TypeError) as error:
                wrong.append(f"rank {rank}: {error}")
                continue
            self._closers.append(close)
            test.others.append(of_rank(capture, rank))
            test.replicated += [each for each in told.get("replicated", ()) if each not in test.replicated]
        return "; ".join(wrong)

    def tell(self, nodeid: str, failure: str) -> None:
        """Rank 0 tells the others what became of a test; an empty text if it holds."""
        from harness.capture.gathered import put

        put(self._place(nodeid, 0).with_suffix(".verdict"), {"failure": failure})
        for close in self._closers:
            close()
        self._closers.clear()

    def heard(self, nodeid: str) -> str:
        """What rank 0 says of a test: the failure in one line, or nothing."""
        verdict = self._place(nodeid, 0).with_suffix(".verdict")
        if not _wait_for([verdict], self._seconds, unless=self._folder() / "left-0"):
            return "msdump: rank 0 said nothing of this test"
        failure = json.loads(verdict.read_text(encoding="utf-8"))["failure"]
        return f"msdump: told by rank 0: {failure}" if failure else ""


def _seconds() -> float:
    from harness.capture.gathered import seconds_to_wait
    from harness.errors import SettingError

    try:
        return seconds_to_wait()
    except SettingError as error:
        raise pytest.UsageError(f"msdump: {error}") from None


def _session_name(size: int) -> str:
    """A name that this session's ranks have in common, and no other session."""
    given = os.environ
    parts = [given.get(name, "") for name in ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT")]
    run = given.get("TORCHELASTIC_RUN_ID", "none")
    if given.get("LOCAL_WORLD_SIZE", str(size)) == str(size):
        parts += [run, str(os.getppid()), _began(os.getppid())]
    elif run in ("", "none"):
        raise pytest.UsageError(
            "msdump: ranks on several hosts meet in a directory of one name: give torchrun --rdzv-id=NAME, "
            "another one for each run"
        )
    else:
        parts.append(run)
    return blake2b("\n".join(parts).encode(), digest_size=12).hexdigest()


def _began(process: int) -> str:
    """When a process began, as the system counts it; empty where it does not say."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[19]


def _mark(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.touch()


def _wait_for(paths: list[Path], seconds: float, unless: Path | None = None) -> bool:
    """Waits until all files are there; False after so long, or once ``unless`` is there without them."""
    end = time.monotonic() + seconds
    while True:
        gone = unless is not None and unless.exists()
        if all(path.exists() for path in paths):
            return True
        gone = gone or not paths[0].parent.exists()  # rank 0 has tidied up
        if gone or time.monotonic() > end:
            return False
        time.sleep(_PAUSE)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
