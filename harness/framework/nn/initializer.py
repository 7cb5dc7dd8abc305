"""Initializers of parameters, as ``mindspore.common.initializer``, with the same values for the same global seed.

Source of the formulas: MindSpore 2.10.0, measured (``tests/data/nn/initial_values.json``); ``docs/differences.md``
lists what is not equal bit for bit. Values are drawn when a ``Parameter`` is made of the tensor (or its data is first
asked for), in that order, not when ``initializer`` is called.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from numbers import Number
from typing import Any, TypeVar

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError, SettingTypeError
from harness.framework import kinds
from harness.framework.nn import random
from harness.framework.nn.fan import fan_of, fans, gain
from harness.framework.outside import outside_graphs
from harness.framework.tensor import Tensor

__all__ = [
    "Constant", "Dirac", "HeNormal", "HeUniform", "Identity", "Initializer", "Normal", "One", "Orthogonal", "Sparse",
    "TruncatedNormal", "Uniform", "VarianceScaling", "XavierNormal", "XavierUniform", "Zero", "initializer",
]  # fmt: skip

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]
C = TypeVar("C", bound="type[Initializer]")

_BY_NAME: dict[str, type[Initializer]] = {}


class Initializer:
    """Base: ``values(shape)`` gives the data. A subclass of a user may override ``_initialize(array)`` instead, as in
    MindSpore, which fills an array in place."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__ == __name__:
            kinds.guard(cls, f"initializer.{cls.__name__}")

    def __repr__(self) -> str:
        return object.__repr__(self).replace(f"<{__name__}.", "<mindspore.common.initializer.")

    def values(self, shape: Shape) -> Array:
        """Values of ``shape``, float32 unless stated otherwise."""
        array = np.zeros(shape, np.float32)
        self._initialize(array)
        return array

    def _initialize(self, array: Array) -> None:
        raise NotImplementedError(f"{type(self).__name__} must override _initialize(array)")

    def fill(self, shape: Shape, dtype: DType) -> Array:
        """Values of ``shape`` rounded to ``dtype``."""
        return np.ascontiguousarray(self.values(shape).astype(dtype.numpy)).reshape(shape)

    def __call__(self, array: Array) -> None:
        array[...] = self.values(array.shape).astype(array.dtype)


def _named(*aliases: str) -> Callable[[C], C]:
    """Lets ``initializer`` find a class by its lower-case name and by ``aliases``."""

    def register(cls: C) -> C:
        for name in (cls.__name__.lower(), *aliases):
            _BY_NAME[name] = cls
        return cls

    return register


@_named("zeros")
class Zero(Initializer):
    """All zeros."""

    def values(self, shape: Shape) -> Array:
        return np.zeros(shape, np.float32)


@_named("ones")
class One(Initializer):
    """All ones."""

    def values(self, shape: Shape) -> Array:
        return np.ones(shape, np.float32)


class Constant(Initializer):
    """Every element is ``value`` (float64 until it is rounded to the tensor's dtype)."""

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def values(self, shape: Shape) -> Array:
        return np.full(shape, self.value)


@_named()
class Uniform(Initializer):
    """Uniform in [-scale, scale)."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def values(self, shape: Shape) -> Array:
        return random.uniform(-self.scale, self.scale, shape)


@_named()
class Normal(Initializer):
    """Normal with standard deviation ``sigma``."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        super().__init__(sigma=sigma, mean=mean)
        self.sigma = sigma
        self.mean = mean

    def values(self, shape: Shape) -> Array:
        return _normal(self.mean, self.sigma, shape)


def _normal(mean: float, sigma: float, shape: Shape) -> Array:
    if sigma < 0:
        raise SettingError(f"the standard deviation must be at least 0, got {sigma}")
    return random.normal(mean, sigma, shape)


