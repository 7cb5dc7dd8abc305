"""Dispatches operator calls: executed at once, or added to the graph being traced.

Functions of ``harness.framework.ops`` and the operators of ``Tensor`` only say *what* is called; the active dispatcher
decides what happens. ``harness.framework.ops`` installs the eager one; ``harness.framework.compile`` puts a tracing one
in force while it follows ``construct``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from types import CodeType, FunctionType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from harness import hooks
from harness.errors import TraceError
from harness.framework.frames import Frame
from harness.framework.observed import OLDER_FORMS, SAME_METHODS
from harness.framework.tensor.calls import RUNNING, FunctionCall
from harness.framework.tensor.watching import WATCHERS, Watcher

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


class Dispatcher:
    """Runs operator calls.

    Attributes:
        stop: the frame that began the tracing of a graph; None where none is traced.
        known: gives the values of what is traced, in PyNative mode; None where there are none.
    """

    stop: Frame | None = None
    known: Any = None

    def call(self, op: str, args: tuple[Any, ...], attrs: dict[str, Any], scope: str | None) -> Any:
        """Calls operator ``op``.

        Args:
            op: name in the operator registry (``"MatMul"``).
            args: tensors, Python scalars, tuples of ints, dtypes, strings or None, in the order of the operator's
                argument list.
            attrs: attributes of the primitive.
            scope: scope to use in place of the current one (``"Expand/_Muls"``); None for the current one.

        Returns:
            A tensor, or a tuple of tensors for several outputs.
        """
        raise NotImplementedError

    def branch(
        self, pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: tuple[Any, ...]
    ) -> Any:
        """``true_fn(*operands)`` where ``pred`` holds, else ``false_fn(*operands)``; both give like results."""
        raise NotImplementedError

    def loop(self, cond_fn: Callable[..., Any], body_fn: Callable[..., Any], state: Any) -> Any:
        """``state = body_fn(state)`` as long as ``cond_fn(state)`` holds."""
        raise NotImplementedError

    def function_scope(self, key: Any) -> AbstractContextManager[None] | None:
        """What a call of the graph function ``key`` runs within; None for a dispatcher that has no scopes."""
        return None

    def read(self, tensor: Any) -> Any:
        """See ``read``."""
        return tensor

    def reference(self, tensor: Any) -> Any:
        """See ``reference``."""
        return tensor


_current: ContextVar[Dispatcher | None] = ContextVar("dispatcher", default=None)
_default: list[Dispatcher] = []


def set_default(dispatcher: Dispatcher) -> None:
    """Installs the dispatcher for calls outside of tracing."""
    _default[:] = [dispatcher]


def load_operators() -> None:
    """Imports the operators: a script may have imported ``Tensor`` alone."""
    if not _default:
        hooks.provided("operators")


def current() -> Dispatcher:
    """The dispatcher in force."""
    found = _current.get(None)
    if found is None:
        load_operators()
        found = _default[0]
    return found


def is_tracing() -> bool:
    """Whether a dispatcher other than the default one is active."""
    return _current.get(None) is not None


#: a graph is traced for what MindSpore computes operator by operator
_eager: ContextVar[bool] = ContextVar("rules of PyNative mode", default=False)
_gives_as_graph: ContextVar[bool] = ContextVar("gives_as_graph", default=False)


@contextmanager
def eager_rules(*, graph: bool = False) -> Iterator[None]:
    """Applies the rules of PyNative mode to tracing inside the block: a gradient outside of graphs.

    Args:
        graph: it is a function of a graph whose values are at hand; what it gives follows the rules of graphs.
    """
    token, gives = _eager.set(True), _gives_as_graph.set(graph)
    try:
        yield
    finally:
        _eager.reset(token)
        _gives_as_graph.reset(gives)


def gives_as_graph() -> bool:
    """Whether results are taken apart as those of graphs."""
    return not is_eager() or _gives_as_graph.get()


def is_eager() -> bool:
    """Whether the rules of PyNative mode hold: nothing is traced, or a gradient outside of graphs."""
    return not is_tracing() or _eager.get()


def single(value: float) -> float:
    """``value`` as a Float32."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def held(value: Any) -> Any:
    """A number as the graph that is being traced holds it: a float is a Float32 (measured); as it is outside graphs."""
    return single(value) if isinstance(value, float) and not is_eager() else value


def watching(thing: Any) -> Watcher | None:
    """Who sees a call of ``thing`` (see ``Watcher.watches``); None for nobody, and inside graphs."""
    return WATCHERS[0] if WATCHERS and is_eager() and WATCHERS[0].watches(thing) else None


@contextmanager
def using(dispatcher: Dispatcher) -> Iterator[None]:
    """Puts ``dispatcher`` in force within the block (this thread and context only)."""
    token = _current.set(dispatcher)
    try:
        yield
    finally:
        _current.reset(token)


#: end of the key of a method that is called with a keyword of its older form: that is another function, a row of
#: ``OLDER_FORMS``
OLD = " (older form)"
_OLD_KEYWORDS = {row.name: row.keywords for row in OLDER_FORMS}
_SAME = {f"Tensor.{row.name}" for row in SAME_METHODS}


