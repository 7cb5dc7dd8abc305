"""The backend ``torch``: the harness's graphs, computed by PyTorch's kernels on a CPU or a CUDA device.

Graphs, names and slots are those of MindSpore's CPU, compiled by the harness; the numbers are PyTorch's. So a capture
says that nothing is emulated, and its rules name the operators that the harness's own kernels computed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.backends.base import BACKENDS
from harness.backends.emulated import GRAPHS, RULES, Emulated, EmulatedProcess
from harness.capture import Capture
from harness.capture.made import Made
from harness.devices import Device
from harness.devices.capabilities import Capabilities
from harness.devices.cpu import CPU
from harness.errors import SettingError, UnsupportedError
from harness.framework.engines.available import cuda_missing, torch_missing
from harness.framework.runtime import session
from harness.recording import Observer
from harness.records import Array, SlotKey

if TYPE_CHECKING:
    from harness.capture.recorder import RecorderCapture
    from harness.capture.torch import TorchCapture
    from harness.capture.torch.grafting import Grafts

#: names PyTorch's device for the backend ``torch``
VARIABLE = "MSDUMP_TORCH_DEVICE"
#: the CPU's graphs; statistics are available too, although MindSpore's CPU has no such dump
DEVICE = replace(
    CPU,
    capabilities=Capabilities({k: v for k, v in CPU.capabilities.answers.items() if k not in ("statistic", "full")}),
    emulated=False,
)


def asked_device() -> str:
    """PyTorch's name of the device that ``MSDUMP_TORCH_DEVICE`` asks for: ``cpu``, ``cuda``, ``cuda:1``."""
    name = os.environ.get(VARIABLE) or "cpu"
    if not re.fullmatch(r"cpu|cuda(:\d+)?", name):
        raise SettingError(f"{VARIABLE}: cpu, cuda or cuda:N is accepted, got {name!r}")
    return name


def torch_rules(graph: str, engine: Any, where: str) -> dict[str, Any]:
    """The origin of a capture's numbers."""
    from harness.framework.engines.torch.settings import recorded

    settings = recorded(engine.device)
    return {
        "engine": f"PyTorch {settings['torch']} on {where}",
        "kernels": "PyTorch's, by MindSpore's operator names",
        "numpy kernels": ", ".join(sorted(engine.by_numpy)) or "none",
        "random numbers": "the harness's own stream (Dropout, StandardNormal, UniformReal)",
        "graph": f"{graph}; compiled by the harness",
        "settings": settings,
    }


def torch_version() -> str:
    """PyTorch's version."""
    import torch

    return str(torch.__version__)


def tf32_of(device: Device) -> tuple[bool, bool]:
    """Whether matrix products and convolutions read 10 bits of float32 factors."""
    return device.numerics.matmul == "tf32", device.numerics.convolution == "tf32"


def deterministic_from_now_on(used: session.Session, torch_device: str) -> None:
    """Makes PyTorch compute session ``used``; its settings hold for the rest of the process."""
    from harness.framework.engines.torch import TorchEngine
    from harness.framework.engines.torch.settings import deterministic

    used.engine = TorchEngine(torch_device)
    deterministic(tf32_of(used.configured_device())).__enter__()