@_named()
class TruncatedNormal(Initializer):
    """Normal with standard deviation ``sigma``, cut to [a, b]."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0) -> None:
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b

    def values(self, shape: Shape) -> Array:
        if self.sigma <= 0:
            raise SettingError(f"TruncatedNormal: sigma must be greater than 0, got {self.sigma}")
        return random.truncated_normal(self.a, self.b, self.mean, self.sigma, shape)


@_named("xavier_uniform")
class XavierUniform(Initializer):
    """Uniform in +-gain * sqrt(6 / (fan in + fan out))."""

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def values(self, shape: Shape) -> Array:
        bound = self.gain * math.sqrt(6.0 / sum(fans(shape)))
        return random.uniform(-bound, bound, shape)


@_named("xavier_normal")
class XavierNormal(Initializer):
    """Normal with standard deviation gain * sqrt(2 / (fan in + fan out))."""

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def values(self, shape: Shape) -> Array:
        return _normal(0, self.gain * math.sqrt(2.0 / float(sum(fans(shape)))), shape)


class _He(Initializer):
    def __init__(self, negative_slope: Any = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope = negative_slope
        self.mode = mode
        self.nonlinearity = nonlinearity

    def _deviation(self, shape: Shape) -> float:
        return gain(self.nonlinearity, self.negative_slope) / math.sqrt(fan_of(shape, self.mode))


@_named("he_uniform")
class HeUniform(_He):
    """Uniform in +-gain * sqrt(3 / fan); the default of weights, with ``negative_slope`` sqrt(5)."""

    def values(self, shape: Shape) -> Array:
        bound = math.sqrt(3.0) * self._deviation(shape)
        return random.uniform(-bound, bound, shape)


@_named("he_normal")
class HeNormal(_He):
    """Normal with standard deviation gain / sqrt(fan)."""

    def values(self, shape: Shape) -> Array:
        return _normal(0, self._deviation(shape), shape)


@_named()
class VarianceScaling(Initializer):
    """Distribution whose variance is ``scale`` over the fan that ``mode`` names.

    As measured, ``"truncated_normal"`` (the default) draws from the uniform distribution.
    """

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal") -> None:
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        if scale <= 0:
            raise SettingError(f"VarianceScaling: scale must be greater than 0, got {scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise SettingError(f"VarianceScaling: mode must be fan_in, fan_out or fan_avg, got {mode!r}")
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise SettingError(
                "VarianceScaling: distribution must be uniform, truncated_normal or untruncated_normal, "
                f"got {distribution!r}"
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def values(self, shape: Shape) -> Array:
        fan_in, fan_out = fans(shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "untruncated_normal":
            return _normal(0, math.sqrt(variance), shape)
        bound = math.sqrt(3.0 * variance)
        return random.uniform(-bound, bound, shape)


@_named()
class Identity(Initializer):
    """The identity matrix (2 dimensions only)."""

    def values(self, shape: Shape) -> Array:
        if len(shape) != 2:
            raise SettingError(f"Identity: the shape must have 2 dimensions, got {shape}")
        return np.eye(shape[0], shape[1], dtype=np.float32)


@_named()
class Dirac(Initializer):
    """A convolution weight (3 to 5 dimensions) that passes its input through."""

    def __init__(self, groups: int = 1) -> None:
        super().__init__(groups=groups)
        self.groups = groups

    def values(self, shape: Shape) -> Array:
        if len(shape) not in (3, 4, 5) or shape[0] % self.groups:
            raise SettingError(f"Dirac: needs 3 to 5 dimensions, the first divisible by {self.groups}, got {shape}")
        data = np.zeros(shape, np.float32)
        each = shape[0] // self.groups
        middle = tuple(n // 2 for n in shape[2:])
        for group in range(self.groups):
            for channel in range(min(each, shape[1])):
                data[(group * each + channel, channel, *middle)] = 1
        return data


@_named()
class Sparse(Initializer):
    """Normal, with the share ``sparsity`` of each column set to zero (2 dimensions only)."""

    def __init__(self, sparsity: float, sigma: float = 0.01) -> None:
        super().__init__()
        self.sparsity = sparsity
        self.sigma = sigma

    def values(self, shape: Shape) -> Array:
        if len(shape) != 2:
            raise SettingError(f"Sparse: the shape must have 2 dimensions, got {shape}")
        rows, columns = shape
        data = _normal(0, self.sigma, shape)
        for column in range(columns):
            data[np.random.permutation(rows)[: math.ceil(self.sparsity * rows)], column] = 0
        return data


@_named()
class Orthogonal(Initializer):
    """A (semi-)orthogonal matrix times ``gain``; trailing dimensions are flattened.

    Computed with Householder reflections in float64 instead of LAPACK's, so it equals MindSpore's up to rounding.
    """

    def __init__(self, gain: float = 1.0) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def values(self, shape: Shape) -> Array:
        if len(shape) < 2:
            raise SettingError(f"Orthogonal: the shape must have at least 2 dimensions, got {shape}")
        rows, columns = shape[0], math.prod(shape[1:])
        data = _normal(0, 1, (rows, columns)).astype(np.float64)
        basis = _orthonormal(data.T if rows < columns else data)
        return ((basis.T if rows < columns else basis) * self.gain).reshape(shape)


def _orthonormal(a: Array) -> Array:
    """Q of the QR decomposition with a positive diagonal of R, for (m, n) with m >= n: Gram-Schmidt, twice."""
    q = a.copy()
    for column in range(q.shape[1]):
        for _ in range(2):
            for earlier in range(column):
                q[:, column] -= math.fsum(q[:, earlier] * q[:, column]) * q[:, earlier]
        q[:, column] /= math.sqrt(math.fsum(q[:, column] ** 2))
    return q


class _Delayed(Tensor):
    """A tensor whose data is drawn at its first use."""

    def __init__(self, init: Initializer, shape: Shape, dtype: DType) -> None:
        self._drawn: Array | None = None
        self._init_shape = shape
        self.const_arg = False
        self._dynamic_shape = None
        self._dtype = dtype
        self.init = init

    @property
    def _data(self) -> Array:
        if self._drawn is None:
            self._drawn = self.init.fill(self._init_shape, self._dtype)
        return self._drawn

    @_data.setter
    def _data(self, value: Array) -> None:
        self._drawn = value

    @property
    def shape(self) -> Shape:
        return self._init_shape if self._drawn is None else self._drawn.shape

    @property
    def has_init(self) -> bool:
        """Whether the data is still to be drawn."""
        return self._drawn is None

    def init_data(self, slice_index: Any = None, shape: Any = None, opt_shard_group: Any = None) -> Tensor:
        """Draws the data now; returns self, or a tensor of another ``shape``."""
        made = super().init_data(slice_index, shape, opt_shard_group)
        made.asnumpy()
        return made


@outside_graphs
@partial(kinds.checked, "initializer.initializer")
def initializer(init: Any, shape: Any = None, dtype: DType = dtypes.float32) -> Tensor:
    """A tensor whose values an initializer gives, as ``mindspore.common.initializer.initializer``.

    Args:
        init: a tensor (returned unchanged; its shape must be ``shape``), a name (``"normal"``, ``"ones"``, ...), an
            ``Initializer``, or a number.
        shape: dimensions, each at least 1.
        dtype: element type.

    Raises:
        SettingTypeError: ``init`` is none of these. SettingError: unknown name, or a shape that does not fit.
    """
    dims = (shape,) if isinstance(shape, int) else tuple(shape) if shape is not None else None
    if isinstance(init, Tensor):
        if dims is not None and init.shape != dims:
            raise SettingError(f"initializer: the tensor given has shape {init.shape}, the shape asked for is {dims}")
        return init
    if dims is None or not all(isinstance(d, int) and d > 0 for d in dims):
        raise SettingError(f"initializer: the shape must be made of ints above 0, got {shape!r}")
    return _Delayed(_resolve(init), dims, dtype)


def _resolve(init: Any) -> Initializer:
    if isinstance(init, str):
        cls = _BY_NAME.get(init.lower())
        if cls is None:
            import difflib

            near = difflib.get_close_matches(init.lower(), _BY_NAME, n=3, cutoff=0.5)
            hint = f"; did you mean {', '.join(near)}?" if near else f"; known are {sorted(_BY_NAME)}"
            raise SettingError(f"initializer: no initializer is called {init!r}{hint}")
        return cls()
    if isinstance(init, Initializer):
        return init
    if isinstance(init, Number):
        return Constant(init)
    raise SettingTypeError(
        f"initializer: init must be a Tensor, a name, an Initializer or a number, got {type(init).__name__}"
    )
