"""Random functions and dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework.ops.expansion import constant_value, scalar
from harness.framework.seed import operator_seeds
from harness.framework.tensor import Tensor, call

__all__ = [
    "bernoulli", "dropout", "normal", "rand", "rand_like", "randn", "randn_like", "shuffle", "standard_normal",
    "uniform",
]  # fmt: skip


def stream_attrs(seeds: tuple[int, int], dtype: Any, cached: bool | None) -> dict[str, Any]:
    """Attributes of StandardNormal and UniformReal; those made by functions (``cached`` False) say so."""
    cache = {} if cached is None else {"random_cache": cached}
    names = {"seed2": seeds[1], "input_names": ["shape"], "output_names": ["output"]}
    return {**names, **cache, "side_effect_hidden": True, "seed": seeds[0], "dtype": dtype}


def dropout(input: Any, p: float = 0.5, training: bool = True, seed: int | None = None) -> Any:
    """Elements dropped with probability ``p``, others divided by ``1 - p``; ``input`` itself if not ``training``."""
    if not training:
        return input
    seed0, seed1 = operator_seeds("dropout", seed or 0)
    return call("Dropout", input, 1.0 - p, seed0, seed1, random_cache=False, side_effect_hidden=True)[0]


def _drawn(op: str, kernel: str, shape: Any, seed: int | None) -> Any:
    dims = (shape,) if isinstance(shape, int) else tuple(shape)
    return call(op, dims, **stream_attrs(operator_seeds(kernel, seed or 0), dtypes.float32, False))


def _shape(size: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else tuple(size)


def _as(x: Any, dtype: DType | None, owner: str) -> Any:
    """``x`` in a floating ``dtype`` (None: Float32); ``ValueError`` for another."""
    if dtype is None or dtype is dtypes.float32:
        return x
    if not dtype.is_floating:
        raise SettingError(f"ops.{owner}: dtype must be a floating one, got {dtype}")
    return call("Cast", x, dtype)


def standard_normal(shape: Any, seed: int | None = None) -> Any:
    """Normal numbers with mean 0 and variance 1."""
    return _drawn("StandardNormal", "standard_normal", shape, seed)


def randn(*size: Any, dtype: DType | None = None, seed: int | None = None) -> Any:
    """Normal numbers."""
    return _as(_drawn("StandardNormal", "randn", _shape(size), seed), dtype, "randn")


def rand(*size: Any, dtype: DType | None = None, seed: int | None = None) -> Any:
    """Numbers uniform in [0, 1)."""
    return _as(_drawn("UniformReal", "rand", _shape(size), seed), dtype, "rand")


def randn_like(input: Any, seed: int | None = None, *, dtype: DType | None = None) -> Any:
    """Normal numbers in the shape of ``input``; Float32 unless ``dtype`` says otherwise, as MindSpore 2.10.0."""
    return _as(_drawn("StandardNormal", "randn_like", input.shape, seed), dtype, "randn_like")


def rand_like(input: Any, seed: int | None = None, *, dtype: DType | None = None) -> Any:
    """Numbers uniform in [0, 1) in the shape and dtype of ``input``."""
    return _as(_drawn("UniformReal", "rand_like", input.shape, seed), dtype or input.dtype, "rand_like")


def normal(shape: Any, mean: Any, stddev: Any, seed: int | None = None) -> Any:
    """Normal numbers with this mean and deviation (numbers or tensors)."""
    drawn = _drawn("StandardNormal", "normal", shape, seed)
    return call("Add", call("Mul", drawn, _typed(stddev)), _typed(mean))


def uniform(shape: Any, minval: Any, maxval: Any, seed: int | None = None, dtype: DType = dtypes.float32) -> Any:
    """Numbers uniform in [minval, maxval) (two tensors)."""
    if dtype is not dtypes.float32:
        raise UnsupportedError(f"ops.uniform: dtype must be Float32, got {dtype}")
    low, high = constant_value(minval), constant_value(maxval)
    known = low is not None and high is not None
    width = Tensor(np.asarray(high - low), minval.dtype) if known else call("Sub", maxval, minval)  # type: ignore[operator]
    return call("Add", call("Mul", _drawn("UniformReal", "uniform", shape, seed), width), minval)


def _typed(value: Any) -> Any:
    return value if isinstance(value, Tensor) else scalar(value, dtypes.float32)


def _seed(seed: Any, owner: str) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise SettingTypeError(f"{owner}: seed must be an int, got {seed!r}")
    return seed


def bernoulli(input: Any, p: Any = 0.5, seed: int | None = None) -> Any:
    """1 with probability ``p`` (a number, or a tensor of one for each element) and 0 else, in the shape and dtype of
    ``input``."""
    seed0 = operator_seeds("bernoulli", 0)[1] if seed is None else _seed(seed, "bernoulli")
    chance = p if isinstance(p, Tensor) else Tensor(np.array([p], np.float32))
    known = constant_value(chance)
    if known is not None and not ((known >= 0) & (known <= 1)).all():
        raise SettingError(f"bernoulli: p must be in [0, 1], got {p!r}")
    return call("Bernoulli", input, chance, output_names=["y"], input_names=["x", "p"], seed=seed0, offset=0)


def shuffle(x: Any, seed: int | None = None) -> Any:
    """The rows of ``x`` in a drawn order."""
    if seed is not None and _seed(seed, "shuffle") < 0:
        raise SettingError(f"shuffle: seed must be at least 0, got {seed}")
    seed0, seed1 = operator_seeds("shuffle", seed or 0)
    attrs: dict[str, Any] = {
        "seed2": seed1, "input_names": ["input_x"], "output_names": ["output"], "random_cache": False,
        "side_effect_hidden": True, "seed": seed0,
    }  # fmt: skip
    return call("RandomShuffle", x, **attrs)
