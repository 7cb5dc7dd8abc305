"""Random functions, choices and dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.expansion import constant_value, scalar
from harness.framework.ops.primitives.models import positive
from harness.framework.seed import operator_seeds
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = [
    "bernoulli", "choice_with_mask", "dropout", "laplace", "normal", "rand", "rand_like", "randn", "randn_like",
    "random_categorical", "random_gamma", "random_poisson", "shuffle", "standard_laplace", "standard_normal",
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


def drawn(op: str, kernel: str, shape: Any, seed: int | None) -> Any:
    """What StandardNormal or UniformReal (``op``) draws; the counter of ``kernel`` gives the second seed."""
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
    return drawn("StandardNormal", "standard_normal", shape, seed)


def randn(*size: Any, dtype: DType | None = None, seed: int | None = None) -> Any:
    """Normal numbers."""
    return _as(drawn("StandardNormal", "randn", _shape(size), seed), dtype, "randn")


def rand(*size: Any, dtype: DType | None = None, seed: int | None = None) -> Any:
    """Numbers uniform in [0, 1)."""
    return _as(drawn("UniformReal", "rand", _shape(size), seed), dtype, "rand")


def randn_like(input: Any, seed: int | None = None, *, dtype: DType | None = None) -> Any:
    """Normal numbers in the shape of ``input``; Float32 unless ``dtype`` says otherwise, as MindSpore 2.10.0."""
    return _as(drawn("StandardNormal", "randn_like", input.shape, seed), dtype, "randn_like")


def rand_like(input: Any, seed: int | None = None, *, dtype: DType | None = None) -> Any:
    """Numbers uniform in [0, 1) in the shape and dtype of ``input``."""
    return _as(drawn("UniformReal", "rand_like", input.shape, seed), dtype or input.dtype, "rand_like")


def normal(shape: Any, mean: Any, stddev: Any, seed: int | None = None) -> Any:
    """Normal numbers with this mean and deviation (numbers or tensors)."""
    found = drawn("StandardNormal", "normal", shape, seed)
    return call("Add", call("Mul", found, _typed(stddev)), _typed(mean))


def uniform(shape: Any, minval: Any, maxval: Any, seed: int | None = None, dtype: DType = dtypes.float32) -> Any:
    """Numbers uniform in [minval, maxval) (two tensors); ``dtype``: Float32, or Int32 for whole numbers."""
    if dtype is dtypes.int32:
        attrs = stream_attrs(operator_seeds("uniform", seed or 0), None, False)
        del attrs["dtype"]
        return call(
            "UniformInt", tuple(shape), minval, maxval, **attrs | {"input_names": ["shape", "minval", "maxval"]}
        )
    if dtype is not dtypes.float32:
        raise SettingTypeError(f"ops.uniform: dtype must be Float32 or Int32, got {dtype}")
    low, high = constant_value(minval), constant_value(maxval)
    known = low is not None and high is not None
    width = Tensor(np.asarray(high - low), minval.dtype) if known else call("Sub", maxval, minval)  # type: ignore[operator]
    return call("Add", call("Mul", drawn("UniformReal", "uniform", shape, seed), width), minval)


def _drawn_by(op: str, kernel: str, seed: int | None, inputs: list[str], *args: Any, **attrs: Any) -> Any:
    seeds = operator_seeds(kernel, seed or 0)
    names: dict[str, Any] = {"seed2": seeds[1], "input_names": inputs, "output_names": ["output"]}
    return call(op, *args, **names, random_cache=False, side_effect_hidden=True, seed=seeds[0], **attrs)


def random_gamma(shape: Any, alpha: Any, seed: int | None = None) -> Any:
    """Numbers of the gamma distribution: ``shape`` (a tensor) of them for each shape parameter ``alpha``."""
    return _drawn_by("RandomGamma", "random_gamma", seed, ["shape", "alpha"], shape, alpha)


def random_poisson(shape: Any, rate: Any, seed: int | None = None, dtype: Any = dtypes.float32) -> Any:
    """Numbers of the Poisson distribution: ``shape`` (a tensor) of them for each mean ``rate``."""
    return _drawn_by("RandomPoisson", "random_poisson", seed, ["shape", "rate"], shape, rate, dtype=dtype)


def standard_laplace(shape: Any, seed: int | None = None) -> Any:
    """Float32 numbers of Laplace's distribution with mean 0 and scale 1."""
    return _drawn_by("StandardLaplace", "standard_laplace", seed, ["shape"], whole_tensor(shape))


def laplace(shape: Any, mean: Any, lambda_param: Any, seed: int | None = None) -> Any:
    """Float32 numbers of Laplace's distribution with this mean and scale (tensors)."""
    for value, name in ((mean, "mean"), (lambda_param, "lambda_param")):
        if not isinstance(value, Tensor):
            raise SettingTypeError(f"laplace: {name} must be a tensor, got {value!r}")
    drawn = _drawn_by("StandardLaplace", "laplace", seed, ["shape"], whole_tensor(shape))
    return call("Add", call("Mul", drawn, lambda_param), mean)


def whole_tensor(value: Any) -> Tensor:
    """A number or numbers as an Int64 tensor; a tensor as it is."""
    return value if isinstance(value, Tensor) else Tensor(np.asarray(value, np.int64))


#: dtypes of drawn categories
CATEGORIES = (dtypes.int16, dtypes.int32, dtypes.int64)


@tensor_method("random_categorical")
def random_categorical(logits: Any, num_sample: Any, seed: Any = 0, dtype: Any = dtypes.int64) -> Any:
    """``num_sample`` classes for each row of ``logits`` (rows, classes), drawn with the shares softmax gives."""
    if dtype not in CATEGORIES:
        raise SettingTypeError(f"random_categorical: dtype must be int16, int32 or int64, got {dtype}")
    attrs: dict[str, Any] = {
        "input_names": ["logits", "num_samples", "seed"], "output_names": ["output"], "random_cache": False,
        "side_effect_hidden": True, "dtype": dtype,
    }  # fmt: skip
    return call("RandomCategorical", logits, whole_tensor(num_sample), whole_tensor(seed), **attrs)


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
        raise SettingError(f"For 'shuffle', the 'seed' must be int and must >= 0, but got '{seed}' with type 'int'.")
    if not isinstance(x, Tensor):
        raise SettingTypeError(
            "For Primitive[RandomShuffle], the type of input argument[input_x] must be Tensor but got "
            f"{type(x).__name__}."
        )
    seed0, seed1 = operator_seeds("shuffle", seed or 0)
    attrs: dict[str, Any] = {
        "seed2": seed1, "input_names": ["input_x"], "output_names": ["output"], "random_cache": False,
        "side_effect_hidden": True, "seed": seed0,
    }  # fmt: skip
    return call("RandomShuffle", x, **attrs)


def choice_with_mask(input_x: Any, count: int = 256, seed: int | None = None) -> Any:
    """``count`` places drawn among those where a mask holds, and whether each is one."""
    positive("choice_with_mask", "count", count)
    seeds = operator_seeds("choice_with_mask", seed or 0)
    attrs: dict[str, Any] = {"random_cache": False, "count": count, "side_effect_hidden": True}
    return call("RandomChoiceWithMask", input_x, seed2=seeds[1], **attrs, seed=seeds[0])
