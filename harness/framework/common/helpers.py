"""Functions of MindSpore's own modules that are plain Python, which scripts import all the same."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from harness.errors import SettingTypeError, UnsupportedNameError
from harness.framework.nn import fan
from harness.framework.nn.cell import Cell
from harness.framework.ops.primitive import Primitive
from harness.framework.ops.primitives.composition import add_flags
from harness.framework.runtime.session import current
from harness.framework.tensor import Tensor

__all__ = ["calculate_correct_fan", "calculate_fans", "calculate_gain", "opt_init_args_register", "pynative_executor"]

calculate_correct_fan = fan.fan_of
calculate_fans = fan.fans


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The recommended gain of an activation; ``ValueError`` for an unknown one."""
    return fan.gain(nonlinearity, param)


def nothing() -> None:
    """Does nothing: what prepares processes and threads that there are not here."""


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


def no_recursive(callable_obj: Any) -> Any:
    """Flags a function or a class of cells that is not looked at for recursion; ``TypeError`` for another object."""
    if not (inspect.isroutine(callable_obj) or (inspect.isclass(callable_obj) and issubclass(callable_obj, Cell))):
        raise SettingTypeError(f"no_recursive: a function or a class of cells is needed, got {callable_obj!r}")
    return add_flags(callable_obj, no_recursive=True)


class _Executor:
    """What waits for operators: here each is done when its call returns."""

    def sync(self) -> None:
        """Does nothing."""

    def set_async_for_graph(self, flag: bool) -> None:
        """Does nothing: graphs run when they are called, too."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedNameError(
            f"_pynative_executor.{name} is not supported here; accepted: sync(), set_async_for_graph()"
        )


pynative_executor = _Executor()


class _GraphExecutor:
    """What compiles cells: here the session does."""

    def compile(self, obj: Cell, *args: Any, phase: str = "predict", **kwargs: Any) -> tuple[str, bool]:
        """Compiles the graph of ``obj(*args, **kwargs)`` in a phase; nothing runs.

        Args:
            obj: the cell.
            args: as of its call.
            phase: what its graphs are kept for.
            kwargs: keywords of its call; ``do_convert`` and ``jit_config_dict`` are not for it.

        Returns:
            A text of the phase and the cell, and whether the graph was not compiled before.
        """
        kwargs = {name: value for name, value in kwargs.items() if name not in ("do_convert", "jit_config_dict")}
        return f"{phase}.{obj.create_time}.{id(obj)}", obj._compile(args, kwargs, phase)

    def __call__(self, obj: Cell, *args: Any, phase: str = "predict") -> Any:
        """Runs the graph of ``obj(*args)`` of a phase, compiled before or now."""
        return current().run_cell(obj, args, {}, phase)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedNameError(f"_cell_graph_executor.{name} is not supported here; accepted: compile()")


cell_graph_executor = _GraphExecutor()


class Registry(dict[Any, Any]):
    """Functions by a primitive, its class or its name; None for one that was not registered."""

    def register(self, prim: Any) -> Callable[[Any], Any]:
        """Decorates the function for ``prim``: a name, or a class of primitives, also found by its name."""

        def kept(function: Any) -> Any:
            if isinstance(prim, str):
                self[prim] = function
            elif issubclass(prim, Primitive):
                self[id(prim)] = self[prim.__name__] = function
            return function

        return kept

    def get(self, prim_obj: Any, default: Any = None) -> Any:
        """What was registered for a primitive or a name, else ``default``."""
        keys = [id(type(prim_obj)), prim_obj.name] if isinstance(prim_obj, Primitive) else [prim_obj]
        return next((self[key] for key in keys if key in self), default)


class VmImplRegistry(Registry):
    """Functions that stand for operators while a network is debugged; nothing here calls them."""


vm_impl_registry = VmImplRegistry()
