"""The function graphs of a traced function, nested as MindSpore nests them.

MindSpore's parser makes a function graph of every function, of both sides of an ``if``, of what follows an ``if`` and
of every turn of a ``for``; later they are put into each other (``inline``). Parts of the finished graph depend on that
nesting alone, so the tracer notes the closure of each node. The structure comes from the syntax tree of the function
that is running and the line it is at.

Source: the intermediate graphs of MindSpore 2.10.0 (``MS_DEV_SAVE_GRAPHS=3``), measured.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, pairwise
from types import CodeType
from typing import Any, NamedTuple

from harness.framework import frames
from harness.framework.compile.closure import Closure
from harness.framework.compile.grammar import check_source
from harness.framework.compile.nestings import Recorded, depth_of, is_called_by_users, recorded
from harness.framework.compile.places import SourcePosition, end_of, gives_several, holds, is_attribute, picks, place_of
from harness.framework.compile.rewriting import ask_about
from harness.framework.compile.source import Function, function_of, is_function, is_shown, is_users
from harness.framework.compile.traced import Traced
from harness.framework.compile.unpacked import members, note_unpacked
from harness.framework.frames import Chosen, Frame
from harness.framework.observed import FUNCTION_GRAPHS, LAYER_GRAPHS
from harness.framework.tensor import is_eager, is_graph_function
from harness.framework.tensor.calls import FunctionCall, innermost
from harness.graph import Node

Compound = ast.If | ast.For
Loop = ast.For | ast.ListComp | ast.GeneratorExp

#: how many function graphs a function or a layer consists of, and how many more its result passes
FUNCTIONS: dict[Any, tuple[int, int]] = {row.name: (row.depth, row.passed) for row in FUNCTION_GRAPHS}
LAYERS = {row.name: (row.depth, row.passed) for row in LAYER_GRAPHS}
#: how many more graphs a function of ``ops`` is if the user calls it with a keyword
KEYWORDS = 2
#: layers whose ``construct`` begins with a check of its own
CHECKING = frozenset(row.name for row in LAYER_GRAPHS if row.checks)
#: methods of layers that are functions in the real layers too
METHODS = frozenset({"construct", "get_loss"})


@dataclass(eq=False, slots=True)
class _Loop:
    """The progress of one ``for``."""

    turns: list[Closure]
    value: tuple[int, ...] = ()
    place: SourcePosition = (0, 0)


class _Turns(NamedTuple):
    """What tells the turns of a loop apart: the loop, what each turn assigns, the frame that holds it."""

    loop: Loop
    target: ast.expr
    frame: Frame


@dataclass(eq=False, slots=True)
class _Activation:
    """A function that is running: its frame, the closure its operators stand in, its syntax tree if its statements
    make closures of their own, and those they have made so far."""

    frame: Frame
    closure: Closure
    function: Function | None
    made: dict[Any, Closure] = field(default_factory=dict)
    located: dict[int, Closure] = field(default_factory=dict)
    loops: dict[tuple[Loop, Closure], _Loop] = field(default_factory=dict)
    places: dict[str, list[Closure]] = field(default_factory=dict)
    members: tuple[int, ...] = ()

    def place(self, op: str) -> Closure:
        """The closure of the next operator ``op`` of a function whose nesting is recorded."""
        leaves = self.places.get(op)
        if leaves is None and len(self.places) == 1:
            # The recorded call had another operator in its place: ``flatten`` is a ``Flatten`` from the first axis to
            # the last, else a ``Reshape``.
            (known, leaves), *_ = self.places.items()
            leaves[0].slots.setdefault(op, leaves[0].slots[known])
        if not leaves:
            return self.closure
        return leaves.pop(0) if len(leaves) > 1 else leaves[0]

    def child(self, key: Any, parent: Closure, loop: Loop | None = None) -> Closure:
        """The closure known as ``key`` inside ``parent``, where a ``loop`` goes on; made at its first use."""
        if (key, parent) not in self.made:
            given = _handed(loop, self.frame) if loop is not None else frozenset()
            self.made[key, parent] = Closure(parent, nested=True, given=given)
        return self.made[key, parent]


class Closures:
    """Finds the closure of the running function. ``root`` stands for what is compiled; ``checks``: what runs is nothing
    but that, so the source of every function must be such as a graph is made of."""

    def __init__(self, stop: Frame | None) -> None:
        self.root, self.checks = Closure(None), False
        self._stop = stop
        self._running: list[_Activation] = []
        self._all: list[_Activation] = []

    def current(self, op: str = "") -> Closure:
        """The closure of the running statement, which calls the operator ``op``."""
        closure = self.root
        for depth, (frame, call) in enumerate(running(self._stop)):
            if depth == len(self._running) or self._running[depth].frame is not frame:
                del self._running[depth:]
                if self.checks:
                    check_source(frames.code_of(frame), frames.owner_of(frame))
                    if not is_eager():
                        ask_about(frame)
                self._running.append(_enter(frame, call, closure))
                self._all.append(self._running[-1])
            if self._running[depth].closure.leaves:
                del self._running[depth + 1 :]
                return self._running[depth].place(op)
            note_unpacked(self._running[depth].function, frame, self._running[depth].closure)
            closure = _locate(self._running[depth])
        return closure

    def given(self, cell: object, out: object) -> None:
        """Notes what the last call of ``cell`` gave."""
        own = (a for a in reversed(self._all) if a.function is not None and frames.owner_of(a.frame) is cell)
        for last in islice(own, 1):
            last.members = members(out)

    def finish(self) -> None:
        """Notes the tails: a function's result is that of the closure its ``return`` stands in."""
        for activation in self._all:
            if activation.function is None:
                continue
            last = _locate(activation)
            note_unpacked(activation.function, activation.frame, activation.closure)
            _delay(frames.owner_of(activation.frame), last)
            last.picks = picks(activation.function, place_of(activation.frame))
            path = last.path()[last.path().index(activation.closure) :]
            for closure in path:
                closure.several = gives_several(activation.function, place_of(activation.frame))
                closure.members = activation.members
            for closure, tail in pairwise(path):
                closure.tail = tail

    def leave(self) -> None:
        """Releases the frames, which keep their functions' objects alive; nothing is traced after this."""
        self._stop = None
        self._running.clear()
        self._all.clear()


