"""A device: the CPU's, but MatMul takes its first input in tiles."""

import dataclasses

from harness.devices import DEVICES
from harness.devices.storage import Slots, Storage

TINY_NPU = dataclasses.replace(
    DEVICES.get("ascend-o0"),
    name="tiny-npu",
    formats=Storage({"MatMul": Slots(("TILED_4X4", ""), ("",), (2,))}),
    rules={"formats": "MatMul takes its first input in tiles of 4 x 4 (made up)"},
)