class TorchProcess(EmulatedProcess):
    """See ``Process``."""

    emulated = False
    records_calls = False

    def __init__(self, torch_device: str, backend: str, device: Device, *given: Any) -> None:
        super().__init__(backend, device, *given)
        from harness.framework.engines.torch import TorchEngine

        self._engine = TorchEngine(torch_device)
        self.session.engine = self._engine
        self._modules: list[tuple[Any, TorchCapture]] = []
        #: label of the first graph that is free, and what processes of several ranks captured
        self._first = 0
        self._of_ranks: list[Capture] = []
        self._grafts: Grafts | None = None

    def graft(self, values: Mapping[SlotKey, Array]) -> None:
        """See ``Process.graft``."""
        from harness.capture.torch.grafting import Grafts

        super().graft(values)
        self._grafts = Grafts(values)

    def execute(self, program: Callable[[], Any]) -> Any:
        """See ``Process.execute``; with PyTorch's settings for equal bits."""
        with self.settled():
            return super().execute(program)

    def settled(self) -> AbstractContextManager[None]:
        """Inside the block PyTorch's settings are those for equal bits."""
        from harness.framework.engines.torch.settings import deterministic

        return deterministic(tf32_of(self.session.configured_device()))

    def follow(self, module: Any) -> Callable[..., AbstractContextManager[Any]]:
        """See ``Process.follow``; a module goes to the device that is asked for."""
        from harness.capture.torch import TorchCapture

        for known, watch in self._modules:
            if known is module:
                return watch.step
        module.to(self._engine.device)
        watch = TorchCapture(
            module, network=self._network, mode="statistic" if self._mode == "statistic" else "tensor",
            rootdir=self._rootdir, paths=True, graph=self._first + len(self._modules), gradients=True,
            grafts=self._grafts,
        )  # fmt: skip
        self._modules.append((module, watch))
        return watch.step

    def capture(self) -> Capture:
        """See ``Process.capture``: what graphs left, then what modules left."""
        found = super().capture()
        if self._grafts is not None:
            self._grafts.put_back()
        if not self._modules and not self._of_ranks:
            return found
        parts = [watch.capture() for _, watch in self._modules] + self._of_ranks
        graphs = list(found.records())
        # Settings of the first step; where it ran and what made it say as much of the others.
        rules = {
            "engine": f"PyTorch {torch_version()} on {self._engine.device}",
            "operators": "PyTorch's own, named by the paths of their modules",
            "settings": parts[0].rules.get("settings", parts[0].rules),
            "machine": found.rules["machine"],
        }
        if compiled := [each for part in parts for each in part.rules.get("compiled", ())]:
            rules["compiled"] = compiled
        return replace(
            found,
            source=[*graphs, *(record for part in parts for record in part.records())],
            rules={**found.rules, **rules} if graphs else rules,
            artefacts={
                **(found.artefacts if graphs else {}),
                **{name: text for part in self._of_ranks for name, text in part.artefacts.items()},
            },
            execution_order={**found.execution_order, **{k: v for p in parts for k, v in p.execution_order.items()}},
            problems=[*found.problems, *(problem for part in parts for problem in part.problems)],
            operators=Made(lambda: {**found.operators, **{k: v for p in parts for k, v in p.operators.items()}}),
            results={**found.results, **{k: v for p in parts for k, v in p.results.items()}},
            engine=found.engine if graphs else parts[0].engine,
        )

    def torch_ranks(self, count: int, program: Callable[[], Any], capture: Callable[[], Capture]) -> list[Any]:
        """Runs ``program`` in ``count`` processes, one a rank of a gloo group; they become part of the capture.

        Args:
            count: number of ranks.
            program: called in each process; ``torch.distributed`` is initialised there.
            capture: gives what a process captured; called there, after the program.

        Returns:
            What the program returned on each rank, see ``torch_ranks.run``.

        Raises:
            RankError: a rank failed, ended or did not end; the others were ended.
        """
        from harness.backends import torch_ranks

        before, self._modules, self._of_ranks = (self._modules, self._of_ranks), [], []
        first, self._first = self._first, self._first + len(before[0])
        try:
            with self.settled():
                captures, results = torch_ranks.run(count, program, capture)
        finally:
            (self._modules, self._of_ranks), self._first = before, first
        graphs = {record.key.graph for each in captures for record in each.records()}
        self._first = max([self._first, *(graph + 1 - len(self._modules) for graph in graphs)])
        self._of_ranks += captures
        return results

    def rules(self) -> dict[str, Any]:
        """See ``EmulatedProcess.rules``."""
        graph = RULES["graph"] if self.session.device.target == "CPU" else GRAPHS[""]
        return torch_rules(graph, self._engine, self._engine.device.type)

    def dump(self, folder: Path) -> Observer:
        """See ``EmulatedProcess.dump``; MindSpore's CPU writes tensors only."""
        if self._mode != "tensor" and self.session.device.target == "CPU":
            raise UnsupportedError(
                f"backend torch writes no dump tree in mode {self._mode}: its graphs are MindSpore's CPU's, whose dump "
                "has tensors only; a capture of it is made"
            )
        return super().dump(folder)


class Torch(Emulated):
    """Backend ``torch``: PyTorch's kernels under MindSpore's names."""

    name = "torch"
    device_name = "cpu"

    @property
    def emulated(self) -> bool:
        """Never: the numbers are PyTorch's."""
        return False

    @property
    def device(self) -> Device:
        """MindSpore's CPU, with the modes of a capture."""
        return DEVICE

    def available(self) -> str | None:
        """See ``Backend.available``."""
        return cuda_missing() if asked_device().startswith("cuda") else torch_missing()

    def stand_in(self) -> str | None:
        """See ``Backend.stand_in``."""
        why = super().stand_in()
        if why is None:
            deterministic_from_now_on(session.current(), asked_device())
        return why

    def process(
        self, network: str, mode: str, rootdir: str | None, recorder: RecorderCapture | None
    ) -> EmulatedProcess:
        """See ``Emulated.process``."""
        return TorchProcess(asked_device(), self.name, self.device, network, mode, rootdir, recorder)


BACKENDS.register("torch", Torch())