class Running(NamedTuple):
    """A running function that is a graph; ``call``, as it was handed over, of a graph function of the library."""

    frame: Frame
    call: FunctionCall | None


def running(stop: Frame | None) -> list[Running]:
    """Running functions that are graphs, outermost first: the user's, layers', and those of the library."""
    found: list[Running] = []
    call = innermost()
    for frame in _MAY_BE_GRAPH.running(stop):
        if is_graph_function(frames.code_of(frame)):
            assert call is not None, "a graph function runs that handed over nothing"
            if call.key is not None:
                found.append(Running(frame, call))
            call = call.around
        elif _is_graph(frame):
            found.append(Running(frame, None))
    found.reverse()
    return found


def _may_be_graph(code: CodeType) -> bool:
    name = code.co_name
    return name in METHODS or is_graph_function(code) or (not name.startswith("<") and is_users(code.co_filename))


_MAY_BE_GRAPH = Chosen(_may_be_graph)


def _is_graph(frame: Frame) -> bool:
    code = frames.code_of(frame)
    if code.co_name in METHODS and is_shown(code.co_filename):
        return code.co_name == "construct" or not is_users(code.co_filename) or is_function(frame)
    return is_function(frame)


def _enter(frame: Frame, call: FunctionCall | None, caller: Closure) -> _Activation:
    """Makes the closures of a function's call; ``closure`` is the one its statements start in."""
    before, after, function, checks = 1, 0, None, False
    layer = type(frames.owner_of(frame)).__name__
    nesting, by_keyword = recorded(frame, call), call is not None and _is_by_keyword(frame, call)
    if nesting is not None:
        return _nested(frame, caller, nesting, by_keyword)
    if call is not None:
        before, after = _depth(frame, call)
    elif layer in LAYERS and not is_users(frames.file_of(frame)):
        before, after = LAYERS[layer]
        checks = layer in CHECKING
    else:
        function = function_of(frames.code_of(frame))
    closure = Closure(caller, checks=checks, by_keyword=by_keyword) if before else caller
    for _ in range(1, before):
        closure.tail = closure = Closure(closure, by_keyword=by_keyword)
    last = closure
    if before and call is not None:
        closure.of_library = True
    closure.of_cell = function is not None and frames.code_of(frame).co_name == "construct"
    if function is not None and caller.effects and _sees_values(frame):
        closure.affect(None)
    for _ in range(after):
        last.tail = last = Closure(last)
    return _Activation(frame, closure, function)


