"""Whole numbers drawn: in a range, in an order, by weights. The values are this project's own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.functions.random import drawn, whole_tensor
from harness.framework.ops.functions.search import topk
from harness.framework.ops.functions.shape import reshape
from harness.framework.seed import operator_seeds
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = [
    "log_uniform_candidate_sampler",
    "multinomial",
    "randint",
    "randint_like",
    "randperm",
    "uniform_candidate_sampler",
]


def _attrs(kernel: str, seed: int | None, inputs: list[str], **added: Any) -> dict[str, Any]:
    seeds = operator_seeds(kernel, seed or 0)
    return {
        "seed2": seeds[1], "input_names": inputs, "output_names": ["output"], **added, "side_effect_hidden": True,
        "seed": seeds[0],
    }  # fmt: skip


def _whole(owner: str, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise SettingTypeError(f"{owner}: {name} must be an int, got {value!r}")
    return value


def between(owner: str, low: Any, high: Any, size: Any, seed: int | None, dtype: Any) -> Any:
    """Whole numbers in [low, high), whose second seed the counter of ``owner`` gives."""
    _whole(owner, "low", low)
    _whole(owner, "high", high)
    if low >= high:
        raise SettingError(f"{owner}: low must be below high, got {low} and {high}")
    bounds = [Tensor(np.asarray(v, np.int32)) for v in (low, high)]
    found = call("UniformInt", tuple(size), *bounds, **_attrs(owner, seed, ["shape", "minval", "maxval"]))
    return found if dtype is dtypes.int32 else call("Cast", found, dtype)


def randint(low: int, high: int, size: Any, seed: int | None = None, *, dtype: Any = None) -> Any:
    """Whole numbers in [low, high), Int64 unless ``dtype`` says another.

    Raises:
        SettingError: ``low`` is not below ``high``.
    """
    if not isinstance(size, tuple):
        raise SettingTypeError(f"randint: size must be a tuple, got {size!r}")
    return between("randint", low, high, size, seed, dtype or dtypes.int64)


def randint_like(input: Any, low: int, high: int, seed: int | None = None, *, dtype: Any = None) -> Any:
    """Whole numbers in [low, high) in the shape of ``input``, and its dtype unless ``dtype`` says another.

    Raises:
        SettingError: the dtype is not one of whole numbers.
    """
    if (dtype or input.dtype).kind not in "iu":
        raise SettingError(f"randint_like: the dtype must be of whole numbers, got {dtype or input.dtype}")
    return between("randint_like", low, high, input.shape, seed, dtype or input.dtype)


def randperm(n: int, seed: int = 0, offset: int = 0, dtype: Any = dtypes.int64) -> Any:
    """The numbers below ``n`` in an order drawn from ``seed`` and ``offset``."""
    _whole("randperm", "n", n)
    attrs = _attrs("randperm", seed, ["n"])
    return call("RandpermV2", n, dtype, **{**attrs, "seed": seed, "seed2": offset})


@tensor_method("multinomial")
def multinomial(input: Any, num_samples: int, replacement: bool = True, seed: int | None = None) -> Any:
    """Int32 classes (..., num_samples), drawn with their shares of the weights ``input`` (..., classes).

    Raises:
        SettingError: without replacement more are asked for than there are classes.
    """
    _whole("multinomial", "num_samples", num_samples)
    if replacement:
        attrs = _attrs("multinomial", seed, ["x", "num_samples"], random_cache=False)
        return call("Multinomial", input, whole_tensor(num_samples), **attrs, dtype=dtypes.int32)
    if num_samples > input.shape[-1]:
        raise SettingError(f"multinomial: {num_samples} of {input.shape[-1]} classes are asked for, each once")
    chances = reshape(drawn("UniformReal", "multinomial", math.prod(input.shape), seed), tuple(input.shape))
    return topk(call("RealDiv", chances.log(), input + 1e-6), num_samples)[1]


def candidates(
    owner: str, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int, **added: Any
) -> dict[str, Any]:
    """Attributes of a candidate sampler.

    Raises:
        SettingError: a number is below 1, or more different classes are asked for than there are.
    """
    for value, name in ((num_true, "num_true"), (num_sampled, "num_sampled"), (range_max, "range_max")):
        if _whole(owner, name, value) < 1:
            raise SettingError(f"{owner}: {name} must be above 0, got {value}")
    if not isinstance(unique, bool):
        raise SettingTypeError(f"{owner}: unique must be a bool, got {unique!r}")
    if unique and num_sampled > range_max:
        raise SettingError(f"{owner}: {num_sampled} different classes of {range_max} are asked for")
    return {
        "range_max": range_max, "num_true": num_true, "side_effect_hidden": True, "seed": _whole(owner, "seed", seed),
        "unique": unique, "num_sampled": num_sampled, **added,
    }  # fmt: skip


#: names of the arguments and results of LogUniformCandidateSampler
LOG_UNIFORM: dict[str, Any] = {
    "input_names": ["true_classes"],
    "output_names": ["sampled_candidates", "true_expected_count", "sampled_expected_count"],
}


def log_uniform_candidate_sampler(
    true_classes: Any, num_true: int = 1, num_sampled: int = 5, unique: bool = True, range_max: int = 5, seed: int = 0
) -> Any:
    """``num_sampled`` classes below ``range_max``, the smaller the likelier, and how often each of ``true_classes``
    (n, num_true) and of those drawn is expected."""
    attrs = candidates("log_uniform_candidate_sampler", num_true, num_sampled, unique, range_max, seed)
    return call("LogUniformCandidateSampler", true_classes, **LOG_UNIFORM, random_cache=False, **attrs)


def uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int = 0,
    remove_accidental_hits: bool = False,
) -> Any:
    """``num_sampled`` classes below ``range_max``, all alike, and how often each of ``true_classes`` (n, num_true) and
    of those drawn is expected; ``remove_accidental_hits``: none of the true ones is drawn."""
    attrs = candidates(
        "uniform_candidate_sampler", num_true, num_sampled, unique, range_max, seed,
        remove_accidental_hits=remove_accidental_hits,
    )  # fmt: skip
    return call("UniformCandidateSampler", true_classes, random_cache=False, **attrs)
