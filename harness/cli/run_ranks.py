"""``msdump run --ranks N``: a script as N ranks on this machine."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from harness import escape

#: more ranks than this are refused: each is a process
LARGEST = 1024
#: the exit code after Ctrl-C, as a shell gives it
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Ranks:
    """How many ranks a script is to run as.

    Attributes:
        size: number of ranks.
        logs: directory for what each prints; None for the terminal.
        timeout: seconds a rank may wait in a collective; 0 for no limit.
    """

    size: int
    logs: Path | None
    timeout: float

    def split(self) -> int | None:
        """Forks the ranks, waits for them, and says why if the run was given up.

        Returns:
            The exit code of the whole; None in a rank's process, which runs the script, and where there is one rank.
        """
        wrong = self._wrong()
        if wrong:
            print(f"msdump: {escape.line(wrong)}", file=sys.stderr)
            return 2
        if self.size == 1 and self.logs is None:
            return None
        from harness.framework.communication.launch import fork_ranks

        parent = os.getpid()
        try:
            run = fork_ranks(self.size, self.timeout, self._prepare)
        except KeyboardInterrupt:
            if os.getpid() != parent:
                raise
            print("msdump: interrupted; all ranks were ended", file=sys.stderr)
            return INTERRUPTED
        if run is None:
            return None
        if run.failure:
            print(f"msdump: {escape.line(run.failure)}", file=sys.stderr)
        return run.code

    def _wrong(self) -> str:
        if not 1 <= self.size <= LARGEST:
            return f"--ranks {self.size}: accepted: a number from 1 to {LARGEST}"
        if not 0 <= self.timeout < 1e9:
            return f"--timeout {self.timeout:g}: accepted: seconds, 0 for no limit"
        if os.environ.get("MS_ROLE") and self.size > 1:
            return f"--ranks {self.size}: MS_ROLE is set, so a launcher started this process as one rank already"
        if self.logs is not None:
            try:
                self.logs.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                return f"--logs {self.logs}: {error.strerror}"
        return ""

    def _prepare(self, rank: int) -> None:
        """A rank's process: its own log, and no traceback where another rank is the reason."""
        if self.logs is not None:
            file = os.open(self.logs / f"worker_{rank}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(file, 1)
            os.dup2(file, 2)
            os.close(file)
        for stream in (sys.stdout, sys.stderr):  # a line is written whole, so that those of several ranks do not mix
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(line_buffering=True, write_through=False)
        before = sys.excepthook

        def shown(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            from harness.errors import CollectiveError

            if not issubclass(kind, CollectiveError):
                before(kind, error, trace)

        sys.excepthook = shown