def _sees_values(frame: Frame) -> bool:
    """Whether a function that is written inside another one uses what that one computed: where the outer one has
    effects, its result waits for them (measured)."""
    names, known = frames.code_of(frame).co_freevars, frames.names_of(frame)
    values = (known.get(name) for name in names if "self" not in names)
    return any(isinstance(each, Traced) and isinstance(each.operand, Node) for each in values)


def _nested(frame: Frame, caller: Closure, nesting: Recorded, by_keyword: bool) -> _Activation:
    """Makes the closures of a function whose nesting is recorded."""
    closure = Closure(caller, of_library=True, by_keyword=by_keyword)
    closure.leaves = [Closure(closure, level=level, of_library=True) for level in nesting.levels]
    for graph, later, since in nesting.early:
        closure.leaves[graph].early = later, since
    activation = _Activation(frame, closure, None)
    for op, graph, seen, left in nesting.operators:
        leaf = closure.leaves[graph]
        leaf.slots.setdefault(op, []).append((seen, left))
        activation.places.setdefault(op, []).append(leaf)
    return activation


def _depth(frame: Frame, call: FunctionCall) -> tuple[int, int]:
    """What ``FUNCTIONS`` says of the library function whose call ``frame`` is; a method that is an operator itself is
    not a function graph."""
    plain = call.key[0] if isinstance(call.key, tuple) else call.key
    direct = not call.shared and not call.named and not plain.rpartition(".")[2].startswith("__")
    named = next(iter(call.kwargs), "axis" if len(call.args) > 1 else "")
    found = FUNCTIONS.get((plain, named)) or FUNCTIONS.get(call.key)
    before, after = found or depth_of(frame, call) or (0 if direct and plain.startswith("Tensor.") else 1, 0)
    return before + (KEYWORDS if _is_by_keyword(frame, call) else 0), after


def _is_by_keyword(frame: Frame, call: FunctionCall) -> bool:
    """Whether ``frame`` is a function of ``ops`` that the user calls with a keyword."""
    plain = call.key[0] if isinstance(call.key, tuple) else call.key
    return plain.startswith("ops.") and bool(call.kwargs) and is_called_by_users(frame)


def _delay(layer: Any, last: Closure) -> None:
    """Notes where the result of a layer takes more steps: that of Dense waits for a check of its shape, which it then
    passes, and for the activation, which only graphs further in use (measured)."""
    if type(layer).__name__ != "Dense" or last.parent is None or last.parent.parent is None:
        return
    last.late = last.parent.late = 1
    last.parent.parent.late = int(layer.activation_flag)


def _locate(activation: _Activation) -> Closure:
    """The closure of the statement an activation is at."""
    function, at = activation.function, frames.instruction_of(activation.frame)
    if function is None:
        return activation.closure
    # Without a loop, a place is always in the same closure.
    known = activation.located.get(at)
    if known is None:
        known = _at(activation, function.body, place_of(activation.frame))
        if not _has_loops(function):
            activation.located[at] = known
    return known


@lru_cache(maxsize=16384)
def _has_loops(function: Function) -> bool:
    return any(isinstance(each, (ast.For, ast.ListComp, ast.GeneratorExp)) for each in ast.walk(function))


def _at(activation: _Activation, body: list[ast.stmt], place: SourcePosition) -> Closure:
    """The closure of a place in the statements of an activation's function."""
    closure = activation.closure
    while True:
        for statement in body:
            if holds(statement, place):
                break
            if isinstance(statement, (ast.If, ast.For)) and end_of(statement) <= place:
                closure = _after(activation, statement, closure)
        else:
            return closure
        if isinstance(statement, ast.With):
            body = statement.body
        elif isinstance(statement, ast.If) and not holds(statement.test, place):
            body = statement.body if place < end_of(statement.body[-1]) else statement.orelse
            closure = activation.child((statement, "side"), closure)
        elif isinstance(statement, ast.For) and not holds(statement.iter, place):
            body = statement.body
            closure = _turn(activation, _Turns(statement, statement.target, activation.frame), closure)
        else:
            return _choice(activation, statement, closure, place)


