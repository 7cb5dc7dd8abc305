"""The largest of windows of one size whose distances a random number settles."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.functions.random import rand
from harness.framework.tensor import Tensor, call

__all__ = ["fractional_max_pool2d", "fractional_max_pool3d"]


def whole(owner: str, name: str, value: Any, axes: int) -> tuple[int, ...]:
    """An int, or one for each axis, all above 0.

    Raises:
        SettingTypeError: it is neither.
        SettingError: a number below 1, or another number of them.
    """
    given = (value,) * axes if isinstance(value, int) else value
    if not isinstance(given, tuple) or any(isinstance(n, bool) or not isinstance(n, int) for n in given):
        raise SettingTypeError(f"{owner}: {name} must be an int or a tuple of ints, got {value!r}")
    if len(given) != axes or min(given) < 1:
        raise SettingError(f"{owner}: {name} must be {axes} ints above 0, got {value!r}")
    return given


def attrs(window: tuple[int, ...], wanted: tuple[int, ...]) -> dict[str, Any]:
    """Attributes of the operator of so many axes."""
    return {
        "input_names": ["input_x" if len(window) == 2 else "x", "random_samples"], "ksize": window,
        "output_names": ["y", "argmax"], "format": "NCHW" if len(window) == 2 else "NCDHW", "output_shape": wanted,
    }  # fmt: skip


def _pooled(owner: str, op: str, axes: int, x: Any, kernel: Any, size: Any, ratio: Any, samples: Any) -> Any:
    if (size is None) == (ratio is None):
        raise SettingError(f"{owner} takes one of output_size and output_ratio")
    sides = tuple(x.shape)[-axes:]
    if ratio is not None:
        shares = (ratio,) * axes if isinstance(ratio, float) else tuple(ratio)
        if len(shares) != axes or not all(isinstance(r, float) and 0 < r < 1 for r in shares):
            raise SettingError(f"{owner}: output_ratio must be {axes} floats between 0 and 1, got {ratio!r}")
        size = tuple(int(n * r) for n, r in zip(sides, shares, strict=True))
    if samples is None:
        lead = tuple(x.shape)[:-axes]
        samples = rand(*(lead if len(lead) == 2 else (1, *lead)), axes, dtype=dtypes.float32)
    elif not isinstance(samples, Tensor):
        raise SettingTypeError(f"{owner}: _random_samples must be a tensor, got {samples!r}")
    return call(
        op, x, samples, **attrs(whole(owner, "kernel_size", kernel, axes), whole(owner, "output_size", size, axes))
    )


def fractional_max_pool2d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """The largest of as many windows of ``input`` ([n,] c, h, w) as ``output_size`` or ``output_ratio`` says, and with
    ``return_indices`` their places (Int64). ``_random_samples`` (n, c, 2) in [0, 1) settles where they begin."""
    owner = "fractional_max_pool2d"
    op = "FractionalMaxPoolWithFixedKsize"
    found = _pooled(owner, op, 2, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]


def fractional_max_pool3d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """As ``fractional_max_pool2d``, over volumes ([n,] c, d, h, w), with samples (n, c, 3)."""
    owner = "fractional_max_pool3d"
    op = "FractionalMaxPool3DWithFixedKsize"
    found = _pooled(owner, op, 3, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]
