"""What a backend is, and the registry of backends."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from harness.capture import Capture
from harness.framework.runtime.observer import Observer
from harness.registry import Registry


class Process(Protocol):
    """What stands for one process of networks: graph ids, operator numbers and iterations go on from program to
    program."""

    def execute(self, program: Callable[[], Any], observers: Sequence[Observer] = ()) -> Any:
        """Calls ``program`` with everything it runs captured; gives what it returns, lets pass what it raises.

        Args:
            program: runs networks.
            observers: join for good before it runs; they see graphs compiled from now on.
        """

    def capture(self) -> Capture:
        """Everything so far."""

    def dump(self, folder: Path) -> Observer:
        """What writes a dump tree of the process's mode to ``folder``; to be given to the first ``execute``."""


class Backend(Protocol):
    """Runs programs and gives captures.

    Attributes:
        name: ``cpu``.
        emulated: True if its numbers are computed by the harness's own kernels; captures say so.
        modes: dump modes it has.
        in_process: whether a program runs in this process (so that a script can run on it).
    """

    name: str
    in_process: bool

    @property
    def emulated(self) -> bool: ...

    @property
    def modes(self) -> tuple[str, ...]: ...

    def available(self) -> str | None:
        """Why it cannot run here, in one line, or None."""

    def refusal(self, mode: str) -> str | None:
        """Why it has no dump mode ``mode``, as documented for the device, in one line; None if it has.

        Raises:
            UnsupportedError: there is no such mode anywhere.
        """

    def open(
        self, *, network: str, mode: str = "tensor", rootdir: str | None = None, rdr: bool = False
    ) -> AbstractContextManager[Process]:
        """A process that lasts for the block; arguments as for ``run``."""

    def run(
        self,
        program: Callable[[], Any],
        *,
        network: str,
        mode: str = "tensor",
        rootdir: str | None = None,
        rdr: bool = False,
    ) -> Capture:
        """Calls ``program`` with everything it runs captured.

        Args:
            program: runs networks; what it returns is dropped, what it raises propagates.
            network: name the capture gets.
            mode: dump mode, one of ``modes``.
            rootdir: source paths are given relative to it.
            rdr: also run the Running Data Recorder, in both its modes; what it writes is in the capture's artefacts.
        """


def _populate() -> None:
    for name in ("cpu", "gpu", "ascend", "torch", "mindspore"):
        importlib.import_module(f"harness.backends.{name}")


BACKENDS: Registry[Backend] = Registry("backend", "harness.backends", _populate)


def get(name: str) -> Backend:
    """The backend called ``name``; ``UnknownNameError`` names the nearest ones."""
    return BACKENDS.get(name)
