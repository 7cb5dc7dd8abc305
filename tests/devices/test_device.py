"""The five devices, and the effect of environment and context on them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from harness import context, dtypes
from harness.devices import DEVICES, Device
from harness.devices.overflow import VARIABLE, Overflow
from harness.errors import SettingError, UnknownNameError

NAMES = ("ascend-o0", "ascend-o1", "ascend-o2", "cpu", "gpu")


def test_there_are_five() -> None:
    assert tuple(DEVICES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_says_what_it_is(name: str) -> None:
    device = DEVICES.get(name)
    assert device.name == name
    assert device.target in context.TARGETS
    assert device.name == "-".join(filter(None, (device.target.lower(), device.level.lower())))
    assert device.emulated
    assert {"device", "products", "overflow", "formats"} <= device.rules.keys()
    assert all(device.rules.values())
    with pytest.raises(FrozenInstanceError):
        device.name = "other"  # type: ignore[misc]


def test_an_unknown_device() -> None:
    with pytest.raises(UnknownNameError, match="no device is called 'ascend'; did you mean ascend-o"):
        DEVICES.get("ascend")


def test_only_the_cpu_lacks_kernels() -> None:
    for name in NAMES:
        kernels = DEVICES.get(name).kernels
        assert bool(kernels.widened) == bool(kernels.narrowed) == (name == "cpu")


def test_levels_of_ascend() -> None:
    o0, o1, o2 = (DEVICES.get(f"ascend-{level}") for level in ("o0", "o1", "o2"))
    assert (o0.fuses, o1.fuses, o2.fuses) == (False, True, True)
    assert (o0.sinks, o1.sinks, o2.sinks) == (False, False, True)


@pytest.mark.parametrize(("name", "text"), [("cpu", "BFloat16"), ("gpu", "BFloat16"), ("ascend-o0", "bfloat16")])
def test_dtypes_in_file_names(name: str, text: str) -> None:
    assert DEVICES.get(name).file_dtype(dtypes.bfloat16) == text


def numbers(device: Device) -> tuple[str, str, Overflow]:
    return device.numerics.matmul, device.numerics.convolution, device.numerics.overflow


@pytest.mark.parametrize(
    ("name", "products"),
    [
        ("cpu", ("float32", "float32", Overflow.INFNAN)),
        ("gpu", ("float32", "tf32", Overflow.INFNAN)),
        ("ascend-o0", ("float32", "hf32", Overflow.INFNAN)),
        ("ascend-o1", ("float32", "hf32", Overflow.INFNAN)),
        ("ascend-o2", ("float32", "hf32", Overflow.INFNAN)),
    ],
)
def test_defaults(name: str, products: tuple[str, str, Overflow]) -> None:
    assert numbers(DEVICES.get(name)) == numbers(DEVICES.get(name).configured()) == products


@pytest.mark.parametrize(
    ("name", "settings", "products"),
    [
        ("gpu", {"conv_allow_tf32": False}, ("float32", "float32")),
        ("gpu", {"matmul_allow_tf32": True}, ("tf32", "tf32")),
        ("ascend-o0", {"conv_allow_hf32": False}, ("float32", "float32")),
        ("ascend-o0", {"matmul_allow_hf32": True}, ("hf32", "hf32")),
        ("ascend-o0", {"precision_mode": "must_keep_origin_dtype"}, ("float32", "hf32")),
        ("ascend-o0", {"precision_mode": "allow_fp32_to_fp16"}, ("float16", "float16")),
        ("ascend-o0", {"precision_mode": "allow_fp32_to_bf16", "conv_allow_hf32": False}, ("bfloat16", "bfloat16")),
    ],
)
def test_settings_of_the_context(name: str, settings: dict[str, Any], products: tuple[str, str]) -> None:
    both = {"ascend_config": settings, "gpu_config": settings}
    assert numbers(DEVICES.get(name).configured(context=both))[:2] == products
    assert numbers(DEVICES.get("cpu").configured(context=both))[:2] == ("float32", "float32")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"precision_mode": "fp8"}, "precision_mode must be one of .*force_fp16.*got 'fp8'"),
        ({"conv_allow_hf32": 1}, "conv_allow_hf32 must be True or False, got 1"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        DEVICES.get("ascend-o0").configured(context={"ascend_config": settings})


def test_saturation_by_the_environment_on_ascend_only() -> None:
    asked = {VARIABLE: "SATURATION_MODE"}
    for name in NAMES:
        mode = DEVICES.get(name).configured(asked).numerics.overflow
        assert (mode is Overflow.SATURATION) == name.startswith("ascend")
    assert DEVICES.get("ascend-o0").numerics.overflow is Overflow.INFNAN


def test_the_first_generation_computes_products_in_float16_and_saturates() -> None:
    device = DEVICES.get("ascend-o0").configured(soc="Ascend910A", context={"ascend_config": {"conv_allow_hf32": True}})
    assert device.soc == "ascend910a"
    assert numbers(device) == ("float16", "float16", Overflow.SATURATION)
    x = np.array([[1e6]], np.float32)
    y = device.run("MatMul", (x, x), lambda args: (args[0] @ args[1],))[0]
    assert y[0, 0] == np.float32(65504.0) ** 2
