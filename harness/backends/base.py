"""What a backend is, and the registry of backends."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from harness.backends.calls import Call, Opening, Outcome
from harness.capture import Capture
from harness.framework.runtime.session import Session
from harness.registry import Registry


class Process(Protocol):
    """What stands for one process of networks: graph ids, operator numbers and iterations go on from program to
    program.

    Attributes:
        session: that its programs run in; None where that is in another process.
    """

    @property
    def session(self) -> Session | None: ...

    def execute(self, program: Callable[[], Any]) -> None:
        """Calls ``program``, which runs networks, with everything it runs captured; what it raises passes through.

        Raises:
            UnsupportedError: it cannot be called where programs run.
        """

    def call_test(
        self, call: Callable[[], Call], coming: Callable[[], Iterable[tuple[Opening, Call]]]
    ) -> Outcome | None:
        """Has a test's function called where programs run; None where the caller has to call it, in this process.

        Args:
            call: gives the function.
            coming: gives what will be called next, for a backend that works ahead.

        Raises:
            HarnessError: it cannot be called there.
        """

    def follow(self, module: Any) -> Callable[[], AbstractContextManager[None]] | None:
        """What captures a step of ``module``, a ``torch.nn.Module``, operator by operator; None where modules of
        PyTorch's cannot run."""

    def keep_tree(self, folder: Path) -> None:
        """Has the dump tree of all that runs from now on, in the process's mode, left in ``folder``.

        Raises:
            UnsupportedError: this mode has none.
        """

    def capture(self) -> Capture:
        """Everything so far."""


class Backend(Protocol):
    """Runs programs and gives captures.

    Attributes:
        name: ``cpu``.
        emulated: True if its numbers are computed by the harness's own kernels; captures say so.
        modes: dump modes it has.
        compiles: the harness compiles its graphs, so that its runs can be laid beside those of others that do.
        computes: what computes, and where, as the header says it; empty where there is nothing to say.
    """

    name: str
    compiles: bool

    @property
    def emulated(self) -> bool: ...

    @property
    def modes(self) -> tuple[str, ...]: ...

    @property
    def computes(self) -> str: ...

    def stand_in(self) -> str | None:
        """Makes it what scripts of this process run on from now on; or why it cannot be, in one line."""

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
