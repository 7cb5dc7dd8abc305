"""Where the names of a graph and those of Python part: containers and functions are values there.

``e = d; d.append(x)`` leaves ``e`` as it was: a name that changes a list or dict has another one from then on. A loop
goes over the list that it began with. A function within a function has the values of its names from where it is
written. What a method that changes a list gives is the changed list, ``pop`` the list and the member; ``sort`` and
``remove`` change nothing. Lists from outside of the graph are ``callers``'.

Source: MindSpore 2.10.0, measured (tests/data/programs/values_of_names.txt).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from harness.framework.compile.made import at as placed
from harness.framework.compile.made import helper, load
from harness.framework.compile.source import Function

#: methods that change a list or dict
GROW = frozenset({"append", "extend", "insert", "pop", "clear", "reverse", "update", "sort", "remove"})
#: of these, what tensors have, too: called for what it gives, it is theirs
_SHARED = frozenset({"sort", "remove"})
_FRESH = (ast.List, ast.Dict, ast.ListComp, ast.DictComp, ast.BinOp)
_MAKERS = frozenset({"list", "dict", "sorted"})
_NESTED = (ast.FunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.DictComp, ast.GeneratorExp)


def puts(node: ast.AST) -> bool:
    """Whether a statement is ``place[index] = value`` or ``place[index] += value``; a place is a name, an attribute, or
    an element of a place."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    place = targets[0] if len(targets) == 1 else None
    return isinstance(place, ast.Subscript) and isinstance(_root(place), (ast.Name, ast.Attribute))


def name_of(node: ast.AST) -> str | None:
    """The name whose element an assignment stores; None for an attribute's."""
    put: Any = node
    root = _root(put.targets[0] if isinstance(put, ast.Assign) else put.target)
    return root.id if isinstance(root, ast.Name) else None


def _root(place: Any) -> Any:
    while isinstance(place, ast.Subscript):
        place = place.value
    return place


def _changer(node: Any) -> ast.Attribute | None:
    """``place.append`` of a call of it, and of what else changes a list or dict; of a name's, or an attribute's."""
    function = node.func if isinstance(node, ast.Call) else None
    if not (isinstance(function, ast.Attribute) and function.attr in GROW):
        return None
    return function if isinstance(_root(function.value), (ast.Name, ast.Attribute)) else None


def own_names(function: Function) -> frozenset[str]:
    """The names that a function, or one within it, binds."""
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    defined = {n.name for n in ast.walk(function) if isinstance(n, ast.FunctionDef) and n is not function}
    return frozenset(stored | defined | {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)})


def _elements(node: ast.Assign) -> list[ast.Subscript]:
    """The elements of names among what ``a, b[0] = ...`` assigns."""
    targets = [each for target in node.targets if isinstance(target, (ast.Tuple, ast.List)) for each in target.elts]
    return [each for each in targets if isinstance(each, ast.Subscript) and isinstance(_root(each), ast.Name)]