def _choice(activation: _Activation, statement: ast.stmt, closure: Closure, place: SourcePosition) -> Closure:
    """The closure of a place inside a statement: each side of ``a if c else b`` is one, and each turn of a list made
    by a loop."""
    for part in _parts(statement):
        if isinstance(part, ast.IfExp):
            if holds(part.body, place) or holds(part.orelse, place):
                closure = activation.child((part, "side"), closure)
        elif holds(part, place):
            frame = _frame_of(activation.frame)
            if holds(part.elt, place_of(frame)):
                closure = _turn(activation, _Turns(part, part.generators[0].target, frame), closure)
    return closure


@lru_cache(maxsize=65536)
def _parts(statement: ast.stmt) -> tuple[ast.IfExp | ast.ListComp | ast.GeneratorExp, ...]:
    """The parts of a statement that make closures. Cached, because every operator asks and most statements have
    none."""
    return tuple(part for part in ast.walk(statement) if isinstance(part, (ast.IfExp, ast.ListComp, ast.GeneratorExp)))


def _frame_of(around: Frame) -> Frame:
    """The frame a list made by a loop in ``around`` runs in: one of its own before Python 3.12."""
    for frame in frames.stack(around):
        if frames.caller_of(frame) is around and frames.code_of(frame).co_name in ("<listcomp>", "<genexpr>"):
            return frame
    return around


def _after(activation: _Activation, statement: Compound, closure: Closure) -> Closure:
    """The closure of what follows ``statement``: inside the last turn of a loop; inside the side taken of an ``if`` on
    an attribute of the cell, beside it for any other."""
    if isinstance(statement, ast.For):
        loop = activation.loops.get((statement, closure))
        inner = _end_of_turn(activation, statement, loop.turns[-1]) if loop is not None else closure
        return activation.child((statement, "after"), activation.child((statement, "end"), inner, statement))
    if is_attribute(statement.test):
        closure = activation.child((statement, "side"), closure)
    after = activation.child((statement, "after"), closure)
    if not after.nodes and not after.passed and not is_attribute(statement.test):
        after.passed = _handed(statement, activation.frame)
        after.of_cell = closure.of_cell and not any(isinstance(n, (ast.Raise, ast.Return)) for n in ast.walk(statement))
    return after


def _turn(activation: _Activation, turns: _Turns, closure: Closure) -> Closure:
    """The closure of this turn of a loop, inside that of the turn before it."""
    known = frames.names_of(turns.frame)
    value, place = tuple(id(known.get(name)) for name in _names(turns.target)), place_of(turns.frame)
    loop = activation.loops.setdefault((turns.loop, closure), _Loop([]))
    if not loop.turns or value != loop.value or place < loop.place:
        around = _end_of_turn(activation, turns.loop, loop.turns[-1]) if loop.turns else closure
        head = Closure(around, nested=True, given=_handed(turns.loop, turns.frame))
        loop.turns.append(Closure(head, waits=True, nested=True))
    loop.value, loop.place = value, place
    return loop.turns[-1]


def _handed(loop: Loop | ast.If, frame: Frame) -> frozenset[int]:
    """The values, each by its id, that one turn of ``loop`` hands to the next: of the variables that it changes."""
    known = frames.names_of(frame)
    values = (known.get(name) for name in _changed(loop))
    return frozenset(id(value.operand) for value in values if isinstance(value, Traced))


@lru_cache(maxsize=16384)
def _changed(loop: Loop | ast.If) -> tuple[str, ...]:
    return tuple({n.id: None for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)})


@lru_cache(maxsize=16384)
def _names(target: ast.expr) -> tuple[str, ...]:
    return tuple(n.id for n in ast.walk(target) if isinstance(n, ast.Name))


def _end_of_turn(activation: _Activation, loop: Loop, turn: Closure) -> Closure:
    """The closure in which one turn of a loop leads to the next."""
    for statement in loop.body if isinstance(loop, ast.For) else ():
        if isinstance(statement, (ast.If, ast.For)):
            turn = _after(activation, statement, turn)
    return turn
