"""The process under whose MindSpore tests run: ``python worker.py REQUESTS REPLIES``, two file descriptors.

JSON objects, one a line, go both ways. The worker imports MindSpore once and starts no thread of its own; each request
is run by a fork (``forked_test.py``), so that every test sees a MindSpore that has done nothing yet: its dump
configuration unread, its graphs and operators uncounted. A line that says so ends the worker and everything it started;
so does the end of REQUESTS, or of the process that has it, and then the worker removes what that left, too.

Run by path under an interpreter that need not have this project: nothing but the standard library may be imported here.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import sys
import traceback
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
MARK = "MSDUMP_PLAYED"
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def prctl(option: int, value: int) -> None:
    """``prctl(2)``, where there is one."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def end_group(group: int) -> None:
    """Kills a process group, if it is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def children() -> list[int]:
    """Ids of this process's children, adopted ones included."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def environment(pid: int) -> list[bytes]:
    """The variables a process was started with; none where it is gone."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


class Worker:
    """Takes requests and forks.

    Attributes:
        running: process id -> its request.
        folder: where everything is written.
    """

    def __init__(self, requests: int, replies: int) -> None:
        self._requests = requests
        self._replies = replies
        self._buffer = b""
        self._lines: list[bytes] = []
        self._parent = os.getppid()
        self._woken, self._wakes = os.pipe()
        os.set_blocking(self._wakes, False)
        self.folder = ""
        self.running: dict[int, dict[str, Any]] = {}

    def reply(self, **content: Any) -> None:
        """Sends one object."""
        data = json.dumps(content).encode() + b"\n"
        while data:
            data = data[os.write(self._replies, data) :]

    def next_request(self) -> dict[str, Any] | None:
        """Waits for a request, and looks after the children meanwhile; None when there will be none."""
        while not self._lines:
            ready, _, _ = select.select([self._requests, self._woken], [], [], 1.0)
            if self._woken in ready:
                os.read(self._woken, 4096)
            self.reap()
            if os.getppid() != self._parent:
                return None
            if self._requests in ready:
                data = os.read(self._requests, 1 << 16)
                if not data:
                    return None
                *self._lines, self._buffer = (self._buffer + data).split(b"\n")
        found: dict[str, Any] = json.loads(self._lines.pop(0))
        return found

    def serve(self) -> dict[str, Any] | None:
        """Works until there is nothing more to do; in a child, gives the request it was forked for."""
        signal.set_wakeup_fd(self._wakes)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        while True:
            request = self.next_request()
            if request is None or "end" in request:
                self.end()
                if request is None:
                    # Nobody is left who would.
                    shutil.rmtree(self.folder, ignore_errors=True)
                return None
            if "kill" in request:
                for pid in [pid for pid, run in self.running.items() if run["id"] == request["kill"]]:
                    end_group(pid)
            elif self.fork(request):
                return request

    def fork(self, request: dict[str, Any]) -> bool:
        """True in the child."""
        worker, pid = os.getpid(), os.fork()
        if pid == 0:
            self._become_child(worker)
            return True
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        self.running[pid] = request
        self.reply(id=request["id"], started=pid)
        return False

    def _become_child(self, worker: int) -> None:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != worker:
            os._exit(1)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for descriptor in (self._requests, self._replies, self._woken, self._wakes):
            os.close(descriptor)

    def reap(self) -> None:
        """Takes note of children that ended; what those left running is killed."""
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None:
                return
            pid = ended.si_pid
            if pid in self.running:
                # Still a zombie: its number cannot be another group's yet.
                end_group(pid)
            _, status, usage = os.wait4(pid, 0)
            request = self.running.pop(pid, None)
            self.kill_orphans()
            if request is not None:
                cpu = usage.ru_utime + usage.ru_stime
                self.reply(id=request["id"], ended=os.waitstatus_to_exitcode(status), cpu=cpu)

    def kill_orphans(self) -> None:
        """Kills what left its group and was orphaned, but for what belongs to a request still running.

        As the subreaper this process inherits it; programs are known by a variable of their environment.
        """
        marks = [f"{MARK}={run['environment'][MARK]}".encode() for run in self.running.values()]
        for pid in children():
            if pid not in self.running and not any(mark in environment(pid) for mark in marks):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def end(self) -> None:
        """Kills everything that was started and is still there."""
        for pid in self.running:
            end_group(pid)
        # Nothing runs any more: whatever is left belongs to nobody.
        self.running.clear()
        with contextlib.suppress(ChildProcessError):
            while True:
                self.kill_orphans()
                os.waitpid(-1, 0)


def prepared(worker: Worker, forked: Any) -> bool:
    """Imports MindSpore and what the first line asks for; False where that failed, and was told."""
    first = worker.next_request()
    if first is None:
        return False
    worker.folder = first["folder"]
    # Nobody is listened to while MindSpore is imported, which takes seconds.
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        versions = forked.prepare(first["fallbacks"], first["preload"])
    except BaseException:
        worker.reply(failed=traceback.format_exc())
        return False
    prctl(_PR_SET_PDEATHSIG, 0)
    worker.reply(ready=versions)
    return True


def main() -> int:
    """Serves; in a child, runs one request."""
    sys.dont_write_bytecode = True
    # Run by path: the directory of this file must not answer the imports of tests.
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or os.getcwd()) != HERE]
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("msdump_forked", os.path.join(HERE, "forked_test.py"))
    assert spec is not None
    assert spec.loader is not None
    forked = module_from_spec(spec)
    # MindSpore looks the functions it compiles up in their modules.
    sys.modules[spec.name] = forked
    spec.loader.exec_module(forked)
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    worker = Worker(int(sys.argv[1]), int(sys.argv[2]))
    if not prepared(worker, forked):
        return 1
    request = worker.serve()
    if request is not None:
        forked.run_request(request)
        # What MindSpore does at the end; the rest of an interpreter's end takes longer than most tests.
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
