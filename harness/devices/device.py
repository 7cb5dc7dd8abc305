"""The description of a device: data only.

The ``rules`` of an emulated device state the source of each property.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.devices.capabilities import Capabilities
from harness.devices.formats import Layout
from harness.devices.kernels import Kernels
from harness.devices.memory import Memory
from harness.devices.numerics import Array, Numerics
from harness.devices.overflow import overflow_mode
from harness.devices.precision import choose
from harness.devices.storage import Storage
from harness.devices.streams import Streams
from harness.dtypes import DType
from harness.recording import Operator, Spec
from harness.registry import Registry, instance_of


@dataclass(frozen=True, slots=True, eq=False)
class Device:
    """One device at one optimisation level.

    Attributes:
        name: ``cpu``, ``gpu``, ``ascend-o0``, ``ascend-o1``, ``ascend-o2``.
        target: MindSpore's ``device_target``: ``CPU``, ``GPU`` or ``Ascend``.
        level: ``jit_level``, ``O0``, ``O1`` or ``O2``; empty if the target has no levels.
        capabilities: its dump features.
        kernels: restrictions of its kernels, for the compiler.
        numerics: rounding and overflow.
        formats: storage formats by operator and slot.
        streams: stream and task ids.
        memory: alignment.
        rules: property -> how it is emulated, and the source; captures and reports show it.
        soc: chip, for Ascend (``ascend910b``), else empty.
        emulated: whether the harness computes its numbers, not such a device.
        fuses: whether elementwise chains are fused into one kernel.
        sinks: whether the whole graph runs as one; then kernels are not launched one by one.
        camel_dtypes: whether file names end in ``Float32`` rather than ``float32``.
    """

    name: str
    target: str
    level: str
    capabilities: Capabilities
    kernels: Kernels
    numerics: Numerics
    formats: Storage
    streams: Streams
    memory: Memory
    rules: Mapping[str, str]
    soc: str = ""
    emulated: bool = True
    fuses: bool = False
    sinks: bool = False
    camel_dtypes: bool = True

    def format_for(self, node: Operator, io: str, slot: int, spec: Spec) -> Layout:
        """The layout of a slot's tensor on the device.

        Args:
            node: the operator.
            io: ``input`` or ``output``.
            slot: position, as in dump file names.
            spec: type of the slot; anything but a tensor has the default layout.
        """
        return self.formats.layout(node, io, slot, spec)

    def file_dtype(self, dtype: DType) -> str:
        """``dtype`` as spelled in the device's file names."""
        return dtype.name if self.camel_dtypes else dtype.lower

    def run(
        self,
        op: str,
        arguments: Sequence[Any],
        kernel: Callable[[tuple[Any, ...]], Sequence[Array]],
        in_place: bool = False,
    ) -> tuple[Array, ...]:
        """Runs ``kernel`` with the device's numerics around it.

        Args:
            op: operator name.
            arguments: arrays, numbers and tuples for the operator's kernel.
            kernel: takes the prepared arguments, gives results rounded to their dtypes.
            in_place: whether it updates arrays that others see (a parameter), which must then be changed in place.
        """
        return self.numerics.run(op, arguments, kernel, in_place)

    def configured(
        self,
        environ: Mapping[str, str] | None = None,
        context: Mapping[str, Any] | None = None,
        soc: str | None = None,
    ) -> Device:
        """The device under an environment and a context.

        Args:
            environ: environment variables (``MS_ASCEND_CHECK_OVERFLOW_MODE``); None: none are set.
            context: settings of ``set_context``; ``ascend_config`` and ``gpu_config`` are read.
            soc: another chip of the same target.

        Raises:
            SettingError: ``precision_mode`` is unknown.
        """
        chip = self.soc if soc is None else soc.lower()
        numerics = choose(self.numerics, self.target, chip, context or {})
        if self.target == "Ascend":
            numerics = replace(numerics, overflow=overflow_mode(chip, environ or {}))
        if numerics is self.numerics and chip == self.soc:
            return self
        return replace(self, numerics=numerics, soc=chip)


def _populate() -> None:
    for name in ("cpu", "gpu", "ascend"):
        importlib.import_module(f"harness.devices.{name}")


#: every device, by name; packages outside add to it through the entry-point group ``harness.devices``
DEVICES: Registry[Device] = Registry("device", "harness.devices", _populate, instance_of(Device))


def device(description: Device) -> Device:
    """Registers a device under its name."""
    return DEVICES.register(description.name, description)
