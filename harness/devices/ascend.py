"""Ascend 910B (Atlas A2) at its three levels. From documents and public source; no such device was measured.

O0 and O1 launch kernel by kernel, O1 fuses elementwise chains first, O2 (releases up to 2.6) sinks the whole graph.
Other chips: ``Device.configured(soc=...)``.
"""

from __future__ import annotations

from dataclasses import replace

from harness.devices.capabilities import Answer, Capabilities, absent, refused
from harness.devices.device import Device, device
from harness.devices.kernels import Kernels
from harness.devices.memory import Memory
from harness.devices.numerics import Numerics
from harness.devices.storage import ASCEND, Storage
from harness.devices.streams import Streams

_NEVER: dict[str, Answer] = {
    "parameters": absent("Ascend writes no Parameter files"),
    "constants": absent("Ascend writes no constants"),
    "global_order": absent("Ascend writes no global execution order"),
    "metadata": absent("Ascend writes no .dump_metadata"),
}

_BY_KERNEL = Capabilities(_NEVER)

_SUNK = Capabilities(
    {
        **_NEVER,
        "device_statistics": refused("stat_calc_mode device is kernel by kernel only (O0, O1)"),
        "sample": refused("sample_mode is kernel by kernel only (O0, O1)"),
        "kernel_args": refused("save_kernel_args is kernel by kernel only (O0, O1)"),
        "set_dump": refused("dump_mode 2 is kernel by kernel only (O0, O1)"),
        "trans_flag": refused("trans_flag is a field of e2e_dump_settings, which a sunk graph does not have"),
        "useless_outputs": absent("a sunk graph does not read the variable"),
        "graphs": absent("a sunk graph writes no .ir, .pb and execution order"),
    }
)

_RULES = {
    "device": "Ascend 910B, from documents and public source, not measured",
    "products": "convolutions: float32 factors rounded to HF32 (11 bits, ties to even: inferred) unless "
    "conv_allow_hf32 is False; matrix products: float32 unless matmul_allow_hf32; exact sums, results rounded once",
    "overflow": "INFNAN, or SATURATION where MS_ASCEND_CHECK_OVERFLOW_MODE is SATURATION_MODE",
    "formats": "by operator and slot alone: convolutions, pooling, BatchNorm NC1HWC0 and FRACTAL_Z, products "
    "FRACTAL_NZ",
    "streams": "compute 0, collectives 1 and above",
}

_O0 = Device(
    name="ascend-o0",
    target="Ascend",
    level="O0",
    capabilities=_BY_KERNEL,
    kernels=Kernels(),
    numerics=Numerics(convolution="hf32"),
    formats=Storage(ASCEND),
    streams=Streams(separate=True),
    memory=Memory(tail=32, communication_tail=1024),
    rules=_RULES,
    soc="ascend910b",
    camel_dtypes=False,
)

ASCEND_O0 = device(_O0)
ASCEND_O1 = device(replace(_O0, name="ascend-o1", level="O1", fuses=True))
ASCEND_O2 = device(
    replace(
        _O0,
        name="ascend-o2",
        level="O2",
        capabilities=_SUNK,
        streams=Streams(separate=True, tasks=True),
        fuses=True,
        sinks=True,
    )
)
