"""MindSpore's GPU backend, kernel by kernel. From documents and public source; no such device was measured."""

from __future__ import annotations

from harness.devices.capabilities import Capabilities, ignored, refused, warned
from harness.devices.device import Device, device
from harness.devices.kernels import Kernels
from harness.devices.memory import Memory
from harness.devices.numerics import Numerics
from harness.devices.storage import Storage
from harness.devices.streams import Streams

GPU = device(
    Device(
        name="gpu",
        target="GPU",
        level="",
        capabilities=Capabilities(
            {
                "device_statistics": warned("stat_calc_mode device is for Ascend only; host is used"),
                "sample": ignored("sample_mode is set back to 0; tensors are written whole"),
                "overflow": ignored("nothing is checked; everything is dumped, inputs and outputs"),
                "exception": warned("op_debug_mode 4 is for Ascend only"),
                "set_dump": refused("dump_mode 2 is for Ascend only; 0 or 1"),
                "asynchronous": warned("without e2e_dump_settings the dump is synchronous all the same"),
                "trans_flag": ignored("trans_flag is set to true; tensors are in the host's order"),
            }
        ),
        kernels=Kernels(),
        numerics=Numerics(convolution="tf32"),
        formats=Storage(),
        streams=Streams(),
        memory=Memory(),
        rules={
            "device": "GPU, from documents and public source, not measured",
            "products": "convolutions: float32 factors rounded to TF32 (10 bits, ties away) unless conv_allow_tf32 is "
            "False; matrix products: float32 unless matmul_allow_tf32; exact sums, one rounding of the result",
            "overflow": "INFNAN",
            "formats": "the host's order",
        },
    )
)
