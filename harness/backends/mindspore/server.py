"""Controls the worker processes: starts them when needed, exchanges lines of JSON, and ends them with everything they
started."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from harness.backends.mindspore.worker import MARK, environment
from harness.errors import BackendError

WORKER = Path(__file__).with_name("worker.py")
#: seconds a worker has to end by itself
PATIENCE = 5.0
_TAIL = 4000


class Ended(NamedTuple):
    """How a forked process ended.

    Attributes:
        code: exit code; a signal's number, negated.
        cpu: CPU seconds it took, those of its children it waited for included.
    """

    code: int
    cpu: float


class Server:
    """One worker.

    Args:
        python: interpreter that has MindSpore.
        fallbacks: packages it may take from other directories if it lacks them: name -> directory.
        preload: modules that every test will want.
        folder: where everything of its requests is written; it removes that if this process is gone.

    Attributes:
        versions: of what computes, as the worker told.
    """

    def __init__(self, python: str, fallbacks: Mapping[str, str], preload: tuple[str, ...], folder: str) -> None:
        self._python = python
        self._first = {"fallbacks": dict(fallbacks), "preload": list(preload), "folder": folder}
        self._process: subprocess.Popen[bytes] | None = None
        self._requests = self._replies = -1
        self._buffer = b""
        self._numbers = 0
        self._log: IO[bytes] | None = None
        self._started: dict[int, int] = {}
        self._ended: dict[int, Ended] = {}
        self._submitted: dict[int, float] = {}
        self._marks: dict[int, bytes] = {}
        self.versions: dict[str, str] = {}

    def start(self, seconds: float) -> None:
        """Starts the worker and waits until it has imported MindSpore.

        Raises:
            BackendError: it did not within ``seconds``, or ended; says what it last said.
        """
        from_us, self._requests = os.pipe()
        self._replies, from_it = os.pipe()
        self._log = tempfile.TemporaryFile(prefix="msdump-worker-")  # noqa: SIM115 - closed by close
        try:
            # A session of its own: Ctrl-C at the terminal is for pytest, which then ends the worker.
            self._process = subprocess.Popen(
                [self._python, str(WORKER), str(from_us), str(from_it)],
                stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
                pass_fds=(from_us, from_it), start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise BackendError(f"backend mindspore: {self._python} could not be started: {error.strerror}") from None
        finally:
            os.close(from_us)
            os.close(from_it)
        self._send(self._first)
        reply = self._reply(time.monotonic() + seconds)
        if reply is None:
            self.close()
            raise BackendError(f"backend mindspore: {self._python} did not import MindSpore in_session {seconds:g} s")
        if "ready" not in reply:
            raise BackendError(f"backend mindspore: {self._python} cannot import MindSpore:\n{reply['failed']}")
        self.versions = dict(reply["ready"])

    @property
    def alive(self) -> bool:
        """Whether it accepts requests."""
        return self._process is not None and self._process.poll() is None

    def submit(self, request: Mapping[str, Any]) -> int:
        """Runs a request in a separate process; returns the request's number."""
        self._numbers += 1
        self._send({**request, "id": self._numbers})
        self._submitted[self._numbers] = time.monotonic()
        self._marks[self._numbers] = f"{MARK}={request['environment'][MARK]}".encode()
        return self._numbers

    def wait(self, number: int, seconds: float) -> Ended | None:
        """The outcome of request ``number``; None if it does not end within ``seconds`` after it was submitted.

        Raises:
            BackendError: the worker itself ended.
        """
        while number not in self._ended:
            reply = self._reply(self._submitted[number] + seconds)
            if reply is None:
                return None
            if "started" in reply:
                self._started[reply["id"]] = reply["started"]
            elif "ended" in reply:
                self._started.pop(reply["id"], None)
                self._ended[reply["id"]] = Ended(reply["ended"], reply["cpu"])
        for table in (self._submitted, self._marks):
            table.pop(number, None)
        return self._ended.pop(number)

    def kill(self, number: int) -> None:
        """Ends request ``number`` and everything it started; the worker too, if it does not say so at once."""
        try:
            self._send({"kill": number})
            ended = self.wait(number, time.monotonic() - self._submitted[number] + PATIENCE)
        except BackendError:
            ended = None
        if ended is None:
            self.close()

    def close(self) -> None:
        """Ends the worker and everything it started."""
        process, self._process = self._process, None
        if self._requests >= 0:
            with contextlib.suppress(OSError):
                os.write(self._requests, b'{"end": true}\n')
        for descriptor in (self._requests, self._replies):
            if descriptor >= 0:
                os.close(descriptor)
        self._requests = self._replies = -1
        if process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            # Forked processes have groups of their own; without their worker they die, and so do their children here.
            for group in (*self._started.values(), process.pid):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(group, signal.SIGKILL)
            process.wait()
            end_marked(set(self._marks.values()))
        self._started.clear()
        self._marks.clear()
        if self._log is not None:
            self._log.close()
            self._log = None

    def _send(self, content: Mapping[str, Any]) -> None:
        data = json.dumps(content).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._requests, data) :]
        except OSError:
            raise self._gone() from None

    def _reply(self, limit: float) -> dict[str, Any] | None:
        """The next object; None if there is none until ``limit`` (of ``time.monotonic``)."""
        while b"\n" not in self._buffer:
            left = limit - time.monotonic()
            ready = select.select([self._replies], [], [], max(left, 0))[0]
            if not ready:
                return None
            data = os.read(self._replies, 1 << 16)
            if not data:
                raise self._gone()
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def _gone(self) -> BackendError:
        """The error for an ended worker; also ends everything it started."""
        code, said = None, ""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(PATIENCE)
        if self._log is not None:
            self._log.seek(0)
            said = self._log.read()[-_TAIL:].decode(errors="replace").strip()
        self.close()
        text = f"backend mindspore: the worker of {self._python} ended ({ending(code)})"
        return BackendError(f"{text}; it last said:\n{said}" if said else text)


def end_marked(marks: set[bytes]) -> None:
    """Kills what requests left that no worker looks after any more: programs with one of ``marks`` in their
    environment."""
    for pid in map(int, filter(str.isdigit, os.listdir("/proc") if marks and os.path.isdir("/proc") else ())):
        if not marks.isdisjoint(environment(pid)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def ending(code: int | None) -> str:
    """An exit code in words."""
    if code is None:
        return "without an exit code"
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"
