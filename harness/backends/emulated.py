"""Emulated backends: MindSpore's graphs, compiled for a device and run by the harness's numpy kernels.

One class serves every device: the differences are data in ``harness.devices``.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.backends.base import Backend
from harness.backends.calls import Call, Opening
from harness.backends.dump_tree import dump_everything
from harness.backends.modes import MODES, modes_of, refusal
from harness.capture import Capture
from harness.capture.lookup import Lookup
from harness.capture.normalise import source_path
from harness.capture.texts import Joined
from harness.devices import DEVICES, Device
from harness.errors import SettingError
from harness.framework.ops.eager import remembering
from harness.framework.runtime import session
from harness.framework.runtime.called import Called, recording_calls
from harness.lazy import lazy
from harness.recording import Observer
from harness.records import Array, SlotKey

if TYPE_CHECKING:
    from harness.backends.ranked import Ranked
    from harness.capture.recorder import RecorderCapture

_ORDER = re.compile(r"execution_order/ms_execution_order_graph_(\d+)\.csv")
#: the origin of a capture's numbers, for every device
RULES = {
    "kernels": "numpy, evaluated in float64 or wider, rounded once",
    "sums": "fixed order (halving), no BLAS",
    "transcendental": "long double of the C library",
    "graph": "as MindSpore 2.10.0 CPU",
}
GRAPHS = {
    "": "as MindSpore 2.10.0 CPU, without the casts its kernels need",
    "fuses": "as MindSpore 2.10.0 CPU, without the casts its kernels need; chains of elementwise kernels fused",
}


def rules_of(device: Device) -> dict[str, Any]:
    """The rules of ``device``'s emulation, as its captures and goldens state them."""
    if device.target == "CPU":
        return dict(RULES)
    numerics = device.numerics
    return {
        **RULES,
        "graph": GRAPHS["fuses" if device.fuses else ""],
        **device.rules,
        "in force": f"matrix products {numerics.matmul}, convolutions {numerics.convolution}, {numerics.overflow.name}",
    }


def orders(artefacts: Mapping[str, bytes]) -> dict[int, tuple[str, ...]]:
    """Kernel names by graph id, as the texts of rank 0 state them."""
    found = {}
    for name, text in artefacts.items():
        if match := _ORDER.fullmatch(name):
            found[int(match[1])] = tuple(text.decode().split("\n")[1:-1])
    return found


