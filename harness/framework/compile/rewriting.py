"""Rewrites functions as MindSpore's parser reads them: decisions by a tensor's value, and assignment to elements.

A traced function is Python, so an ``if`` on a tensor asks for its truth. ``Traced`` notices that and asks for a
rewrite: tracing begins again, and the statement is then a call of ``branch``, ``loop`` or ``put`` below. Lines and
columns stay those of the user's source. Statements that Python decides are left alone.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import CodeType, FunctionType
from typing import Any

from harness.framework.compile.bindings import Values, name_of, own_names, puts
from harness.framework.compile.floats import Floats, Place, found_in
from harness.framework.compile.made import at as placed
from harness.framework.compile.made import helper, load
from harness.framework.compile.originals import functions_of, passing_on, wrappers
from harness.framework.compile.source import is_users, parsed
from harness.framework.compile.turns import turns
from harness.framework.frames import Frame, all_names_of, code_of, file_of, function_in, line_of


class Again(BaseException):
    """Tracing begins again: the statement at ``line`` of ``function`` rewritten (None: its original in its place), or
    what else of functions is not as in Python."""

    def __init__(
        self, function: FunctionType, line: int | None, places: Mapping[FunctionType, frozenset[Place]] | None = None
    ) -> None:
        super().__init__(function, line)
        self.function, self.line, self.places = function, line, places or {}


def ask_again(frame: Frame | None) -> None:
    """Raises ``Again`` if the statement a user's ``frame`` is at can be rewritten; returns if it cannot, or was."""
    if frame is not None and _active and is_users(file_of(frame)):
        _active[-1].ask(frame)


def goes_on(frame: Frame) -> bool:
    """Whether what follows the decision that a user's ``frame`` is at stands in one graph with what is in front of it:
    behind an ``if`` that binds names and that nothing leaves, but not behind a loop."""
    tree = parsed(code_of(frame)) if is_users(file_of(frame)) else None
    found = _find(tree, line_of(frame)) if tree is not None else None
    if isinstance(found, ast.If):
        inside = [*found.body, *found.orelse]
        return bool(_stored(inside)) and not any(_jumps(inside, (ast.Return, ast.Break, ast.Continue)))
    return isinstance(found, ast.IfExp)


def ask_about(frame: Frame) -> None:
    """Raises ``Again`` if functions that run the code of ``frame`` have an original that stands in the graph in their
    place, or its arithmetic of floats was not rewritten."""
    code = code_of(frame)
    if _active and code not in _active[-1].passed and (found := wrappers(code)):
        raise Again(found[0], None)
    ask_for_floats(code, partial(all_names_of, frame))


def ask_for_floats(code: CodeType, scope: Callable[[], Mapping[str, Any]]) -> None:
    """Raises ``Again`` if a function, or one it calls by name, holds arithmetic of floats that was not rewritten.

    Args:
        code: of the function.
        scope: gives what its names hold.
    """
    if _active and is_users(code.co_filename):
        _active[-1].ask_for_floats(code, scope)


