"""The active tracer, and the scope of its new nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from harness.framework.compile.cells import is_dumped, scope_of
from harness.framework.compile.floats import code_of, names_when_called
from harness.framework.compile.grammar import check_source
from harness.framework.compile.rewriting import ask_for_floats
from harness.framework.compile.trace import Tracer
from harness.framework.tensor import current, is_eager


def tracer() -> Tracer | None:
    """The tracer in force, or None."""
    dispatcher = current()
    return dispatcher if isinstance(dispatcher, Tracer) else None


@contextmanager
def scope(name: str | None) -> Iterator[None]:
    """Puts new nodes into scope ``name`` within the block; None changes nothing."""
    active = tracer()
    if active is None or name is None:
        yield
        return
    before, active.scope = active.scope, name
    try:
        yield
    finally:
        active.scope = before


def look_for_floats(function: Any, args: Sequence[Any]) -> None:
    """Has the arithmetic of floats of a user's function rewritten, if it was not, before the function is called."""
    if not is_eager() and (code := code_of(function)) is not None:
        ask_for_floats(code, partial(names_when_called, function, args))


@contextmanager
def cell_scope(cell: Any, given: Sequence[Any] = ()) -> Iterator[Callable[[Sequence[Any], Any], None]]:
    """Puts new nodes into a cell's scope (absolute, given by ``generate_scope``; a cell without one keeps the
    caller's) and gives them its ``dump`` mark. Weights that it is ``given`` are named by the one that calls it.

    What it yields takes the call's arguments and its result (see ``repeated``)."""
    active = tracer()
    if active is None:
        yield _nothing
        return
    check_source(cell.construct.__code__, cell)
    for value in given:
        active.name(value)
    before = active.scope, active.marks, active.cell
    active.scope = active.cell = scope_of(cell) or active.scope
    if is_dumped(cell):
        active.marks = {**active.marks, "dump": "true"}
    made = len(active.created)

    def done(args: Sequence[Any], out: Any) -> None:
        active.repeated.add(cell, args, out, active.created[made:])
        active.closures.given(cell, out)

    try:
        yield done
    finally:
        active.scope, active.marks, active.cell = before


def _nothing(args: Sequence[Any], out: Any) -> None:
    """Nothing is traced."""
