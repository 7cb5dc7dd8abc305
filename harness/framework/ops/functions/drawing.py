"""Whole numbers drawn: in a range, in an order, by weights. The values are this project's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.functions.arithmetic import div
from harness.framework.ops.functions.random import rand
from harness.framework.ops.functions.search import topk
from harness.framework.seed import operator_seeds
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = ["multinomial", "randint", "randint_like", "randperm"]


def _attrs(kernel: str, seed: int | None, inputs: list[str]) -> dict[str, Any]:
    seeds = operator_seeds(kernel, seed or 0)
    return {
        "seed2": seeds[1], "input_names": inputs, "output_names": ["output"], "side_effect_hidden": True,
        "seed": seeds[0],
    }  # fmt: skip


def _whole(owner: str, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise SettingTypeError(f"{owner}: {name} must be an int, got {value!r}")
    return value


def _between(owner: str, low: Any, high: Any, size: Any, seed: int | None, dtype: Any) -> Any:
    _whole(owner, "low", low)
    _whole(owner, "high", high)
    if low >= high:
        raise SettingError(f"{owner}: low must be below high, got {low} and {high}")
    bounds = [Tensor(np.asarray(v, np.int32)) for v in (low, high)]
    drawn = call("UniformInt", tuple(size), *bounds, **_attrs(owner, seed, ["shape", "minval", "maxval"]))
    return drawn if dtype is dtypes.int32 else call("Cast", drawn, dtype)


def randint(low: int, high: int, size: Any, seed: int | None = None, *, dtype: Any = None) -> Any:
    """Whole numbers in [low, high), Int64 unless ``dtype`` says another.

    Raises:
        SettingError: ``low`` is not below ``high``.
    """
    if not isinstance(size, tuple):
        raise SettingTypeError(f"randint: size must be a tuple, got {size!r}")
    return _between("randint", low, high, size, seed, dtype or dtypes.int64)


def randint_like(input: Any, low: int, high: int, seed: int | None = None, *, dtype: Any = None) -> Any:
    """Whole numbers in [low, high) in the shape of ``input``, and its dtype unless ``dtype`` says another.

    Raises:
        SettingError: the dtype is not one of whole numbers.
    """
    if (dtype or input.dtype).kind not in "iu":
        raise SettingError(f"randint_like: the dtype must be of whole numbers, got {dtype or input.dtype}")
    return _between("randint_like", low, high, input.shape, seed, dtype or input.dtype)


def randperm(n: int, seed: int = 0, offset: int = 0, dtype: Any = dtypes.int64) -> Any:
    """The numbers below ``n`` in an order drawn from ``seed`` and ``offset``."""
    _whole("randperm", "n", n)
    attrs = _attrs("randperm", seed, ["n"])
    return call("RandpermV2", n, dtype, **{**attrs, "seed2": offset or attrs["seed2"]})


@tensor_method("multinomial")
def multinomial(input: Any, num_samples: int, replacement: bool = True, seed: int | None = None) -> Any:
    """Int32 classes (..., num_samples), drawn with their shares of the weights ``input`` (..., classes).

    Raises:
        SettingError: without replacement more are asked for than there are classes.
    """
    _whole("multinomial", "num_samples", num_samples)
    if replacement:
        return call("Multinomial", input, num_samples, **_attrs("multinomial", seed, ["input", "num_samples"]))
    if num_samples > input.shape[-1]:
        raise SettingError(f"multinomial: {num_samples} of {input.shape[-1]} classes are asked for, each once")
    chances = rand(*input.shape, seed=seed)
    return topk(div(chances.log(), input + 1e-6), num_samples)[1]
