"""Storage formats: every element lies where its formula says, and comes back from there."""

from __future__ import annotations

from math import prod
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.devices.formats import FORMATS, POISON
from harness.devices.formats.blocks import cube_size
from harness.errors import ShapeError, UnknownNameError, UnsupportedError
from tests.devices.indices import FORMULAS, placed
from tests.examples import examples

DTYPES = (np.float16, np.float32, np.int8, ml_dtypes.bfloat16)
PLAIN = ("DefaultFormat", "ND", "NCHW", "NCDHW", "NCL")
SHAPE_ONLY = ("FRACTAL_ZN_RNN", "ND_RNN_BIAS", "FRACTAL_ZN_LSTM")


def small(limit: int) -> st.SearchStrategy[int]:
    return st.one_of(st.sampled_from([1, 16, 32]).filter(lambda n: n <= limit), st.integers(1, limit))


def shapes(name: str) -> st.SearchStrategy[tuple[int, ...]]:
    """Host shapes of the format's full rank: not only multiples of 16, and dimensions of 1."""
    if name == "FRACTAL_NZ":
        return st.one_of(*(st.tuples(*[st.integers(1, 3)] * lead, small(40), small(70)) for lead in range(3)))
    if name == "ChannelLast":
        return st.lists(st.integers(1, 7), min_size=3, max_size=5).map(tuple)
    spatial = [st.integers(1, 3)] * (FORMATS.get(name).rank - 2)
    return st.tuples(small(40), st.integers(1, 4) if name == "FRACTAL_Z_C04" else small(70), *spatial)


