"""Calls a cell: its arguments, its mode, its precision, and its own gradient.

Source: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, ClassVar

from harness.dtypes import DType
from harness.errors import CellAttributeError, NestingError, SettingTypeError
from harness.framework import context, kinds
from harness.framework.compile.custom_backward import guarded
from harness.framework.compile.scopes import cell_scope, look_for_floats
from harness.framework.nn import naming, precision
from harness.framework.nn.hooks import Hooks
from harness.framework.runtime.session import current, run_cell
from harness.framework.tensor import is_tracing, watching
from harness.framework.tensor.watching import call_observer

#: about how many Python calls a nested cell takes; the depth from which nesting explains too many calls
_CALLS, _DEEP = 5, 50


def in_graph(construct: Callable[..., Any]) -> Callable[..., Any]:
    """A ``construct`` that runs as a graph in PyNative mode, too, as those of MindSpore's optimizers do.

    Called by a subclass's ``construct``, it runs the whole of that one as a graph, which thus happens twice (measured:
    ``tests/framework/nn/test_optimizer_graphs.py``).
    """

    @functools.wraps(construct)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_tracing():
            return construct(self, *args, **kwargs)
        return run_cell(self, *self._bind(args, kwargs))

    called.in_graph = True  # type: ignore[attr-defined]
    return called


class Calls(Hooks):
    """Mixed into ``Cell``."""

    _float_dtype: DType | None
    _names_checked: bool
    #: what a layer of MindSpore's refuses to be called with
    _refused: ClassVar[kinds.Refused | None] = None

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """The computation; a subclass defines it."""
        raise CellAttributeError(f"{type(self).__name__} does not define the method 'construct'")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_tracing():
            look_for_floats(self.construct, args)
            with cell_scope(self, (*args, *kwargs.values())) as called:
                out = self._construct(args, kwargs)
                if not kwargs:
                    called(args, out)
                return out
        args, kwargs = self._bind(args, kwargs)
        if not self._names_checked:
            naming.check_unique(self)  # type: ignore[arg-type]
            self.__dict__["_names_checked"] = True
        try:
            return self._run(args, kwargs)
        except RecursionError as error:
            raise _too_deep(self, error) from None

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compiles the graph of a call in the cell's phase; nothing runs. Its later call does not compile again."""
        self._compile(args, kwargs)

    def compile_and_run(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the cell as a graph, whatever the mode."""
        return run_cell(self, *self._bind(args, kwargs))

    def _compile(self, args: tuple[Any, ...], kwargs: dict[str, Any], phase: str | None = None) -> bool:
        """Compiles a call in ``phase`` (the cell's own if None); says whether that was not done before."""
        args, kwargs = self._bind(args, kwargs)
        naming.check_unique(self)  # type: ignore[arg-type]
        session = current()
        before = set(map(id, session.programs.values()))
        return id(session.run_cell(self, args, kwargs, phase, runs=False)) not in before

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs a call from outside a graph, as the mode says."""
        if getattr(type(self).construct, "in_graph", False) or context.get_context("mode") == context.GRAPH_MODE:
            return run_cell(self, args, kwargs)
        if (heard := call_observer()) is None:
            return self._construct(args, kwargs)
        with heard.cell(self):
            return self._construct(args, kwargs)

    def _construct(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs ``construct`` with this cell's precision in force."""
        if self._float_dtype is not None:
            args = precision.cast_all(args, self._float_dtype)
            kwargs = {name: precision.cast_all(value, self._float_dtype) for name, value in kwargs.items()}
        self.__dict__["_running"] += 1
        try:
            inner = self._computed if self._hooks is None else self._inside_hooks
            watcher = watching(self)
            return inner(args, kwargs) if watcher is None else watcher.cell(self, inner, args, kwargs)
        finally:
            self.__dict__["_running"] -= 1

    def _inside_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._hooked(args, kwargs, self._computed)

    def _computed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of ``construct``, with the cell's own gradient if it has one."""
        if self._refused is not None:
            self._refused.check(args, kwargs, lambda: self.construct(*args, **kwargs))
        result = self.construct(*args, **kwargs)
        own = getattr(self, "bprop", None)
        if own is not None and is_tracing():
            return guarded(self, own, self._bind(args, kwargs)[0], result)
        return result

    def _bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], defaults: bool = True
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments in ``construct``'s order (defaults filled in where keywords were used, as MindSpore does)."""
        try:
            bound = inspect.signature(self.construct).bind(*args, **kwargs)
        except TypeError as error:
            raise SettingTypeError(f"{type(self).__name__}.construct: {error}") from None
        if kwargs and defaults:
            bound.apply_defaults()
        return bound.args, bound.kwargs


def _too_deep(cell: Any, error: RecursionError) -> RecursionError:
    """The same error, which names the limit; another one where a cell's own code calls itself without end."""
    depth = max(place.count(".") + bool(place) for place, _ in naming.walk(cell))
    if depth < _DEEP:
        return error
    return NestingError(
        f"{type(cell).__name__}: {depth} cells lie in one another, too many for Python's limit of "
        f"{sys.getrecursionlimit()} calls; it takes about {_CALLS} for each cell: "
        f"sys.setrecursionlimit({_CALLS * depth + 1000}) before the network runs"
    )
