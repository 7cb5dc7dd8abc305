"""Loss scales for training loops written by hand, as ``mindspore.amp``.

Source of the rules: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.nn.namespace import ops
from harness.framework.nn.transforms import jit
from harness.framework.tensor import Parameter, Tensor, call, is_tracing, mutable


def all_finite(inputs: Any) -> Any:
    """Whether every value of a tensor, or of a tuple of tensors, is finite: a 0-d Bool tensor."""
    given = tuple(_flat(inputs))
    if not given:
        raise SettingError("all_finite: there is no tensor in what is given")
    if is_tracing():
        return _are_finite(given)
    return _of_list(mutable(given)) if isinstance(inputs, list) else _are_finite(mutable(given))


def _counted(inputs: tuple[Any, ...]) -> Any:
    """Outside a graph it is one of its own, in either mode; what is not finite is counted (measured)."""
    flags = [ops.all(ops.isfinite(each)) for each in inputs]
    return ops.addn([Tensor(1, dtypes.int64) - call("Cast", flag, dtypes.int64) for flag in flags]) < 1


#: that of a tuple, and that of a list, which is a graph of its own (measured)
_are_finite, _of_list = jit(_counted), jit(_counted)


def _flat(inputs: Any) -> list[Any]:
    if isinstance(inputs, (tuple, list)):
        return [tensor for member in inputs for tensor in _flat(member)]
    if not isinstance(inputs, Tensor):
        raise SettingTypeError(f"all_finite takes tensors, got {type(inputs).__name__}")
    return [inputs]


def _each(function: Any, inputs: Any) -> Any:
    if isinstance(inputs, (tuple, list)):
        return tuple(_each(function, member) for member in inputs)
    if isinstance(inputs, dict):
        return {key: _each(function, member) for key, member in inputs.items()}
    if not isinstance(inputs, (bool, int, float, Tensor)):
        raise SettingTypeError(f"a loss scaler takes tensors, in tuples, lists and dicts, got {inputs!r}")
    return function(inputs)


def _divided(scale_value: Parameter, inputs: Any) -> Any:
    """A graph of its own as the one of ``all_finite``."""
    return _each(lambda x: ops.mul(x, ops.cast(ops.reciprocal(scale_value), x.dtype)), inputs)


_unscaled, _of_list_unscaled = jit(_divided), jit(_divided)


class LossScaler(ABC):
    """Base of loss scales."""

    scale_value: Parameter

    @abstractmethod
    def scale(self, inputs: Any) -> Any:
        """The loss times the scale."""

    @abstractmethod
    def unscale(self, inputs: Any) -> Any:
        """Gradients divided by the scale."""

    @abstractmethod
    def adjust(self, grads_finite: Any) -> Any:
        """Changes the scale, depending on whether the gradients were finite."""


class StaticLossScaler(LossScaler):
    """A scale that stays; ``scale_value`` at least 1."""

    def __init__(self, scale_value: float) -> None:
        if isinstance(scale_value, bool) or not isinstance(scale_value, (int, float)):
            raise SettingTypeError(f"{type(self).__name__}: scale_value must be a number, got {scale_value!r}")
        if scale_value < 1.0:
            raise SettingError(f"{type(self).__name__}: scale_value must be at least 1, got {scale_value}")
        self.scale_value = Parameter(Tensor(scale_value, dtypes.float32), name="scale_value")

    def scale(self, inputs: Any) -> Any:
        """The loss (or each tensor of a tuple) times the scale, in its own dtype."""
        return _each(lambda x: ops.mul(x, ops.cast(self.scale_value, x.dtype)), inputs)

    def unscale(self, inputs: Any) -> Any:
        """Each gradient divided by the scale, in its own dtype."""
        if is_tracing() or not isinstance(inputs, (tuple, list)):
            return _unscaled(self.scale_value, inputs)
        if isinstance(inputs, list):
            return list(_of_list_unscaled(self.scale_value, mutable(tuple(inputs))))
        return _unscaled(self.scale_value, mutable(inputs))

    def adjust(self, grads_finite: Any) -> Any:
        """False: nothing changes."""
        return False


class DynamicLossScaler(StaticLossScaler):
    """A scale that is divided after an overflow and multiplied after ``scale_window`` steps without one.

    Args:
        scale_value: the first scale, at least 1.
        scale_factor: what it is multiplied and divided by, above 0.
        scale_window: steps without overflow before it grows, above 0.
    """

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int) -> None:
        super().__init__(scale_value)
        for name, value in (("scale_factor", scale_factor), ("scale_window", scale_window)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise SettingTypeError(f"DynamicLossScaler: {name} must be an int, got {value!r}")
            if value <= 0:
                raise SettingError(f"DynamicLossScaler: {name} must be above 0, got {value}")
        self.scale_window = scale_window
        self.scale_factor = scale_factor
        self.counter = Parameter(Tensor(0, dtypes.int32), name="counter")

    def adjust(self, grads_finite: Any) -> Any:
        """Changes the scale; True."""
        one = ops.ones((), self.scale_value.dtype)
        scale: Any = self.scale_value
        counter: Any = self.counter
        larger = scale * self.scale_factor
        grown = ops.select(ops.isfinite(larger), larger, scale)
        kept = ops.select(counter == (self.scale_window - 1), grown, scale)
        smaller = ops.maximum(one, scale / self.scale_factor)
        ops.assign(scale, ops.select(grads_finite, kept, smaller))
        ops.assign(counter, ((counter + 1) % self.scale_window) * grads_finite)
        return True
