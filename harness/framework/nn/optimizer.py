"""``Optimizer``: the base of all optimizers.

Source of its parameters, their names and order, and of what it emits: MindSpore 2.10.0, measured
(``tests/data/nn/names.json``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import CellAttributeError, SettingError, SettingTypeError, StateError, UnsupportedError
from harness.framework.names import complete
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.containers import CellList
from harness.framework.nn.initializer import initializer
from harness.framework.nn.learning_rate_schedule import LearningRateSchedule
from harness.framework.nn.namespace import ops
from harness.framework.nn.parameter_groups import Member, read_groups
from harness.framework.nn.settings import Setting
from harness.framework.tensor import Parameter, ParameterTuple, Tensor, call, is_tracing, mutable

__all__ = ["Optimizer"]


class _ConvertToCell(LearningRateSchedule):
    """A fixed rate among changing ones (measured: plus 1, minus 1)."""

    learning_rate: Any

    def __init__(self, learning_rate: Parameter) -> None:
        super().__init__()
        self.learning_rate = learning_rate

    def construct(self, global_step: Tensor) -> Any:
        return self.learning_rate + 1.0 - 1.0


class _IteratorLearningRate(LearningRateSchedule):
    """A rate for each step, from a table (steps,)."""

    def __init__(self, learning_rate: Tensor, name: str) -> None:
        super().__init__()
        self.learning_rate = Parameter(learning_rate, name)
        self.gather = ops.Gather()

    def construct(self, global_step: Tensor) -> Any:
        return self.gather(self.learning_rate, global_step, 0)


class _WrappedWeightDecay(Cell):
    """A changing weight decay, times the loss scale."""

    def __init__(self, weight_decay: Cell, loss_scale: float) -> None:
        super().__init__()
        self.weight_decay = weight_decay
        self.loss_scale = Tensor(loss_scale, dtypes.float32)

    def construct(self, global_step: Tensor) -> Any:
        return self.weight_decay(global_step) * self.loss_scale


def after(value: Any, on: Any) -> Any:
    """``value``; in a graph it is available only after ``on`` (a tensor or a tuple of tensors, never a constant)."""
    members = on if isinstance(on, tuple) else (on,)
    if not is_tracing() or not any(isinstance(member, (Tensor, tuple)) for member in members):
        return value
    return call("Depend", value, on)


class Optimizer(Cell):
    """Base of all optimizers; a subclass defines ``construct(gradients)``, and has a graph in PyNative mode if it is
    decorated: those here by ``in_graph``, a user's by ``ms.jit``.

    Args:
        learning_rate: a float, a 0-d tensor, a rate for each step (list, 1-d tensor), or a ``LearningRateSchedule``.
        parameters: parameters, or groups: dicts with ``params`` and any of ``lr``, ``weight_decay``,
            ``grad_centralization``, and one with ``order_params``.
        weight_decay: a number of at least 0, or a cell that computes it from the step.
        loss_scale: the factor of the loss, above 0; gradients are divided by it.

    Attributes:
        parameters: parameters in the order of the gradients.
        global_step: int32 (1,), the number of steps done.
    """

    learning_rate: Any
    weight_decay: Any
    unique = Setting(lambda: True, bool)

    def __init__(self, learning_rate: Any, parameters: Any, weight_decay: Any = 0.0, loss_scale: float = 1.0) -> None:
        super().__init__(auto_prefix=False)
        given = self._given(parameters)
        checks.number(float(loss_scale) if loss_scale is True else loss_scale, "loss_scale", self.cls_name)
        if loss_scale <= 0:
            raise SettingError(f"{self.cls_name}: loss_scale must be greater than 0, got {loss_scale}")
        self.loss_scale = float(loss_scale)
        self.assignadd = ops.AssignAdd()
        self.global_step = Parameter(initializer(0, (1,), dtypes.int32), name="global_step")
        self.is_group = isinstance(given[0], dict)
        members = read_groups(given, self.cls_name) if self.is_group else [Member(p) for p in given]
        self._settle_rates(self._rate(learning_rate), members)
        self.parameters = ParameterTuple(member.parameter for member in members)
        self._parameters = self.parameters
        self._settle_decay(weight_decay, members)
        self.grad_centralization_flags = tuple(member.centralize for member in members)
        self.need_scale = self.loss_scale != 1.0
        self.reciprocal_scale = Tensor(1.0 / self.loss_scale, dtypes.float32)
        self.global_step_increase_tensor = Tensor([1], dtypes.int32)
        self.param_length = len(members)

    def _given(self, parameters: Any) -> list[Any]:
        # In MindSpore's words, which programs match (measured: tests/data/programs/refused_indices.txt).
        if parameters is None:
            raise SettingError("For 'Optimizer', the argument parameters can not be None.")
        if not isinstance(parameters, Iterable):
            raise SettingTypeError("For 'Optimizer', the argument parameters must be Iterable type, but got "
                                   f"{type(parameters)}.")  # fmt: skip
        given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
        if not given:
            raise SettingError("For 'Optimizer', the argument parameters must not be empty. "
                               f"({self.cls_name}: does the network have trainable ones?)")  # fmt: skip
        if not all(isinstance(p, Parameter) for p in given) and not all(isinstance(p, dict) for p in given):
            kinds = sorted({type(p).__name__ for p in given})
            raise SettingTypeError(
                "For 'Optimizer', all elements of the argument 'parameters' must be 'Parameter' or "
                f"'dict', please check the 'parameters'. ({self.cls_name}: got {kinds})"
            )
        return given

    # -- learning rate ---------------------------------------------------------------------------------------------
    def _rate(self, rate: Any) -> Any:
        """A rate as a 0-d or 1-d float32 tensor, or a schedule."""
        if isinstance(rate, LearningRateSchedule):
            return rate
        values = rate.asnumpy() if isinstance(rate, Tensor) else rate
        listed = isinstance(values, Iterable) and not isinstance(values, (str, np.ndarray))
        try:
            table = np.asarray(list(values) if listed else values, np.float32)
        except (TypeError, ValueError):
            table = None
        if table is None or isinstance(rate, str):
            raise (SettingError if isinstance(rate, str) else SettingTypeError)(  # as there (measured)
                f"{self.cls_name}: the learning rate must be a number, a Tensor, a list of numbers or a "
                f"LearningRateSchedule, got {type(rate).__name__} {rate!r}"
            )
        if table.ndim > 1:
            raise SettingError(f"{self.cls_name}: the learning rate must have 0 or 1 dimensions, got {table.ndim}")
        if np.any(table < 0):
            raise SettingError(f"{self.cls_name}: the learning rate must be at least 0, got {table.min()}")
        return Tensor(table)

    @staticmethod
    def _dynamic(rate: Any) -> bool:
        return not isinstance(rate, Tensor) or rate.ndim == 1

    def _build_rate(self, rate: Any, name: str) -> Any:
        """The parameter or cell that gives a rate."""
        if not isinstance(rate, Tensor):
            return rate
        if rate.ndim == 1:
            return _IteratorLearningRate(rate, name)
        fixed = Parameter(rate, name)
        return _ConvertToCell(fixed) if self.is_group_lr and self.dynamic_lr else fixed

    def _settle_rates(self, rate: Any, members: list[Member]) -> None:
        groups = {m.group: self._rate(m.rate) for m in members if m.rate is not None}
        self.is_group_lr = bool(groups)
        self.dynamic_lr = any(self._dynamic(r) for r in (rate, *groups.values()))
        lengths = {r.size for r in (rate, *groups.values()) if isinstance(r, Tensor) and r.ndim == 1}
        if len(lengths) > 1:
            raise SettingError(f"{self.cls_name}: rates of all groups must have one length, got {sorted(lengths)}")
        own = self._build_rate(rate, "learning_rate")
        if not groups:
            self.learning_rate = own
            return
        built = {number: self._build_rate(r, f"learning_rate_group_{number}") for number, r in groups.items()}
        each = [built.get(m.group, own) for m in members]
        self.learning_rate = CellList(each, auto_prefix=False) if self.dynamic_lr else ParameterTuple(each)

    def get_lr(self) -> Any:
        """The rate of this step; with rates by group, a tuple of one for each parameter."""
        if not self.dynamic_lr:
            return self.learning_rate
        if self.is_group_lr:
            return tuple(rate(self.global_step).reshape(()) for rate in self.learning_rate)
        return self.learning_rate(self.global_step).reshape(())

    def _rates(self) -> tuple[Any, ...]:
        """The rate of this step for each parameter."""
        rate = self.get_lr()
        return tuple(rate) if self.is_group_lr else (rate,) * self.param_length

    def get_lr_parameter(self, param: Any) -> Any:
        """The parameter that holds the rate of a parameter (or a list of them for a list)."""
        if isinstance(param, list):
            return [self.get_lr_parameter(one) for one in param]
        if not isinstance(param, Parameter):
            raise SettingTypeError(f"get_lr_parameter takes a Parameter or a list, got {type(param).__name__}")
        for at, known in enumerate(self._parameters):
            if known is param:
                rate = self.learning_rate[at] if self.is_group_lr else self.learning_rate
                return rate.learning_rate if isinstance(rate, (_ConvertToCell, _IteratorLearningRate)) else rate
        raise SettingError(f"get_lr_parameter: {param.name} is not a parameter of this optimizer")

    # -- weight decay ----------------------------------------------------------------------------------------------
    def _decay(self, weight_decay: Any) -> Any:
        """A decay times the loss scale: a float, or a cell."""
        if isinstance(weight_decay, Cell):
            return _WrappedWeightDecay(weight_decay, self.loss_scale)
        given = float(weight_decay) if isinstance(weight_decay, bool) else weight_decay
        return float(checks.number(given, "weight_decay", self.cls_name, 0)) * self.loss_scale

    def _settle_decay(self, weight_decay: Any, members: list[Member]) -> None:
        if self.is_group:
            values = [self._decay(weight_decay if m.weight_decay is None else m.weight_decay) for m in members]
            self.decay_flags = tuple(isinstance(v, Cell) or v > 0 for v in values)
            self.exec_weight_decay = any(self.decay_flags)
            self.weight_decay = tuple(v if isinstance(v, Cell) else Tensor(v, dtypes.float32) for v in values)
            self.dynamic_weight_decay = any(isinstance(v, Cell) for v in values)
            return
        value = self._decay(weight_decay)
        self.decay_flags = tuple("beta" not in m.parameter.name and "gamma" not in m.parameter.name for m in members)
        self.dynamic_weight_decay = isinstance(value, Cell)
        self.exec_weight_decay = self.dynamic_weight_decay or value > 0
        self.weight_decay = value if self.dynamic_weight_decay else Tensor(value, dtypes.float32)

    def get_weight_decay(self) -> Any:
        """The decay of this step; with groups, a tuple of one for each parameter."""
        if self.is_group:
            return tuple(d(self.global_step) if isinstance(d, Cell) else d for d in self.weight_decay)
        return self.weight_decay(self.global_step) if self.dynamic_weight_decay else self.weight_decay

    def _bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], defaults: bool = True
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = super()._bind(args, kwargs, defaults)
        # The gradients are inputs of the graph, mutable or not (measured).
        return tuple(map(mutable, args)), kwargs

    def construct(self, *hyper_params: Any) -> Any:
        """The update; a subclass defines it."""
        raise CellAttributeError(f"{self.cls_name} does not define the method 'construct'")

    # -- gradients -------------------------------------------------------------------------------------------------
    def decay_weight(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """Adds ``decay * parameter`` to each gradient whose parameter decays."""
        if not self.exec_weight_decay:
            return gradients
        decay = self.get_weight_decay()
        decays = decay if self.is_group else (decay,) * self.param_length
        return tuple(
            ops.AddN()((ops.Mul()(parameter, self._as(value, parameter.dtype)), gradient)) if flag else gradient
            for value, flag, parameter, gradient in zip(
                decays, self.decay_flags, self._parameters, gradients, strict=True
            )
        )

    @staticmethod
    def _as(value: Tensor, dtype: dtypes.DType) -> Tensor:
        """A constant in ``dtype`` (folded, as in the real graphs); anything computed is cast."""
        if value.dtype is dtype:
            return value
        return ops.cast(value, dtype) if is_tracing() and type(value) is not Tensor else Tensor(value, dtype)

    @property
    def target(self) -> str:
        """The device that updates parameters; ``"CPU"``."""
        return "CPU"

    @target.setter
    def target(self, value: str) -> None:
        if not isinstance(value, str):
            raise SettingTypeError(f"{self.cls_name}: target must be a str, got {type(value).__name__}")
        if value != "CPU":
            raise SettingError(f"{self.cls_name}: target must be 'CPU', got {value!r}")

    def flatten_gradients(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """Gradients unchanged: parameters lie apart."""
        return gradients

    def gradients_centralization(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """Gradients unchanged. Centralization would apply only if axis 1 is a multiple of 16, and is refused then."""
        for flag, parameter in zip(self.grad_centralization_flags, self._parameters, strict=True):
            if flag and len(parameter.shape) > 1 and parameter.shape[1] % 16 == 0:
                raise UnsupportedError(f"{self.cls_name}: grad_centralization of {parameter.name} is not supported")
        return gradients

    def scale_grad(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """Divides each gradient by the loss scale."""
        if not self.need_scale:
            return gradients
        return tuple(ops.Mul()(gradient, self._as(self.reciprocal_scale, gradient.dtype)) for gradient in gradients)

    def _prepared(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        self._require_each(gradients)
        return self.scale_grad(self.gradients_centralization(self.decay_weight(tuple(gradients))))

    def _require_each(self, gradients: tuple[Any, ...]) -> None:
        if len(gradients) != self.param_length:
            raise StateError(
                f"{self.cls_name}: {self.param_length} gradients are needed, one for each parameter, "
                f"got {len(gradients)}"
            )

    def _count_step(self) -> None:
        self.assignadd(self.global_step, self.global_step_increase_tensor)

    def _each(self, update: Callable[[int], Any], reverse: bool) -> tuple[Any, ...]:
        """Calls ``update`` for each parameter's number (last first with ``reverse``); gives True for each, after it."""
        numbers = range(self.param_length)
        done = {at: after(True, update(at)) for at in (reversed(numbers) if reverse else numbers)}
        return tuple(done[at] for at in numbers)


complete(Optimizer)