def is_older(key: Any, keywords: Collection[str]) -> bool:
    """Whether the function ``key``, called with these keywords, is its older form."""
    if not keywords or "rounding_mode" in keywords:
        return False
    is_method = isinstance(key, str) and key.startswith("Tensor.")
    older = _OLD_KEYWORDS.get(key, ())
    return (is_method and key not in _SAME) or any(name in older for name in keywords)


def graph_function(key: Any, function: F, shared: bool = True, keywords: bool = False) -> F:
    """Marks ``function`` as one that MindSpore keeps as a graph of its own: wherever it is called from, its nodes stand
    in the scope of its first call in a compilation (measured). It has no effect outside tracing.

    Args:
        key: key that identifies the function.
        function: any function of ``ops`` or method of ``Tensor``.
        shared: False if each call makes a new graph, whose nodes stand in the caller's scope.
        keywords: called with a keyword (``rounding_mode`` aside) it is another function, which is shared (measured);
            so is nearly every method.
    """

    @functools.wraps(function)
    def entered(*args: Any, **kwargs: Any) -> Any:
        named = is_older(key, kwargs) or (keywords and bool(kwargs) and "rounding_mode" not in kwargs)
        if WATCHERS and (watcher := watching(key)) is not None:
            outer = RUNNING.set(FunctionCall(key, shared, named, args, kwargs, RUNNING.get()))
            try:
                return watcher.function(key, entered, args, kwargs)
            finally:
                RUNNING.reset(outer)
        dispatcher = _current.get()
        if dispatcher is None:
            return function(*args, **kwargs)
        token = RUNNING.set(FunctionCall(key, shared, named, args, kwargs, RUNNING.get()))
        try:
            is_scope = key is not None and (shared or named)
            scope = dispatcher.function_scope(f"{key}{OLD}" if named else key) if is_scope else None
            if scope is None:
                return function(*args, **kwargs)
            with scope:
                try:
                    return function(*args, **kwargs)
                except TypeError:
                    _check_call(key, function, args, kwargs)
                    raise
        finally:
            RUNNING.reset(token)

    _KEYS[entered] = key
    return entered  # type: ignore[return-value]


#: the key of each graph function
_KEYS: WeakKeyDictionary[Callable[..., Any], Any] = WeakKeyDictionary()


#: methods that are the operator itself if a bool follows the first argument: ``x.sum(dim, keepdim)`` (measured)
DIRECT_WITH_FLAG = frozenset({"sum"})


def or_operator(made: F, function: F) -> F:
    """``made``, the graph function, or ``function`` itself for a call of ``DIRECT_WITH_FLAG``."""

    @functools.wraps(function)
    def chosen(*args: Any, **kwargs: Any) -> Any:
        is_operator = len(args) == 3 and isinstance(args[2], bool) and not kwargs
        return (function if is_operator and is_tracing() else made)(*args, **kwargs)

    return chosen  # type: ignore[return-value]


def _check_call(key: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raises ``TraceError`` if a function of ``ops`` does not take these arguments: in a graph that is a
    ``RuntimeError``, unless it has no defaults and is called by position alone (measured)."""
    if isinstance(key, str) and key.startswith("ops.") and not is_eager():
        signature = inspect.signature(function)
        if not kwargs and all(each.default is each.empty for each in signature.parameters.values()):
            return
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            if "multiple values" in str(error):
                return
            raise TraceError(f"{key}: {error}") from None


def graph_key(function: Any) -> Any:
    """The key of a graph function, or None for anything else."""
    return _KEYS.get(function) if isinstance(function, FunctionType) else None


#: what every graph function runs
_ENTERED: CodeType = graph_function(None, lambda: None).__code__


def is_graph_function(code: CodeType) -> bool:
    """Whether frames of ``code`` are calls of graph functions."""
    return code is _ENTERED


def read(tensor: T) -> T:
    """The value of a parameter, read separately instead of by the operator that takes it; any other tensor unchanged.

    MindSpore reads a parameter when it is first passed to an operator, or to a method that returns it (``astype``).
    """
    dispatcher = _current.get()
    found: T = tensor if dispatcher is None else dispatcher.read(tensor)
    return found


def reference(tensor: T) -> T:
    """A parameter itself, for an operator that looks at its memory instead of reading it (a slice is a view); any
    other tensor as it is."""
    dispatcher = _current.get()
    found: T = tensor if dispatcher is None else dispatcher.reference(tensor)
    return found


def differentiated_outside(result: T) -> T:
    """``result``; in a graph, the gradient of the operator that gave it stands in ``Default``."""
    node = getattr(result, "operand", None)
    if node is not None:
        node = node.inputs[0] if node.op == "TupleGetItem" else node
        node.extra.outside = True
    return result


def call(op: str, /, *args: Any, scope: str | None = None, **attrs: Any) -> Any:
    """Calls operator ``op`` through the dispatcher in force (see ``Dispatcher.call``)."""
    return current().call(op, args, attrs, scope)
