"""Every worked value of the format descriptions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.devices.formats import FORMATS
from harness.errors import ShapeError, UnsupportedError
from tests.devices.indices import placed
from tests.examples import examples

Shape = tuple[int, ...]


def marked(shape: Shape, element: Shape, dtype: Any) -> np.ndarray[Any, Any]:
    """Zeros with a 1 at ``element``."""
    host = np.zeros(shape, dtype)
    host[element] = 1
    return host


@pytest.mark.parametrize(
    ("name", "dtype", "shape", "device_shape", "element", "flat"),
    [
        ("NC1HWC0", np.float16, (1, 3, 2, 2), (1, 1, 2, 2, 16), (0, 2, 1, 0), 34),
        ("FRACTAL_Z", np.float16, (2, 3, 2, 2), (4, 1, 16, 16), (1, 2, 1, 0), 530),
        ("FRACTAL_NZ", np.float16, (20, 18), (2, 2, 16, 16), (17, 17), 785),
        ("NDC1HWC0", np.float16, (1, 17, 2, 2, 2), (1, 2, 2, 2, 2, 16), (0, 16, 1, 0, 1), 208),
        ("FRACTAL_Z_3D", np.float32, (17, 17, 2, 1, 2), (8, 2, 16, 16), (16, 16, 1, 0, 1), 3840),
        ("C1HWNCoC0", np.float16, (2, 17, 1, 2), (2, 1, 2, 2, 16, 16), (1, 16, 0, 1), 1792),
        ("FRACTAL_Z_C04", np.float16, (17, 3, 3, 3), (3, 2, 16, 16), (16, 2, 1, 1), 770),
    ],
)
def test_one_element(name: str, dtype: Any, shape: Shape, device_shape: Shape, element: Shape, flat: int) -> None:
    device = FORMATS.get(name).to_device(marked(shape, element, dtype))
    assert device.shape == device_shape
    assert np.flatnonzero(device).tolist() == [flat]


@pytest.mark.parametrize(
    ("name", "dtype", "shape", "device_shape"),
    [
        ("FRACTAL_Z", "int8", (3, 20, 2, 2), (4, 1, 16, 32)),
        ("FRACTAL_Z", "float16", (384, 256, 3, 3), (144, 24, 16, 16)),
        ("NC1HWC0", "float16", (32, 256, 13, 13), (32, 16, 13, 13, 16)),
    ],
)
def test_shapes(name: str, dtype: str, shape: Shape, device_shape: Shape) -> None:
    assert FORMATS.get(name).device_shape(shape, dtype) == device_shape


def test_pixels_of_nc1hwc0() -> None:
    host = np.arange(12, dtype=np.float16).reshape(1, 3, 2, 2)
    device = FORMATS.get("NC1HWC0").to_device(host)
    assert device[0, 0, 0, 0, :4].tolist() == [0, 4, 8, 0]
    assert device[0, 0, 0, 1, :4].tolist() == [1, 5, 9, 0]


def test_diagonal_of_c1hwncoc0() -> None:
    device = FORMATS.get("C1HWNCoC0").to_device(np.ones((2, 17, 1, 2), np.float16))
    assert (np.count_nonzero(device), device.size) == (68, 2048)


def test_hwcn_of_the_unit_test() -> None:
    given = [12581, 14220, 14937, 14302, 15004, 14951, 14694, 14564, 14069, 14554, 10507, 14787, 13016, 15263, 14872,
             10838]  # fmt: skip
    wanted = [12581, 14069, 15004, 13016, 14220, 14554, 14951, 15263, 14937, 10507, 14694, 14872, 14302, 14787, 14564,
              10838]  # fmt: skip
    device = FORMATS.get("HWCN").to_device(np.array(given, np.uint16).reshape(2, 2, 2, 2))
    assert device.reshape(-1).tolist() == wanted


GROUPED: list[tuple[int, int, int]] = [
    (2, 3, 4), (2, 16, 16), (4, 8, 8), (3, 5, 7), (8, 1, 1), (32, 1, 1), (4, 16, 16), (2, 24, 40), (40, 1, 1),
    (5, 32, 16),
]  # fmt: skip


@pytest.mark.parametrize(
    ("groups", "inputs", "outputs", "device_shape"),
    [
        (2, 3, 4, (6, 1, 16, 16)),
        (8, 1, 1, (6, 1, 16, 16)),
        (32, 1, 1, (12, 1, 16, 16)),
        (40, 1, 1, (18, 1, 16, 16)),
        (2, 24, 40, (18, 5, 16, 16)),
        (4, 16, 16, (24, 1, 16, 16)),
    ],
)
def test_shapes_of_grouped_weights(groups: int, inputs: int, outputs: int, device_shape: Shape) -> None:
    shape = (groups * outputs, inputs, 2, 3)
    assert FORMATS.get("FRACTAL_Z").device_shape(shape, np.float32, groups=groups) == device_shape


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
@pytest.mark.parametrize(("groups", "inputs", "outputs"), GROUPED)
def test_grouped_weights_lose_nothing(groups: int, inputs: int, outputs: int, dtype: Any) -> None:
    fmt = FORMATS.get("FRACTAL_Z")
    shape = (groups * outputs, inputs, 2, 3)
    host = (np.arange(np.prod(shape)).reshape(shape) % 127 + 1).astype(dtype)
    device = fmt.to_device(host, groups=groups)
    assert device.shape == fmt.device_shape(shape, dtype, groups=groups)
    assert np.count_nonzero(device) == host.size
    expected = placed("FRACTAL_Z", host, 32 if dtype is np.int8 else 16, device.size, groups=groups)
    assert np.array_equal(device.reshape(-1), expected)
    assert np.array_equal(fmt.to_host(device, shape, groups=groups), host)


@examples(62, 500)
@given(st.integers(2, 40), st.integers(0, 40), st.integers(0, 40), st.integers(1, 3), st.sampled_from([8, 16, 32]))
def test_any_groups(groups: int, inputs: int, outputs: int, width: int, c0: int) -> None:
    fmt = FORMATS.get("FRACTAL_Z")
    shape = (groups * outputs, inputs, 1, width)
    host = (np.arange(np.prod(shape)).reshape(shape) + 1).astype(np.int32)
    device = fmt.to_device(host, groups=groups, c0=c0)
    assert device.shape == fmt.device_shape(shape, np.int32, groups=groups, c0=c0)
    if host.size:
        assert np.array_equal(device.reshape(-1), placed("FRACTAL_Z", host, c0, device.size, groups=groups))
    assert np.array_equal(fmt.to_host(device, shape, groups=groups), host)


def test_groups_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match="7 output channels cannot be in 2 groups"):
        FORMATS.get("FRACTAL_Z").device_shape((7, 1, 1, 1), np.float16, groups=2)
    with pytest.raises(ShapeError, match="groups must be at least 1"):
        FORMATS.get("FRACTAL_Z").device_shape((8, 1, 1, 1), np.float16, groups=0)
    assert FORMATS.get("FRACTAL_Z").device_shape((-1, 1, 2, 2), np.float16, groups=2) == (-1, -1, 16, 16)


@pytest.mark.parametrize(
    ("name", "shape", "hidden", "entered", "device_shape"),
    [
        ("FRACTAL_ZN_RNN", (43, 120), 30, 13, (3, 8, 16, 16)),
        ("FRACTAL_ZN_RNN", (30, 60), 30, 13, (2, 4, 16, 16)),
        ("FRACTAL_ZN_RNN", (5, 13, 60), 30, 13, (5, 1, 4, 16, 16)),
        ("FRACTAL_ZN_RNN", (-1, -1), 30, 13, (-1, -1, 16, 16)),
        ("ND_RNN_BIAS", (120,), 30, None, (128,)),
        ("ND_RNN_BIAS", (-1,), 30, None, (-1,)),
        ("FRACTAL_ZN_LSTM", (80, 50), None, None, (4, 8, 16, 16)),
        ("FRACTAL_ZN_LSTM", (-1, 50), None, None, (-1, -1, 16, 16)),
    ],
)
def test_recurrent_shapes(
    name: str, shape: Shape, hidden: int | None, entered: int | None, device_shape: Shape
) -> None:
    fmt = FORMATS.get(name)
    assert fmt.device_shape(shape, "float16", hidden_size=hidden, input_size=entered) == device_shape


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("FRACTAL_ZN_RNN", (44, 120), "input_size 13, hidden_size 30 or their sum, got 44"),
        ("FRACTAL_ZN_RNN", (43, 121), "a multiple of hidden_size 30, got 121"),
        ("FRACTAL_ZN_RNN", (30,), "at least 2 dimensions"),
        ("ND_RNN_BIAS", (), "at least 1 dimensions"),
        ("ND_RNN_BIAS", (31,), "a multiple of hidden_size 30, got 31"),
        ("FRACTAL_ZN_LSTM", (80, 10), "at least 20 columns, got 10"),
        ("FRACTAL_ZN_LSTM", (80, 10, 3), "holds matrices"),
    ],
)
def test_recurrent_shapes_that_cannot_be(name: str, shape: Shape, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        FORMATS.get(name).device_shape(shape, "float16", hidden_size=30, input_size=13)


@pytest.mark.parametrize("name", ["FRACTAL_ZN_RNN", "ND_RNN_BIAS", "FRACTAL_ZN_LSTM"])
def test_recurrent_order_is_not_known(name: str) -> None:
    with pytest.raises(UnsupportedError, match="only the shape on the device is known"):
        FORMATS.get(name).to_device(np.zeros((16, 16), np.float16))
    with pytest.raises(UnsupportedError, match="only the shape on the device is known"):
        FORMATS.get(name).to_host(np.zeros((1, 1, 16, 16), np.float16), (16, 16))