def values(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """Distinct non-zero elements as far as the dtype has them."""
    count = np.arange(prod(shape), dtype=np.int64).reshape(shape)
    if np.dtype(dtype).itemsize == 2:  # bit patterns: every number and NaN of the dtype
        return (count % 65535 + 1).astype(np.uint16).view(dtype)
    return (count % 127 + 1).astype(dtype) if np.dtype(dtype).itemsize == 1 else (count + 1).astype(dtype)


def bits(array: np.ndarray[Any, Any]) -> bytes:
    return array.tobytes()


def test_every_format_is_tested() -> None:
    assert set(FORMATS) == {*FORMULAS, *PLAIN, *SHAPE_ONLY}


@pytest.mark.parametrize("name", FORMULAS)
@examples(62, 500)
@given(data=st.data())
def test_elements_stand_where_the_formula_says_and_come_back(name: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(name))
    fmt = FORMATS.get(name)
    for dtype in DTYPES:
        host = values(shape, dtype)
        device = fmt.to_device(host)
        assert device.shape == fmt.device_shape(shape, dtype)
        assert device.flags.c_contiguous
        expected = placed(name, host, cube_size(dtypes.from_numpy(dtype)), device.size)
        assert bits(device) == bits(expected)
        back = fmt.to_host(device, shape)
        assert back.shape == shape
        assert back.dtype == dtype
        assert bits(back) == bits(host)


@pytest.mark.parametrize("name", PLAIN)
def test_host_order_is_kept(name: str) -> None:
    host = values((2, 3, 4), np.float32)
    device = FORMATS.get(name).to_device(host)
    assert device.shape == FORMATS.get(name).device_shape(host.shape, np.float32) == host.shape
    assert bits(device) == bits(FORMATS.get(name).to_host(device, host.shape)) == bits(host)


@pytest.mark.parametrize("name", [n for n in FORMULAS if FORMATS.get(n).rank])
def test_tensors_of_fewer_dimensions_are_padded_and_come_back(name: str) -> None:
    fmt = FORMATS.get(name)
    for rank in range(fmt.rank):
        host = values((2, 3, 2, 3)[:rank], np.float16)
        device = fmt.to_device(host)
        assert device.shape == fmt.device_shape(host.shape, np.float16)
        assert bits(fmt.to_host(device, host.shape)) == bits(host)


@pytest.mark.parametrize("name", [n for n in FORMULAS if n != "FRACTAL_Z_C04"])
@pytest.mark.parametrize("axis", range(4))
def test_empty_tensors(name: str, axis: int) -> None:
    fmt = FORMATS.get(name)
    shape = [2] * (fmt.rank or 4)
    shape[axis] = 0
    host = np.zeros(shape, np.float32)
    device = fmt.to_device(host)
    assert device.shape == fmt.device_shape(shape, np.float32)
    assert fmt.to_host(device, shape).shape == tuple(shape)


@pytest.mark.parametrize("dtype", [np.bool_, np.int64, np.float64, np.complex128, np.uint8])
@pytest.mark.parametrize("name", FORMULAS)
def test_every_element_size(name: str, dtype: Any) -> None:
    fmt = FORMATS.get(name)
    shape = (3, 4, 2, 3, 2)[: fmt.rank or 3]
    host = np.arange(1, prod(shape) + 1).reshape(shape).astype(dtype)
    device = fmt.to_device(host)
    assert device.shape == fmt.device_shape(shape, dtype)
    assert bits(fmt.to_host(device, shape)) == bits(host)


@pytest.mark.parametrize(
    ("dtype", "c0"),
    [("int4", 64), ("int8", 32), ("uint8", 32), ("float16", 16), ("bfloat16", 16), ("float32", 16), ("int64", 16),
     ("bool", 16)],
)  # fmt: skip
def test_c0_by_dtype(dtype: str, c0: int) -> None:
    assert FORMATS.get("NC1HWC0").device_shape((1, 65, 2, 2), dtype) == (1, -(-65 // c0), 2, 2, c0)


def test_c0_can_be_given_and_is_read_from_the_device_shape() -> None:
    host = values((4, 9, 2, 3), np.float32)
    for name in ("NC1HWC0", "FRACTAL_Z", "C1HWNCoC0"):
        device = FORMATS.get(name).to_device(host, c0=8)
        assert device.shape[-1] == 8
        assert device.shape == FORMATS.get(name).device_shape(host.shape, np.float32, c0=8)
        assert bits(FORMATS.get(name).to_host(device, host.shape)) == bits(host)


def test_padding_of_fractal_nz_can_be_chosen_and_is_never_read() -> None:
    fmt = FORMATS.get("FRACTAL_NZ")
    host = values((2, 17, 18), np.float32)
    used = placed("FRACTAL_NZ", np.ones(host.shape, np.bool_), 16, 2 * 2 * 2 * 256)
    for pad in (0, 7, POISON):
        device = fmt.to_device(host, pad=pad)
        padding = device.reshape(-1)[~used]
        assert np.isnan(padding).all() if pad == POISON else (padding == pad).all()
        assert bits(fmt.to_host(device, host.shape)) == bits(host)
    assert (fmt.to_device(values((3, 3), np.int8), pad=POISON).reshape(-1)[3] == 127).all()


@pytest.mark.parametrize("name", ["NC1HWC0", "FRACTAL_Z", "NDC1HWC0"])
def test_padding_elsewhere_is_zero(name: str) -> None:
    with pytest.raises(UnsupportedError, match=f"{name} pads with 0"):
        FORMATS.get(name).to_device(values((2, 3, 2, 2), np.float32), pad=POISON)


def test_vectors_in_fractal_nz() -> None:
    fmt = FORMATS.get("FRACTAL_NZ")
    for size in (1, 16, 48):
        host = values((size,), np.float16)
        assert fmt.device_shape((size,), np.float16) == (size,)
        assert bits(fmt.to_host(fmt.to_device(host), (size,))) == bits(host)
    row = fmt.to_device(values((1, 20), np.float16))
    assert bits(fmt.to_host(row, (20,))) == bits(values((20,), np.float16))
    with pytest.raises(ShapeError, match="a vector has 1 or a multiple of 16 elements"):
        fmt.to_device(values((20,), np.float16))
    with pytest.raises(ShapeError, match="holds no scalar"):
        fmt.device_shape((), np.float16)


def test_a_shape_of_six_dimensions_is_an_ndc1hwc0_shape_already() -> None:
    fmt = FORMATS.get("NDC1HWC0")
    shape = (1, 2, 2, 3, 3, 16)
    assert fmt.device_shape(shape, np.float16) == shape
    host = values(shape, np.float16)
    assert bits(fmt.to_host(fmt.to_device(host), shape)) == bits(host)


@pytest.mark.parametrize(
    ("name", "shape", "expected"),
    [
        ("NC1HWC0", (-1, 20, -1, 3), (-1, 2, -1, 3, 16)),
        ("NC1HWC0", (2, -1, 2, 3), (2, -1, 2, 3, 16)),
        ("FRACTAL_Z", (2, -1, 2, 3), (-1, 1, 16, 16)),
        ("FRACTAL_Z", (-1, 3, 2, 3), (6, -1, 16, 16)),
        ("FRACTAL_Z_3D", (2, 3, -1, 2, 3), (-1, 1, 16, 16)),
        ("FRACTAL_NZ", (-1, 20, -1), (-1, -1, 2, 16, 16)),
        ("FRACTAL_NZ", (-1,), (-1,)),
        ("FRACTAL_Z_C04", (2, 3, -1, 3), (-1, 1, 16, 16)),
        ("NHWC", (-1, 2, 3, 4), (-1, 3, 4, 2)),
        ("ND", (-1, 3), (-1, 3)),
    ],
)  # fmt: skip
def test_unknown_dimensions_stay_unknown(name: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert FORMATS.get(name).device_shape(shape, np.float16) == expected


def test_what_a_format_cannot_hold() -> None:
    with pytest.raises(ShapeError, match=r"at most 4 dimensions \(NCHW\), got \[1, 2, 3, 4, 5\]"):
        FORMATS.get("NC1HWC0").device_shape((1, 2, 3, 4, 5), np.float16)
    with pytest.raises(ShapeError, match="at least 0, or -1"):
        FORMATS.get("NC1HWC0").device_shape((1, -2), np.float16)
    with pytest.raises(ShapeError, match="at most 4 input channels"):
        FORMATS.get("FRACTAL_Z_C04").to_device(np.zeros((1, 5, 1, 1), np.float16))
    with pytest.raises(ShapeError, match=r"lies in \[2, 1, 2, 2, 16\] on the device, got \[2, 2, 2, 2, 16\]"):
        FORMATS.get("NC1HWC0").to_host(np.zeros((2, 2, 2, 2, 16), np.float16), (2, 3, 2, 2))
    with pytest.raises(ShapeError, match="needs every dimension"):
        FORMATS.get("NC1HWC0").to_host(np.zeros((2, 1, 2, 2, 16), np.float16), (-1, 3, 2, 2))
    with pytest.raises(ShapeError, match="c0 must be at least 1"):
        FORMATS.get("NC1HWC0").device_shape((1, 2), np.float16, c0=0)
    with pytest.raises(ShapeError, match="has C0 4, got c0=16"):
        FORMATS.get("NC1HWC0_C04").device_shape((1, 2), np.float16, c0=16)
    with pytest.raises(UnsupportedError, match="NHWC has no groups"):
        FORMATS.get("NHWC").device_shape((1, 2), np.float16, groups=2)
    with pytest.raises(UnknownNameError, match="did you mean FRACTAL_Z"):
        FORMATS.get("FRACTALZ")