class Rewritten:
    """The functions of one compilation that are rewritten."""

    def __init__(self) -> None:
        self._lines: dict[FunctionType, set[int | None]] = {}
        self._places: dict[FunctionType, frozenset[Place]] = {}
        self._computed: set[CodeType] = set()
        self._code: dict[FunctionType, CodeType] = {}
        self._owners: dict[CodeType, FunctionType] = {}
        self.passed: set[CodeType] = set()

    def ask(self, frame: Frame) -> None:
        """See ``ask_again``."""
        code = code_of(frame)
        function = self._owners.get(code) or function_in(frame) or next(iter(functions_of(code)), None)
        if function is None:
            return
        tree = parsed(self._code.get(function, function.__code__))
        found = _find(tree, line_of(frame))
        if found is None or not _can(found, tree) or found.lineno in self._lines.get(function, ()):
            return
        raise Again(function, found.lineno)

    def ask_for_floats(self, code: CodeType, scope: Callable[[], Mapping[str, Any]]) -> None:
        """See the function of this name."""
        if code in self._computed or code in self._owners:
            return
        found: dict[FunctionType, frozenset[Place]] = {}
        for each, places in found_in(code, scope()):
            if each not in self._computed:
                self._computed.add(each)
                found.update(dict.fromkeys(functions_of(each)[:1], places))
        if found:
            raise Again(next(iter(found)), 0, found)
        self._computed.add(code)

    def add(self, again: Again) -> None:
        """Notes a statement, or the functions of one code that have originals, if tracing does not make them again."""
        code, functions = again.function.__code__, [again.function]
        if again.line is None:
            functions = wrappers(code)
            self.passed.add(code)
        self._places.update(again.places)
        for function in [*functions, *again.places]:
            self._lines.setdefault(function, set()).add(again.line)
            self._code.setdefault(function, function.__code__)

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Within the block the functions run as rewritten."""
        _active.append(self)
        try:
            for function, lines in self._lines.items():
                if None in lines:
                    function.__code__ = passing_on(function)
                    continue
                places = self._places.get(function, frozenset())
                code = _compiled(self._code[function], frozenset(filter(None, lines)), places)
                self._owners.update(dict.fromkeys(_nested(code), function))
                function.__code__ = code
            yield
        finally:
            _active.pop()
            for function, code in self._code.items():
                function.__code__ = code


#: the compilations that run, innermost last
_active: list[Rewritten] = []


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _find(function: ast.FunctionDef | None, line: int) -> Any:
    """The innermost statement that decides or assigns at ``line``."""
    found: Any = None
    for node in ast.walk(function) if function is not None else ():
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            if node.lineno <= line <= (node.test.end_lineno or node.lineno):
                found = node
        elif puts(node) and node.lineno <= line <= (node.end_lineno or line):  # type: ignore[attr-defined]
            found = node
    return found


def _can(statement: ast.stmt | ast.IfExp, function: ast.FunctionDef | None) -> bool:
    """Whether a statement of ``function`` can be rewritten: nothing jumps out of it, but for returns of an ``if``; and
    these not out of a loop that something else leaves, too."""
    if isinstance(statement, ast.While):
        return not statement.orelse and not any(_jumps(statement.body, (ast.Return, ast.Break, ast.Continue)))
    if isinstance(statement, ast.If):
        jumps = (ast.Break, ast.Continue)
        if any(_jumps([statement], (ast.Return,))) and function is not None:
            loops = (each for each in ast.walk(function) if isinstance(each, (ast.For, ast.While)))
            if any(statement in ast.walk(loop) and any(_jumps(loop.body, jumps)) for loop in loops):
                return False
        return not any(_jumps([*statement.body, *statement.orelse], jumps))
    return True


def _jumps(body: Sequence[ast.stmt], kinds: tuple[type[ast.stmt], ...]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, kinds):
            yield node
        elif isinstance(node, (ast.For, ast.While)):
            inner = tuple(k for k in kinds if k is ast.Return)
            yield from _jumps([*node.body, *node.orelse], inner)
        elif not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            for _name, value in ast.iter_fields(node):
                if isinstance(value, list):
                    yield from _jumps([v for v in value if isinstance(v, ast.stmt)], kinds)


def _compiled(before: CodeType, lines: frozenset[int], places: frozenset[Place] = frozenset()) -> CodeType:
    tree = parsed(before)
    assert tree is not None
    if places:
        tree = Floats(places).visit(tree)
    own = own_names(tree)
    tree.body = _Rewriter(lines, own).block(Values(own).function(tree))
    tree.decorator_list = []
    tree.args.defaults, tree.args.kw_defaults = [], [None] * len(tree.args.kwonlyargs)
    for argument in ast.walk(tree.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    tree.returns, tree.lineno = None, before.co_firstlineno  # its decorator's: lines are counted from there
    # The names a closure takes from around it have to be free in the new code, too; its own only if it takes that.
    tree.name = f"<{before.co_name}>"
    outer = ast.FunctionDef(
        name="<around>", args=_arguments(before.co_freevars), body=[tree], decorator_list=[], lineno=1, col_offset=0
    )
    module = ast.fix_missing_locations(ast.Module([outer], []))
    code = compile(module, before.co_filename, "exec", dont_inherit=True)
    for name in ("<around>", tree.name):
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
    return code.replace(co_name=before.co_name, co_qualname=before.co_qualname, co_firstlineno=before.co_firstlineno)


def _arguments(names: Sequence[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


class _Rewriter:
    """Rewrites the statements that begin at ``lines``, and assignments to elements of the names ``own``."""

    def __init__(self, lines: frozenset[int], own: frozenset[str]) -> None:
        self._lines, self._own = lines, own
        self._count = 0

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """A list of statements."""
        done: list[ast.stmt] = []
        for at, node in enumerate(body):
            if isinstance(node, ast.For) and self._returns(node):
                return [*done, *self._turns(node, body[at + 1 :])]
            if self._is_left(node):
                done.append(self._inside(node))
            elif isinstance(node, ast.If) and any(_jumps([node], (ast.Return,))):
                done.append(self._returning(node, body[at + 1 :]))
                return done
            else:
                done += self._put(node) if puts(node) else self._flow(node)  # type: ignore[arg-type]
        return done

    def _is_left(self, node: ast.stmt) -> bool:
        """Whether a statement stays as it is, but for what stands in it."""
        if puts(node) and name_of(node) in self._own:
            return False  # a list or dict of the function's own is another one from then on
        return node.lineno not in self._lines or not (isinstance(node, (ast.If, ast.While)) or puts(node))

    def _returns(self, loop: ast.For) -> bool:
        """Whether a condition at one of the lines leaves ``loop`` by ``return``, and nothing else leaves it."""
        tests: list[ast.stmt] = [n for n in ast.walk(loop) if isinstance(n, ast.If) and n.lineno in self._lines]
        jumps = loop.orelse or any(_jumps(loop.body, (ast.Break, ast.Continue)))
        return any(_jumps(tests, (ast.Return,))) and not jumps

    def _turns(self, node: ast.For, rest: Sequence[ast.stmt]) -> list[ast.stmt]:
        names = sorted(_stored([node, *rest]))
        held: list[ast.expr] = [helper("held", [_locals(), ast.Constant(n)]) for n in names]
        items, turn, first = turns(copy.deepcopy(node), copy.deepcopy(list(rest)), names, held)
        turn.body = self.block(placed(turn, node).body)
        return [placed(each, node) for each in (items, turn, first)]

    def _inside(self, node: ast.stmt) -> ast.stmt:
        if not hasattr(node, "body"):
            done: ast.stmt = _Choices(self._lines).visit(node)
            return done
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(node, name, self.block(inner))
        return node

    def _named(self, kind: str) -> str:
        self._count += 1
        return f"<{kind} {self._count}>"

    def _put(self, node: ast.Assign | ast.AugAssign) -> list[ast.stmt]:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        assert isinstance(target, ast.Subscript)
        value, before = node.value, list[ast.stmt]()
        parts: list[ast.Subscript] = [target]  # from the element that is assigned to that of the name or attribute
        while isinstance(parts[-1].value, ast.Subscript):
            parts.append(parts[-1].value)
        place = parts[-1].value
        if isinstance(node, ast.AugAssign):
            name = self._named("part")
            before = [
                placed(ast.Assign([ast.Name(name, ast.Store())], _read(target)), node),
                placed(ast.AugAssign(ast.Name(name, ast.Store()), node.op, node.value), node),
            ]
            value = load(name)
        for part in parts:
            value = helper("put", [_read(part.value), _index(copy.deepcopy(part.slice)), value])
        if isinstance(place, ast.Name):
            return [*before, placed(ast.Assign([ast.Name(place.id, ast.Store())], value), node)]
        assert isinstance(place, ast.Attribute)
        call = helper("put_attribute", [place.value, ast.Constant(place.attr), value, ast.Constant(True)])
        return [*before, placed(ast.Expr(call), node)]

    def _flow(self, node: ast.If | ast.While) -> list[ast.stmt]:
        names = sorted(_stored([*node.body, *node.orelse]))
        state = ast.Tuple([helper("held", [_locals(), ast.Constant(n)]) for n in names], ast.Load())
        first, second = self._named("test"), self._named("body")
        made: list[ast.stmt] = []
        if isinstance(node, ast.While):
            made.append(self._function(first, names, [], placed(ast.Return(_truth(node.test)), node), node))
            made.append(self._function(second, names, node.body, _given(names), node))
            call = helper("loop", [load(first), load(second), state, _texts(names)])
        else:
            made.append(self._function(first, names, node.body, _given(names), node))
            made.append(self._function(second, names, node.orelse, _given(names), node))
            call = helper("branch", [_truth(node.test), load(first), load(second), state, _texts(names)])
        target = ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())
        result = ast.Assign([target], call) if names else ast.Expr(call)
        return [placed(each, node) for each in (*made, result)]

    def _returning(self, node: ast.If, rest: Sequence[ast.stmt]) -> ast.stmt:
        """``if c: return a`` and what follows: a branch whose sides end the function."""
        sides = []
        names = sorted(_stored([*node.body, *node.orelse, *rest]))
        for kind, body in (("true", node.body), ("false", node.orelse)):
            whole = list(body) if _ends(body) else [*body, *rest]
            sides.append(self._function(self._named(kind), names, whole, None, node))
        state = ast.Tuple([helper("held", [_locals(), ast.Constant(n)]) for n in names], ast.Load())
        call = helper("choose", [_truth(node.test), load(sides[0].name), load(sides[1].name), state])
        block = ast.If(ast.Constant(True), [*sides, ast.Return(call)], [])
        return placed(block, node)

    def _function(
        self, name: str, names: Sequence[str], body: Sequence[ast.stmt], last: ast.stmt | None, at: ast.stmt
    ) -> ast.FunctionDef:
        own = self.block(copy.deepcopy(list(body)))
        whole = [*own, *([last] if last is not None else [])] or [ast.Pass()]
        made = ast.FunctionDef(name=name, args=_arguments(names), body=whole, decorator_list=[])
        return placed(made, at)


class _Choices(ast.NodeTransformer):
    """``a if test else b`` at ``lines``."""

    def __init__(self, lines: frozenset[int]) -> None:
        self._lines = lines

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """See ``ast.NodeTransformer``."""
        self.generic_visit(node)
        if node.lineno not in self._lines:
            return node
        sides = [ast.Lambda(_arguments(()), side) for side in (node.body, node.orelse)]
        made = helper("choose", [_truth(node.test), *sides, ast.Tuple([], ast.Load())])
        return placed(made, node)


def _truth(test: ast.expr) -> ast.expr:
    """A condition whose ``and``, ``or`` and ``not`` take tensors."""
    if isinstance(test, ast.BoolOp):
        later = [ast.Lambda(_arguments(()), _truth(value)) for value in test.values]
        return helper("both" if isinstance(test.op, ast.And) else "either", list(later))
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return helper("opposite", [_truth(test.operand)])
    return test


def _ends(body: Sequence[ast.stmt]) -> bool:
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return _ends(last.body) and _ends(last.orelse)
    return isinstance(last, (ast.Return, ast.Raise))


def _stored(body: Sequence[ast.stmt]) -> set[str]:
    """Names that statements bind."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                found.add(each.id)
            elif isinstance(each, ast.stmt) and puts(each) and (name := name_of(each)) is not None:
                found.add(name)
    return found


def _given(names: Sequence[str]) -> ast.stmt:
    """``return (a, b)`` of names that may be unbound."""
    return ast.Return(ast.Tuple([helper("held", [_locals(), ast.Constant(n)]) for n in names], ast.Load()))


def _index(node: ast.expr) -> ast.expr:
    """An index as a value: slices become ``slice(...)``."""
    if isinstance(node, ast.Slice):
        parts = [p if p is not None else ast.Constant(None) for p in (node.lower, node.upper, node.step)]
        return helper("slice_of", parts)
    if isinstance(node, ast.Tuple):
        return ast.Tuple([_index(e) for e in node.elts], ast.Load())
    return node


def _locals() -> ast.expr:
    return ast.Call(ast.Name("locals", ast.Load()), [], [])


def _read(place: ast.expr) -> ast.expr:
    """A place where something is assigned, as an expression that reads it."""
    found = copy.deepcopy(place)
    found.ctx = ast.Load()  # type: ignore[attr-defined]
    return found


def _texts(names: Sequence[str]) -> ast.expr:
    return ast.Tuple([ast.Constant(n) for n in names], ast.Load())