class EmulatedProcess:
    """See ``Process``.

    Attributes:
        session: graph ids, numbers and compiled programs.
        emulated: the numbers are the harness's own.
        records_calls: captures have operators of PyNative mode, which the harness computes itself on every backend.
    """

    emulated = True
    records_calls = True

    def __init__(
        self,
        backend: str,
        device: Device,
        network: str,
        mode: str,
        rootdir: str | None,
        recorder: RecorderCapture | None = None,
    ) -> None:
        self._backend = backend
        self._network = network
        self._mode = mode
        self._rootdir = rootdir
        self._observer = MODES.get(mode, MODES["tensor"]).observer(rootdir=rootdir, device=device)
        self._recorder = recorder
        self._ranked: list[Ranked] = []
        observers = [self._observer, *(recorder.observers if recorder is not None else ())]
        self.session = session.Session(observers, hooked=False, device=device)
        self.called = Called(self.session, [self._observer])

    def execute(self, program: Callable[[], Any]) -> Any:
        """See ``Process.execute``; gives what ``program`` returns."""
        heard = self.called if self.records_calls else None
        with remembering(), session.in_session(self.session), recording_calls(heard):
            return program()

    def rules(self) -> dict[str, Any]:
        """The origin of the numbers."""
        return rules_of(self.session.configured_device())

    def capture(self) -> Capture:
        """See ``Process.capture``."""
        rules = self.rules()
        rules.update(numpy=np.__version__, machine=platform.machine())
        if self.session.struck:
            rules["injected"] = list(self.session.struck)
        capture = self._observer.capture(
            self._network, self._backend, mode=self._mode, emulated=self.emulated, rules=rules
        )
        root = self._rootdir or os.getcwd()
        capture.places = {
            scope: source_path(place, root) if place else "" for scope, place in self.session.places.items()
        }
        if self._recorder is not None:
            capture.artefacts = Joined(capture.artefacts, self._recorder.artefacts())
        if self._ranked:
            from harness.capture.gathered import joined

            found = joined([each.capture for each in self._ranked])
            capture = replace(
                capture, source=found.source, artefacts=found.artefacts, problems=found.problems,
                operators=found.operators, results=found.results, execution_order=orders(found.artefacts),
            )  # fmt: skip
        return capture

    def ranks(self, count: int, program: Callable[[], Any]) -> list[Any]:
        """Runs ``program`` in ``count`` processes, each a rank; together they are this process's capture.

        Args:
            count: number of ranks.
            program: called in each process; it returns tensors, arrays, numbers, texts and what holds them.

        Returns:
            What the program returned on each rank.

        Raises:
            SettingError: something ran here before, or ``count`` is not a number from 1 to 256.
            CollectiveError: a rank failed, ended early or waits for ever; no process is left.
        """
        from harness.backends import ranked

        if self._ranked or self.session.programs:
            raise SettingError("ranks: the ranks of a test run once, and nothing else runs in it")
        self._ranked = ranked.run(count, lambda: self.execute(program), self.capture)
        return [each.result for each in self._ranked]

    def close(self) -> None:
        """Ends the process."""
        self.session.close()
        if self._recorder is not None:
            self._recorder.close()

    def call_test(self, call: Callable[[], Call], coming: Callable[[], Iterable[tuple[Opening, Call]]]) -> None:
        """See ``Process.call_test``: functions are called by the caller."""

    def follow(self, module: Any) -> Callable[..., AbstractContextManager[Any]] | None:
        """See ``Process.follow``: the graphs of these backends are MindSpore's."""
        return None

    def graft(self, values: Mapping[SlotKey, Array]) -> None:
        """See ``Process.graft``; of results alone."""
        from harness.framework.runtime.grafts import Grafts

        places = {(key.iteration, key.operator, key.execution, key.slot): array for key, array in values.items()
                  if key.io == "output"}  # fmt: skip
        if places:
            self.session.faults.append(Grafts(places))

    def stepped(self) -> None:
        """See ``Process.stepped``."""
        self.called.stepped()

    def settled(self) -> AbstractContextManager[None]:
        """See ``Process.settled``: there are none."""
        return nullcontext()

    def keep_tree(self, folder: Path) -> None:
        """See ``Process.keep_tree``; it lacks graphs compiled before."""
        self.session.recording.add(self.dump(folder))

    def look_up(self, lookup: Lookup) -> None:
        """See ``Process.look_up``."""
        self._observer.lookup = lookup

    def dump(self, folder: Path) -> Observer:
        """The observer that writes the tree of ``keep_tree``."""
        return dump_everything(folder, self.session.device, self._mode)


class Emulated(Backend):
    """An emulated backend; see ``Backend``. Subclass, and set its attributes.

    Attributes:
        name: the backend's.
        device_name: name of the device in ``DEVICES``.
    """

    name: str = ""
    device_name: str = ""
    compiles = True
    computes = ""

    @property
    def emulated(self) -> bool:
        """Whether the numbers are the harness's own."""
        return True

    @property
    def device(self) -> Device:
        """The emulated device."""
        return DEVICES.get(self.device_name)

    @lazy
    def modes(self) -> tuple[str, ...]:
        """The device's dump modes from which a capture can be made."""
        return modes_of(self.device)

    def refusal(self, mode: str) -> str | None:
        """See ``Backend.refusal``."""
        return None if mode in self.modes else refusal(self.device, mode)

    def available(self) -> str | None:
        """Always available."""
        return None

    def stand_in(self) -> str | None:
        """See ``Backend.stand_in``."""
        why = self.available()
        if why is None:
            session.current().device = self.device
        return why

    def process(
        self, network: str, mode: str, rootdir: str | None, recorder: RecorderCapture | None
    ) -> EmulatedProcess:
        """Makes the process of ``open``."""
        return EmulatedProcess(self.name, self.device, network, mode, rootdir, recorder)

    @contextmanager
    def open(
        self, *, network: str, mode: str = "tensor", rootdir: str | None = None, rdr: bool = False
    ) -> Iterator[EmulatedProcess]:
        """See ``Backend.open``."""
        self.require(mode)
        recorder = None
        if rdr:
            from harness.capture.recorder import RecorderCapture  # most runs have none

            recorder = RecorderCapture(self.device, rootdir)
        process = self.process(network, mode, rootdir, recorder)
        try:
            yield process
        finally:
            process.close()
