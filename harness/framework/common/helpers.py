"""Functions of MindSpore's own modules that are plain Python, which scripts import all the same."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from harness.errors import UnsupportedNameError
from harness.framework.nn import fan
from harness.framework.nn.cell import Cell
from harness.framework.tensor import Tensor

__all__ = ["calculate_correct_fan", "calculate_fans", "calculate_gain", "opt_init_args_register", "pynative_executor"]

calculate_correct_fan = fan.fan_of
calculate_fans = fan.fans


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The recommended gain of an activation; ``ValueError`` for an unknown one."""
    return fan.gain(nonlinearity, param)


def is_parameter_generated(param_name: Any) -> bool:
    """Whether a name is one that a parameter without a name got; here it gets that of its cell's attribute."""
    return isinstance(param_name, str) and param_name.startswith("Parameter#")


def opt_init_args_register(fn: Callable[..., None]) -> Callable[..., None]:
    """Decorates an optimizer's ``__init__``, which then keeps its arguments: ``init_params``, ``init_learning_rate``
    (None for a schedule) and the others by name, ``init_args``."""
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def kept(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(list(bound.arguments.items())[1:])
        own: dict[str, Any] = {}
        if "params" in given:
            own["init_params"] = {"params": given.pop("params")}
        if "optimizer" in given:
            own["init_params"] = {"params": given.pop("optimizer").init_params["params"]}
        if "learning_rate" in given:
            rate = given.pop("learning_rate")
            rate = rate.asnumpy().tolist() if isinstance(rate, Tensor) else rate
            own["init_learning_rate"] = None if isinstance(rate, Cell) else rate
        fn(self, *args, **kwargs)
        for name, value in {**own, "init_args": given}.items():
            object.__setattr__(self, name, value)

    return kept


class _Executor:
    """What waits for operators: here each is done when its call returns."""

    def sync(self) -> None:
        """Does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedNameError(f"_pynative_executor.{name} is not supported here; accepted: sync()")


pynative_executor = _Executor()