class _Scope:
    """What one function does with its names, those of functions within left out."""

    def __init__(self, function: ast.FunctionDef | ast.Lambda) -> None:
        self.parameters = {n.arg for n in ast.walk(function.args) if isinstance(n, ast.arg)}
        #: name -> where it is bound (and to what), where it is read as a whole, where its list or dict changes
        self.stores: dict[str, list[tuple[ast.AST, ast.AST | None]]] = {}
        self.reads: dict[str, list[ast.AST]] = {}
        self.changes: dict[str, list[ast.AST]] = {}
        self.deep: set[str] = set()
        self.within: list[ast.FunctionDef | ast.Lambda] = []
        self.asks = False  # whether what a change gives is used
        self._loops: dict[int, tuple[int, ...]] = {}
        body = function.body if isinstance(function, ast.FunctionDef) else [function.body]
        for each in body:
            self._visit(each, ())

    def _visit(self, node: ast.AST, loops: tuple[int, ...]) -> None:
        self._loops[id(node)] = loops
        if isinstance(node, _NESTED):
            self.within.append(node)
            if isinstance(node, ast.FunctionDef):
                self.stores.setdefault(node.name, []).append((node, node))
            return
        left = self._change(node)
        if isinstance(node, ast.Assign):
            for target in _elements(node):
                self._note(_root(target).id, node, isinstance(target.value, ast.Subscript))
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                self.stores.setdefault(node.id, []).append((node, None))
            else:
                self.reads.setdefault(node.id, []).append(node)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self.stores.setdefault(node.targets[0].id, []).append((node, node.value))
            left = [node.targets[0]]
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            left = [node.value]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
            left = [each for each in node.args if isinstance(each, ast.Name)]
        elif _changer(node) is not None and not left:
            self.asks = self.asks or node.func.attr not in _SHARED  # type: ignore[attr-defined]
        inner = (*loops, id(node)) if isinstance(node, _LOOPS) else loops
        for each in ast.iter_child_nodes(node):
            if isinstance(node, ast.Expr) and left and each is node.value:  # the change itself
                for part in (*node.value.args, *node.value.keywords):  # type: ignore[attr-defined]
                    self._visit(part, loops)
            elif not any(each is one for one in left):
                begins = isinstance(node, ast.For) and each is node.iter
                self._visit(each, loops if begins else inner)

    def _change(self, node: ast.AST) -> list[ast.AST]:
        """Notes a statement that changes the list or dict of a name; gives what of it counts for that alone."""
        found: Any = None
        changer = _changer(node.value) if isinstance(node, ast.Expr) else None
        if changer is not None and isinstance(_root(changer.value), ast.Name):
            found = _root(changer.value).id
            deep = isinstance(changer.value, ast.Subscript) or changer.attr in _SHARED
        elif puts(node) and (found := name_of(node)) is not None:
            target: Any = node.targets[0] if isinstance(node, ast.Assign) else node.target  # type: ignore[attr-defined]
            deep = isinstance(target.value, ast.Subscript)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and self._is_list(node):
            found, deep = node.target.id, False
        if found is None:
            return []
        self._note(found, node, deep)
        return [node]

    def _note(self, name: str, node: ast.AST, deep: bool) -> None:
        self.changes.setdefault(name, []).append(node)
        if deep:
            self.deep.add(name)

    def _is_list(self, node: ast.AugAssign) -> bool:
        values = [node.value, *self._values(node.target)]
        values += [each for value in values for each in self._values(value)]
        return isinstance(node.op, (ast.Add, ast.Mult)) and any(isinstance(v, (ast.List, ast.ListComp)) for v in values)

    def _values(self, node: Any) -> list[Any]:
        return [value for _node, value in self.stores.get(node.id, ())] if isinstance(node, ast.Name) else []

    def part(self) -> bool:
        """Whether a list or dict that another name may hold changes, or the names of a function within do."""
        return self.asks or any(map(self._is_shared, self.changes)) or any(self.frozen(each) for each in self.within)

    def _is_shared(self, name: str) -> bool:
        if name in self.deep or name in self.parameters or name not in self.stores:
            return name in self.parameters or name in self.stores
        if not all(_is_fresh(value) for _node, value in self.stores[name]):
            return True
        return any(self._before(read, change) for read in self.reads.get(name, ()) for change in self.changes[name])

    def _before(self, one: ast.AST, other: ast.AST) -> bool:
        """Whether ``other`` may run after ``one``."""
        later = (other.end_lineno, other.end_col_offset) > (one.lineno, one.col_offset)  # type: ignore[attr-defined]
        return later or bool(set(self._loops[id(one)]) & set(self._loops[id(other)]))

    def frozen(self, inner: ast.FunctionDef | ast.Lambda) -> list[str]:
        """Names of a function within that do not follow what happens to them later."""
        free = _free(inner)
        changed = set(_Scope(inner).changes)
        moving = {
            name
            for name, places in self._bound().items()
            if any(self._before(inner, place) and place is not inner for place in places)
        }
        known = self.parameters | self.stores.keys()
        return sorted((free & known) & (moving | changed) - {getattr(inner, "name", "")})

    def _bound(self) -> dict[str, list[ast.AST]]:
        found = {name: [node for node, _value in places] for name, places in self.stores.items()}
        for name, places in self.changes.items():
            found[name] = [*found.get(name, ()), *places]
        return found


def _is_fresh(value: ast.AST | None) -> bool:
    """Whether an expression gives a list or dict that no other name holds."""
    made = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _MAKERS
    return made or isinstance(value, _FRESH)


def _free(function: ast.FunctionDef | ast.Lambda) -> set[str]:
    """The names that a function takes from around it."""
    scope = _Scope(function)
    bound = scope.parameters | scope.stores.keys()
    inner = set[str]().union(*map(_free, scope.within)) if scope.within else set()
    return ({*scope.reads, *_read_in(function)} | inner) - bound


def _read_in(function: ast.AST) -> Iterator[str]:
    stack = list(ast.iter_child_nodes(function))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        if not isinstance(node, _NESTED):
            stack += ast.iter_child_nodes(node)


@lru_cache(maxsize=16384)
def part(function: Function) -> bool:
    """Whether the names of a function may be seen to part from Python's: it has to be rewritten."""
    if not isinstance(function, ast.FunctionDef):
        return False
    scope = _Scope(function)
    return scope.part() or any(map(_parts_within, scope.within))


def _parts_within(function: ast.FunctionDef | ast.Lambda) -> bool:
    scope = _Scope(function)
    return scope.part() or any(map(_parts_within, scope.within))


