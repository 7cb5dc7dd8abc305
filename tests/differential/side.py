"""A process that has imported what scripts need, and runs each of them in a fork of itself."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


class Side:
    """One interpreter with MindSpore in it, that runs scripts in forks.

    Args:
        python: the interpreter.
        own: whether this project stands for MindSpore there, as under ``msdump run``.
        preload: a script of a tool other than MindSpore, which imports what the tool needs.
    """

    def __init__(self, python: str, own: bool, preload: Path | None = None) -> None:
        command = [python, str(HERE / "forking.py")]
        if own or preload:
            command += ["own", str(ROOT)] if own else ["tool", str(preload)]
        environment = {**os.environ, "GLOG_v": "4", "OMP_NUM_THREADS": "1"}
        environment.pop("MINDSPORE_DUMP_CONFIG", None)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
        )

    def begin(
        self,
        script: Path,
        out: Path,
        limit: int,
        arguments: Iterable[object] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Asks for a run of ``script`` into ``out``: with a dump of all, or with these variables instead."""
        assert self._process.stdin is not None
        request: dict[str, object] = {"script": str(script), "out": str(out), "limit": limit}
        request |= {"arguments": [str(each) for each in arguments], "environment": environment}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()

    def end(self) -> int:
        """Waits for the run; gives its exit code, negative for a signal."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process that runs scripts is gone"
        code: int = json.loads(line)["code"]
        return code

    def printed(self, script: Path, out: Path, *arguments: object, limit: int = 600, **environment: str) -> str:
        """What ``script`` prints, run in the directory ``out`` (made where it is not there) without a dump, unless
        ``environment`` asks for one. ``AssertionError`` with the end of its errors if it fails."""
        out.mkdir(parents=True, exist_ok=True)
        self.begin(script, out, limit, arguments, environment)
        code = self.end()
        assert code == 0, f"{script.name}: {code}\n{(out / 'stderr').read_text(errors='replace')[-4000:]}"
        return (out / "stdout").read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        """Ends the process."""
        # As a context it closes both pipes, and waits.
        with self._process:
            if self._process.stdin is not None:
                self._process.stdin.close()
