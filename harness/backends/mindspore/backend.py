"""Backend ``mindspore``: the installed MindSpore, on whatever device it finds."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.backends.base import BACKENDS, Backend
from harness.backends.calls import Opening
from harness.backends.mindspore.folders import folders_of
from harness.backends.mindspore.installed import Installed, find
from harness.backends.modes import MODES, modes_of, refusal
from harness.capture import Capture
from harness.devices import DEVICES
from harness.errors import BackendError, UnsupportedError

if TYPE_CHECKING:
    from harness.backends.calls import Call
    from harness.backends.mindspore.process import MindsporeProcess
    from harness.backends.mindspore.server import Server

TIMEOUT = 600.0
"""Seconds a test may take."""
_START = 300.0


class Mindspore(Backend):
    """See ``Backend``.

    One worker imports MindSpore and is forked for each call; it stays until ``close``.

    Attributes:
        timeout: seconds a call may take.
        jobs: how many calls run at a time.
    """

    name = "mindspore"
    emulated = False
    compiles = False
    converts = True  # its process gives MindSpore's tensors

    def __init__(self) -> None:
        self.timeout = TIMEOUT
        self.jobs = 1
        self._ahead: dict[Opening, MindsporeProcess] = {}
        self._python: str | None = None
        self._fallbacks: tuple[str, ...] = ()
        self._server: Server | None = None
        self._folder: str | None = None
        self._broken: str | None = None

    def configure(
        self, python: str | None = None, timeout: float = TIMEOUT, fallbacks: Sequence[str] = (), jobs: int = 1
    ) -> None:
        """Sets the settings for everything that runs from now on.

        Args:
            python: interpreter with MindSpore; None for the one in ``MSDUMP_MINDSPORE``, or this one.
            timeout: seconds a call may take.
            fallbacks: pure Python packages that tests import; taken from here if its interpreter lacks them.
            jobs: number of calls that run at a time, if ``call_ahead`` announces them.
        """
        self.close()
        self._python, self.timeout, self._fallbacks, self.jobs = python, timeout, tuple(fallbacks), jobs

    def installed(self) -> Installed:
        """The installed MindSpore.

        Raises:
            UnsupportedError: there is no MindSpore.
        """
        found = find(self._python)
        if isinstance(found, str):
            raise UnsupportedError(f"backend {self.name} cannot run here: {found}")
        return found

    @property
    def computes(self) -> str:
        """See ``Backend.computes``: ``2.10.0 on cpu``."""
        found = find(self._python)
        return "" if isinstance(found, str) else f"{found.version} on {found.device}"

    def available(self) -> str | None:
        """See ``Backend.available``."""
        found = find(self._python)
        return found if isinstance(found, str) else None

    @property
    def modes(self) -> tuple[str, ...]:
        """The dump modes of the device it finds; all modes if it cannot run, because nothing is known then."""
        found = find(self._python)
        return tuple(MODES) if isinstance(found, str) else modes_of(DEVICES.get(found.device))

    def stand_in(self) -> str:
        """See ``Backend.stand_in``: it never does."""
        return "it runs programs in a process of its own"

    def refusal(self, mode: str) -> str | None:
        """See ``Backend.refusal``."""
        return None if mode in self.modes else refusal(DEVICES.get(self.installed().device), mode)

    def server(self) -> Server:
        """The worker, started if needed.

        Raises:
            BackendError: it cannot be started; a second call gives the same answer.
        """
        from harness.backends.mindspore.server import Server

        if self._broken is not None:
            raise BackendError(self._broken)
        if self._server is None or not self._server.alive:
            self._stop()
            server = Server(self.installed().python, folders_of(self._fallbacks), self._fallbacks[:1], self.folder())
            try:
                server.start(_START)
            except BackendError as error:
                server.close()
                self._broken = str(error)
                raise
            except BaseException:
                server.close()
                raise
            self._server = server
        return self._server

    def folder(self) -> str:
        """The directory for files of its processes."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="msdump-mindspore-")
        return self._folder

    def _stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()

    def close(self) -> None:
        """Ends its worker and everything the worker started; the next call starts another."""
        self._stop()
        self.drop_ahead()
        folder, self._folder = self._folder, None
        if folder is not None:
            with suppress(OSError):  # a process that is still open removes its part itself
                os.rmdir(folder)
        self._broken = None

    def call_ahead(self, coming: Iterable[tuple[Opening, Call]]) -> None:
        """Starts the calls of processes that will be opened, as far as ``jobs`` allows; their outcomes are kept.

        Args:
            coming: in the order they will come.

        Raises:
            BackendError: no worker could be started.
        """
        from harness.backends.mindspore.process import MindsporeProcess

        if self.jobs < 2:
            return
        for opening, call in coming:
            if len(self._ahead) + 1 >= self.jobs:
                break
            if opening not in self._ahead and self.refusal(opening.mode) is None:
                process = self._ahead[opening] = MindsporeProcess(self, *opening)
                process.begin(call)

    def drop_ahead(self) -> int:
        """Drops the calls that run ahead; returns their number."""
        ahead, self._ahead = self._ahead, {}
        for process in ahead.values():
            process.close()
        return len(ahead)

    @contextmanager
    def open(
        self, *, network: str, mode: str = "tensor", rootdir: str | None = None, rdr: bool = False
    ) -> Iterator[MindsporeProcess]:
        """See ``Backend.open``; a release without the recorder records nothing."""
        self.require(mode)
        from harness.backends.mindspore.process import MindsporeProcess

        opening = Opening(network, mode, rootdir, rdr)
        process = self._ahead.pop(opening, None) or MindsporeProcess(self, *opening)
        try:
            yield process
        finally:
            process.close()

    def run(
        self,
        program: Callable[[], Any],
        *,
        network: str,
        mode: str = "tensor",
        rootdir: str | None = None,
        rdr: bool = False,
    ) -> Capture:
        """See ``Backend.run``; what ``program`` can be, see ``MindsporeProcess.execute``."""
        with self.open(network=network, mode=mode, rootdir=rootdir, rdr=rdr) as process:
            process.execute(program)
            capture = process.capture()
            # What it reads from goes with the process.
            capture.source = [replace(record, values=record.load()) for record in capture.records()]
            return capture


MINDSPORE = Mindspore()
BACKENDS.register(Mindspore.name, MINDSPORE)
