"""Storage formats by operator and slot; streams, tasks and memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness import dtypes
from harness.devices import DEVICES
from harness.devices.formats import DEFAULT, FORMATS, Layout
from harness.devices.memory import Memory
from harness.devices.storage import ASCEND
from harness.devices.streams import Streams
from harness.dtypes import DType
from harness.framework.ops.base import OPERATORS
from harness.recording import Operator, ScalarSpec, Spec, TensorSpec
from harness.recording.spec import IOMONAD

ASCENDS = ("ascend-o0", "ascend-o1", "ascend-o2")


def tensor(*shape: int, dtype: DType = dtypes.float32) -> TensorSpec:
    return TensorSpec(dtype, shape)


def test_the_table_names_operators_and_formats_there_are() -> None:
    for op, row in ASCEND.items():
        assert op in OPERATORS
        assert all(name in FORMATS for name in (*row.inputs, *row.outputs) if name)


@pytest.mark.parametrize("name", ASCENDS)
@pytest.mark.parametrize(
    ("op", "io", "slot", "spec", "format"),
    [
        ("Conv2D", "input", 0, tensor(2, 3, 8, 8), "NC1HWC0"),
        ("Conv2D", "input", 1, tensor(4, 3, 3, 3), "FRACTAL_Z"),
        ("Conv2D", "output", 0, tensor(2, 4, 8, 8), "NC1HWC0"),
        ("Conv2DBackpropFilter", "output", 0, tensor(4, 3, 3, 3), "FRACTAL_Z"),
        ("Conv2DBackpropInput", "input", 1, tensor(4, 3, 3, 3), "FRACTAL_Z"),
        ("Conv2DBackpropInput", "input", 2, tensor(4, dtype=dtypes.int64), "DefaultFormat"),
        ("MaxPool", "output", 0, tensor(2, 4, 4, 4, dtype=dtypes.float16), "NC1HWC0"),
        ("BatchNorm", "input", 1, tensor(4), "NC1HWC0"),
        ("BatchNorm", "output", 0, tensor(2, 4, 8, 8), "NC1HWC0"),
        ("MatMul", "input", 1, tensor(4, 3), "FRACTAL_NZ"),
        ("MatMul", "output", 0, tensor(4, 3, dtype=dtypes.bfloat16), "FRACTAL_NZ"),
        ("MatMul", "input", 2, tensor(), "DefaultFormat"),
        ("BatchMatMul", "output", 0, tensor(2, 4, 3), "FRACTAL_NZ"),
        ("AvgPool3D", "input", 0, tensor(2, 4, 3, 3, 3), "NDC1HWC0"),
        ("Add", "input", 0, tensor(2, 3, 8, 8), "DefaultFormat"),
        ("ReLU", "output", 0, tensor(2, 3, 8, 8), "DefaultFormat"),
        ("BiasAdd", "input", 0, tensor(2, 3, 8, 8), "DefaultFormat"),
    ],
)  # fmt: skip
def test_formats_of_ascend(name: str, op: str, io: str, slot: int, spec: Spec, format: str) -> None:
    layout = DEVICES.get(name).format_for(Operator(op), io, slot, spec)
    assert layout == Layout(format)
    assert layout.is_default == (format == "DefaultFormat")


@pytest.mark.parametrize("name", ["cpu", "gpu"])
@pytest.mark.parametrize("op", sorted(ASCEND))
def test_elsewhere_the_host_order(name: str, op: str) -> None:
    assert DEVICES.get(name).format_for(Operator(op), "input", 0, tensor(2, 3, 8, 8)) == DEFAULT


def test_rows_of_features_are_images_of_one_pixel() -> None:
    layout = DEVICES.get("ascend-o0").format_for(Operator("BatchNorm"), "input", 0, tensor(5, 20))
    assert layout.format == "NC1HWC0"
    assert layout.device_shape((5, 20), dtypes.float32) == (5, 2, 1, 1, 16)


@pytest.mark.parametrize("spec", [IOMONAD, ScalarSpec(dtypes.float32), tensor(2, 3), tensor(2, 3, 4, 5, 6)])
def test_what_a_format_does_not_hold_keeps_the_host_order(spec: Spec) -> None:
    assert DEVICES.get("ascend-o0").format_for(Operator("Conv2D"), "input", 0, spec) == DEFAULT


@pytest.mark.parametrize(("attrs", "groups"), [({"group": 4}, 4), ({"groups": 2}, 2), ({}, 1), ({"group": (1,)}, 1)])
def test_groups_of_a_weight(attrs: dict[str, Any], groups: int) -> None:
    device, op = DEVICES.get("ascend-o0"), Operator("Conv2D", attributes=attrs)
    assert device.format_for(op, "input", 1, tensor(8, 2, 3, 3)) == Layout("FRACTAL_Z", groups)
    assert device.format_for(op, "input", 0, tensor(8, 2, 3, 3)) == Layout("NC1HWC0", 1)


def test_a_layout_moves_a_tensor_both_ways() -> None:
    op = Operator("Conv2D", attributes={"group": 4})
    layout = DEVICES.get("ascend-o0").format_for(op, "input", 1, tensor(16, 2, 3, 3))
    host = np.arange(16 * 2 * 9, dtype=np.float32).reshape(16, 2, 3, 3)
    device = layout.to_device(host)
    assert device.shape == layout.device_shape(host.shape, dtypes.float32)
    assert np.array_equal(device, FORMATS.get("FRACTAL_Z").to_device(host, groups=4))
    assert np.array_equal(layout.to_host(device, host.shape), host)


def test_a_layout_with_named_axes() -> None:
    layout = Layout("NC1HWC0", axes="N")
    host = np.arange(3, dtype=np.float16)
    assert layout.to_device(host).shape == layout.device_shape((3,), np.float16) == (3, 1, 1, 1, 16)
    assert np.array_equal(layout.to_host(layout.to_device(host), (3,)), host)


def test_streams_of_ascend() -> None:
    streams = DEVICES.get("ascend-o0").streams
    assert streams.stream_of("Conv2D") == 0
    assert streams.stream_of("AllReduce") == streams.stream_of("AllGather", {"group": "hccl_world_group"}) == 1
    own = [streams.stream_of("AllReduce", {"group": g}, ("a", "b")) for g in "ab"]
    sends = [streams.stream_of("Send"), streams.stream_of("Receive")]
    assert len({0, 1, *own, *sends}) == 6


@pytest.mark.parametrize("name", ["cpu", "gpu"])
def test_one_stream_elsewhere(name: str) -> None:
    streams = DEVICES.get(name).streams
    assert {streams.stream_of(op) for op in ("Conv2D", "AllReduce", "Send")} == {0}


def test_tasks_are_counted_where_the_graph_is_sunk() -> None:
    assert [DEVICES.get("ascend-o2").streams.task_of(i) for i in range(3)] == [1, 2, 3]
    assert {DEVICES.get("ascend-o0").streams.task_of(i) for i in range(3)} == {0}
    assert Streams().task_of(7) == 0


@pytest.mark.parametrize(
    ("name", "size", "aligned"),
    [("cpu", 0, 0), ("cpu", 80, 512), ("cpu", 512, 512), ("cpu", 513, 1024), ("ascend-o0", 0, 0),
     ("ascend-o0", 2048, 2560), ("ascend-o0", 480, 512), ("ascend-o0", 481, 1024)],
)  # fmt: skip
def test_memory(name: str, size: int, aligned: int) -> None:
    assert DEVICES.get(name).memory.aligned(size) == aligned


def test_memory_of_collectives() -> None:
    memory = DEVICES.get("ascend-o0").memory
    assert [memory.aligned(size, communication=True) for size in (0, 1, 512)] == [0, 1536, 1536]
    with pytest.raises(ValueError, match="at least 0, got -1"):
        Memory().aligned(-1)