class Values(ast.NodeTransformer):
    """Makes what changes the list or dict of a name of ``own`` an assignment to the name, and lets functions within
    keep the values of their names."""

    def __init__(self, own: frozenset[str]) -> None:
        self._own = own
        self._scopes: list[_Scope] = []
        self._count = 0

    def function(self, tree: ast.FunctionDef) -> list[ast.stmt]:
        """The statements of a whole function."""
        self._scopes.append(_Scope(tree))
        body = self._block(tree.body)
        self._scopes.pop()
        return body

    def _block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for each in body:
            found = self.visit(each)
            done += found if isinstance(found, list) else [found]
        return done

    def _owned(self, node: Any) -> ast.Attribute | None:
        changer = _changer(node)
        root = _root(changer.value) if changer is not None else None
        return changer if isinstance(root, ast.Attribute) or (root is not None and root.id in self._own) else None

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """See ``ast.NodeTransformer``."""
        changer = self._owned(node.value)
        if changer is None or isinstance(_root(changer.value), ast.Attribute):
            self.generic_visit(node)
            return node
        call: Any = node.value
        self._arguments(call)
        changed = helper("left", [copy.deepcopy(changer.value), _made(call, changer)])
        return placed(ast.Assign([_stored(changer.value)], changed), node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        """See ``ast.NodeTransformer``."""
        elements = [each for each in _elements(node) if _root(each).id in self._own]
        if elements and len(node.targets) == 1:
            names = {id(each): f"<part {number}>" for number, each in enumerate(elements)}
            target: Any = node.targets[0]
            parts = [ast.Name(names[id(e)], ast.Store()) if id(e) in names else e for e in target.elts]
            puts_ = [ast.Assign([each], load(names[id(each)])) for each in elements]
            first = ast.Assign([ast.Tuple(parts, ast.Store())], self.visit(node.value))
            return [placed(each, node) for each in (first, *puts_)]
        changer = self._owned(node.value)
        plain = len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        name = changer is not None and isinstance(_root(changer.value), ast.Name)
        if changer is None or changer.attr != "pop" or not plain or not name:
            self.generic_visit(node)
            return node
        call: Any = node.value
        self._arguments(call)
        taken = helper("taken", [copy.deepcopy(changer.value), _made(call, changer)])
        pair = ast.Tuple([ast.Name("<rest>", ast.Store()), *node.targets], ast.Store())
        rest = ast.Assign([_stored(changer.value)], load("<rest>"))
        return [placed(ast.Assign([pair], taken), node), placed(rest, node)]

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | list[ast.stmt]:
        """See ``ast.NodeTransformer``."""
        self.generic_visit(node)
        if not (isinstance(node.target, ast.Name) and node.target.id in self._own):
            return node
        if not any(node is each for each in self._scopes[-1].changes.get(node.target.id, ())):
            return node
        name = node.target.id
        return [placed(ast.Assign([ast.Name(name, ast.Store())], helper("own", [load(name)])), node), node]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """See ``ast.NodeTransformer``."""
        changer = self._owned(node)
        if changer is None or changer.attr in _SHARED:
            self.generic_visit(node)
            return node
        self._arguments(node)
        return placed(helper("result", [_made(node, changer)]), node)

    def _arguments(self, call: ast.Call) -> None:
        call.args = [self.visit(each) for each in call.args]
        call.keywords = [self.visit(each) for each in call.keywords]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt | list[ast.stmt]:
        """See ``ast.NodeTransformer``."""
        frozen = self._scopes[-1].frozen(node)
        inner = _Scope(node)
        changed = [name for name in frozen if name in inner.changes]
        node.body = self.function(node)
        head: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], load(f"<{name}>")) for name in changed]
        node.body = [placed(each, node) for each in head] + node.body
        if not frozen:
            return node
        self._count += 1
        made, parameters = f"<values {self._count}>", [f"<{name}>" if name in changed else name for name in frozen]
        around = ast.FunctionDef(
            name=made, args=_taking(parameters), body=[node, ast.Return(load(node.name))], decorator_list=[]
        )
        call = ast.Call(load(made), [_held(name) for name in frozen], [])
        bound = ast.Assign([ast.Name(node.name, ast.Store())], call)
        return [placed(around, node), placed(bound, node)]

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """See ``ast.NodeTransformer``."""
        frozen = self._scopes[-1].frozen(node)
        self._scopes.append(_Scope(node))
        self.generic_visit(node)
        self._scopes.pop()
        if not frozen:
            return node
        return placed(ast.Call(ast.Lambda(_taking(frozen), node), [_held(name) for name in frozen], []), node)


def _made(call: ast.Call, changer: ast.Attribute) -> ast.expr:
    """The call of what changes a list or dict, which makes another one."""
    return ast.Call(
        helper("method", [copy.deepcopy(changer.value), ast.Constant(changer.attr)]), call.args, call.keywords
    )


def _stored(place: Any) -> Any:
    """A place that is read, as one that is assigned."""
    if isinstance(place, ast.Name):
        return ast.Name(place.id, ast.Store())
    return ast.Subscript(place.value, place.slice, ast.Store())


def _held(name: str) -> ast.expr:
    return helper("held", [ast.Call(load("locals"), [], []), ast.Constant(name)])


def _taking(names: Sequence[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
