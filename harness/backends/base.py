"""The interface of backends, and their registry."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from harness.backends.calls import Call, Opening, Outcome
from harness.capture import Capture
from harness.capture.lookup import Lookup
from harness.errors import UnsupportedError
from harness.records import Array, SlotKey
from harness.registry import Registry, instance_of

if TYPE_CHECKING:  # comparisons need the names of backends, not the framework
    from harness.framework.runtime.session import Session


class Process(Protocol):
    """One process that runs networks: graph ids, operator numbers and iterations continue from program to program.
    A subclass needs ``execute`` and ``capture``; the rest answers that there is nothing of the kind.

    Attributes:
        session: session of its programs; None if they run in another process, or not as graphs of the harness's.

    Examples:
        >>> from harness import Tensor, float32, nn
        >>> from harness.backends import get
        >>> net = nn.Dense(3, 2, weight_init="ones", has_bias=False)
        >>> with get("cpu").open(network="Net") as process:
        ...     for _ in range(2):
        ...         _ = process.execute(lambda: net(Tensor([[1, 2, 3]], float32)))
        ...     capture = process.capture()
        >>> capture.network
        'Net'
    """

    @property
    def session(self) -> Session | None:
        """See the class."""
        return None

    def execute(self, program: Callable[[], Any]) -> None:
        """Calls ``program``, which runs networks, and captures everything; exceptions pass through.

        Raises:
            UnsupportedError: it cannot be called in the process that runs programs.
        """

    def call_test(
        self, call: Callable[[], Call], coming: Callable[[], Iterable[tuple[Opening, Call]]]
    ) -> Outcome | None:
        """Calls a test's function in the process that runs programs; None if the caller has to call it in this process.

        Args:
            call: gives the function.
            coming: gives the next calls, for a backend that works ahead.

        Raises:
            HarnessError: it cannot be called there.
        """
        return None

    def follow(self, module: Any) -> Callable[..., AbstractContextManager[Any]] | None:
        """Captures a step of ``module``, a ``torch.nn.Module``, operator by operator, and what it returns unless the
        step is begun with ``results=False``; ``granularity=`` asks for modules alone. None if PyTorch modules cannot
        run."""
        return None

    def graft(self, values: Mapping[SlotKey, Array]) -> None:
        """What runs from now on goes on with these tensors in the place of its own.

        Args:
            values: by slot; of an input, whatever reads it goes on with it.

        Raises:
            UnsupportedError: nothing can be replaced while programs of this backend run.
        """
        raise UnsupportedError("this backend goes on with its own tensors alone")

    def stepped(self) -> None:
        """One of several equal calls is over: what runs next without a graph of its own belongs to the next step."""
        return

    def settled(self) -> AbstractContextManager[None]:
        """Inside the block the settings for equal bits hold that ``execute`` makes."""
        return nullcontext()

    def keep_tree(self, folder: Path) -> None:
        """Writes the dump tree of everything that runs from now on to ``folder``, in the process's mode.

        Raises:
            UnsupportedError: this mode has no dump tree.
        """
        raise UnsupportedError("this backend writes no dump tree")

    def look_up(self, lookup: Lookup) -> None:
        """Values that ``lookup`` finds from now on need not be copied into the capture."""

    def capture(self) -> Capture:
        """The capture of everything so far."""


class Backend:
    """Runs programs and gives captures. Subclass it, give it a ``name``, and write ``open``.

    Class attributes:
        required: what a backend of another package must define.

    Attributes:
        name: ``cpu``.
        compiles: whether the harness compiles its graphs, so that its runs can be aligned with those of other such
            backends.
        emulated: True if its numbers are computed by the harness's own kernels; captures say so.
        modes: its dump modes.
        computes: what computes the numbers, and where, for pytest's header; empty if there is nothing to say.
        converts: whether a test's inputs become tensors of the harness before its network is called; one that compiles
            nothing gets them as they are.

    Examples:
        >>> from harness import Tensor, float32, nn
        >>> from harness.backends import get
        >>> net = nn.Dense(3, 2, weight_init="ones", has_bias=False)
        >>> capture = get("cpu").run(lambda: net(Tensor([[1, 2, 3]], float32)), network="Net")
        >>> capture.backend, capture.emulated
        ('cpu', True)
    """

    required: ClassVar[tuple[str, ...]] = ("name", "open")
    name: str = ""
    compiles: bool = False

    if TYPE_CHECKING:  # read-only for type checkers: subclasses may have attributes or properties

        @property
        def emulated(self) -> bool: ...

        @property
        def modes(self) -> tuple[str, ...]: ...

        @property
        def computes(self) -> str: ...
    else:
        emulated: bool = False
        modes: tuple[str, ...] = ("tensor",)
        computes: str = ""

    @property
    def converts(self) -> bool:
        """See the class."""
        return self.compiles

    def stand_in(self) -> str | None:
        """Makes scripts of this process run on it from now on; returns why it cannot, in one line."""
        return "it runs no scripts of MindSpore's"

    def available(self) -> str | None:
        """Says in one line why it cannot run here; None if it can."""
        return None

    def refusal(self, mode: str) -> str | None:
        """Says in one line why it lacks dump mode ``mode``, as documented for the device; None if it has it.

        Raises:
            UnsupportedError: there is no such mode anywhere.
        """
        return None if mode in self.modes else f"{self.name} keeps no such dump"

    def require(self, mode: str) -> None:
        """Makes sure that it has dump mode ``mode``.

        Raises:
            UnsupportedError: it lacks the mode, or there is no such mode anywhere.
        """
        why = self.refusal(mode)
        if why is not None:
            raise UnsupportedError(
                f"backend {self.name} has no dump mode {mode!r} ({why}); it has {', '.join(self.modes)}"
            )

    def open(
        self, *, network: str, mode: str = "tensor", rootdir: str | None = None, rdr: bool = False
    ) -> AbstractContextManager[Process]:
        """A process that lasts for the block.

        Args:
            network: name of the capture's network.
            mode: dump mode, one of ``modes``.
            rootdir: source paths are given relative to it.
            rdr: whether to run the Running Data Recorder too.

        Raises:
            UnsupportedError: it lacks the mode.
        """
        raise NotImplementedError

    def run(
        self,
        program: Callable[[], Any],
        *,
        network: str,
        mode: str = "tensor",
        rootdir: str | None = None,
        rdr: bool = False,
    ) -> Capture:
        """Calls ``program`` and captures everything it runs.

        Args:
            program: function that runs networks; its result is ignored, its exceptions pass through.
            network: name of the capture's network.
            mode: dump mode, one of ``modes``.
            rootdir: source paths are given relative to it.
            rdr: whether to run the Running Data Recorder too, in both its modes; its files are in the capture's
                artefacts.

        Raises:
            UnsupportedError: it lacks the mode, or ``program`` cannot be called in the process that runs programs.
        """
        with self.open(network=network, mode=mode, rootdir=rootdir, rdr=rdr) as process:
            process.execute(program)
            return process.capture()


def _populate() -> None:
    for name in ("cpu", "gpu", "ascend", "torch", "mindspore"):
        importlib.import_module(f"harness.backends.{name}")


BACKENDS: Registry[Backend] = Registry("backend", "harness.backends", _populate, instance_of(Backend))


def get(name: str) -> Backend:
    """The backend called ``name``; ``UnknownNameError`` names the nearest ones."""
    return BACKENDS.get(name)
