"""The scopes of the functions that a traced function calls.

MindSpore keeps a function as a graph of its own: wherever it is called from, its nodes stand in the scope it was first
looked up from (measured; for the order see ``lookup``).
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from harness.framework import frames
from harness.framework.compile.cells import cells_of, scope_of
from harness.framework.compile.closures import running
from harness.framework.compile.lookup import Place, looked_up, looked_up_in
from harness.framework.compile.source import function_key, function_of, is_users, user_functions
from harness.framework.frames import Frame, Standing
from harness.framework.observed import DIRECT_METHODS
from harness.framework.tensor import OLD, Tensor, graph_key, is_older
from harness.framework.tensor.dispatch import DIRECT_WITH_FLAG
from harness.graph import Node

#: methods, and functions, whose operator stands in another function of ``ops``; through the method's older form, which
#: is a function around it, that function stands in ``Default`` (measured)
METHODS = {
    **{
        f"Tensor.{name}": f"ops.{name}"
        for name in (
            "amax", "amin", "argmax", "argmin", "asinh", "atan", "chunk", "cumsum", "flatten",
            "index_select", "mean", "moveaxis", "multiply", "permute", "pow", "sort",
            "split", "squeeze", "sub", "sum", "swapaxes", "tile", "topk", "transpose", "tril",
        )
    },
    "Tensor.__eq__": "ops.equal", "Tensor.__ne__": "ops.not_equal", "Tensor.mul": "ops.mul", "Tensor.norm": "ops.norm",
    "Tensor.ravel": "ops.reshape", "Tensor.repeat_interleave": "ops.repeat_interleave", "Tensor.sign": "ops.sign",
    "Tensor.unbind": "ops.unstack", "ops.ravel": "ops.reshape",
    "Tensor.__add__": "ops.add", "Tensor.__gt__": "ops.greater", "Tensor.__neg__": "ops.neg", "Tensor.add": "ops.add",
    "Tensor.T": "ops.transpose", "Tensor.astype": "ops.cast", "Tensor.float": "ops.cast", "Tensor.half": "ops.cast",
    "Tensor.int": "ops.cast", "Tensor.unsqueeze": "ops.expand_dims", "ops.unsqueeze": "ops.expand_dims",
    "ops.divide": "ops.div", "ops.swapdims": "ops.swapaxes", "ops.true_divide": "ops.div",
}  # fmt: skip
#: the functions that a function of the library looks up when it is entered
CONSISTING = {
    "logaddexp": ("ops.abs", "ops.neg", "ops.maximum", "ops.log1p", "ops.add"), "logsumexp": ("ops.sum", "ops.add"),
    "cosine_similarity": ("ops.mul", "ops.sum", "ops.norm"), "repeat_interleave": ("ops.expand_dims",),
    "arange": ("ops.cast",),
    "tanhshrink": ("ops.tanh",), "var": ("ops.mean", "ops.sub"),
}  # fmt: skip

#: functions that stand in ``Default`` wherever they are called, as do those of ``mint`` that have keys (measured)
ABROAD = frozenset({"ops.less"})

#: functions of several operators that call others: first called in ``Default``, the operators that are not in one of
#: those take the scope of each call (measured)
COMPOSED = frozenset({"ops.logsumexp"})

#: methods that are a graph for each shape and each argument: only equal calls share one (measured)
EACH = frozenset({"Tensor.squeeze"})
#: functions whose gradient stands in ``Default`` where the user calls them (measured)
PLACED_LATE = frozenset({"ops.squeeze"})

#: functions whose one operator stands in a function further in: first called in ``Default``, it stays there (measured)
DEEP = frozenset(
    {
        "ops.argmax", "ops.chunk", "ops.concat", "ops.cumsum", "ops.div", "ops.dot", "ops.dropout", "ops.flatten",
        "ops.mean", "ops.one_hot", "ops.pad", "ops.relu", "ops.smooth_l1_loss", "ops.softmax",
        "ops.split", "ops.squeeze", "ops.std", "ops.swapaxes", "ops.topk", "ops.unsqueeze",
        "Tensor.T", "Tensor.any", "Tensor.argmax", "Tensor.argmin", "Tensor.astype", "Tensor.chunk",
        "Tensor.cumsum", "Tensor.flatten", "Tensor.gather_elements",
        "Tensor.isnan", "Tensor.mT", "Tensor.max", "Tensor.mean", "Tensor.min",
        "Tensor.mul", "Tensor.sign", "Tensor.split",
        "Tensor.swapaxes", "Tensor.topk", "Tensor.unsqueeze",

    }
)  # fmt: skip


#: ``x[index]``; with the kind of the index it is a key
INDEX = "Tensor.__getitem__"
#: kinds that share the function of another (measured)
_SHARED_KINDS = {"bool": "int"}


class FunctionScopes:
    """Remembers the scope each function was first looked up from.

    Attributes:
        inside: how many functions of the library are running.
    """

    def __init__(self, stop: Frame | None) -> None:
        self.inside = 0
        self._stop = stop
        self._scopes: dict[Any, str] = {}
        #: the scope that a function of the user's is first called in, by its code
        self._first: dict[Any, str] = {}
        #: what a cell or a function in a scope looks up
        self._known: dict[tuple[Any, str], dict[Any, str]] = {}

    def enter(self, key: Any, scope: str) -> tuple[str, str]:
        """The scope of the nodes of a library function that is called in ``scope``; and that of its operator if it
        has only one: a function first called in ``Default`` takes the scope of each call then (measured)."""
        asked = key
        if isinstance(key, tuple) and key[0] == INDEX:
            return self._enter_index(key[1], scope)
        if key in ABROAD or (isinstance(key, str) and (key.startswith("mint.") or key.endswith(OLD))):
            plain = key.removesuffix(OLD)
            key, scope = METHODS.get(plain, plain), "Default"
            first = self._scopes.setdefault(key, scope)
            return first, first
        key = METHODS.get(key, key)
        if key not in self._scopes and isinstance(key, str) and key.startswith(("ops.", "Tensor.")):
            self._scopes[key] = self._named_first(key, scope)
        first = self._scopes.setdefault(key, scope)
        stays = first != "Default" or asked in DEEP or not isinstance(asked, str)
        return first, first if stays else scope

    def _enter_index(self, kind: str, scope: str) -> tuple[str, str]:
        """The scopes of ``x[index]``, a function for each kind of index.

        Where the module of the function that indexes has a value under the name ``x``, the parser takes ``x[index]``
        for a call of a function for all kinds, which looks up the function of the kind (measured).
        """
        if _is_of_global_name(self._stop):
            scope = self._scopes.setdefault(INDEX, scope)
        first = self._scopes.setdefault((INDEX, _SHARED_KINDS.get(kind, kind)), scope)
        if kind in ("NoneType", "bool"):
            return self.enter("ops.expand_dims", scope if first == "Default" else first)
        return first, first

    def enter_each(self, key: str, node: Node, scope: str) -> str:
        """The scope of the operator of a function of ``EACH`` that is called in ``scope``."""
        scope = "Default" if key.endswith(OLD) else scope
        return self._scopes.setdefault(
            (node.op, repr([(i.spec, getattr(i, "value", None)) for i in node.inputs])), scope
        )

    def of_users(self, scope: str) -> str:
        """``scope`` as seen from the functions of the user that ``construct`` is in the middle of: each is a graph
        function, known by its code and, for a method, its object. A cell's method stands in the cell (measured)."""
        for frame in reversed(list(user_functions(self._stop))):
            key = function_key(frame)
            if key not in self._scopes:
                within = scope_of(frames.owner_of(frame)) if key[1] else None
                self._scopes[key] = within or self._named_first(key, scope)
            scope = self._scopes[key]
        return scope

    def _named_first(self, key: Any, scope: str) -> str:
        """The scope of the outermost function of the user that is running and looked the function ``key`` up, or
        ``scope``."""
        for frame, at in self._users_frames():
            for named, where in self._named(frames.standing(frame), at, looked_up(frame)):
                if named in (key, f"{key}{OLD}"):
                    return where if named == key else "Default"
        return scope

    def _named(self, function: Standing, at: str, places: Iterable[Place]) -> Iterator[tuple[Any, str]]:
        """Keys of the functions that ``function`` in scope ``at`` has looked up, and the cells that it calls, with the
        scope of each; one that stands in ``Default`` ends like an older form."""
        for node, is_entered in places:
            if not is_entered:
                for key in _called(node, function):
                    yield key, self._first.setdefault(key, at) if isinstance(key, tuple) else at
                continue
            yield from ((key, at) for key in _inside(node, function))
            for entered in _entered(node, function):
                yield from list(self._inside_of(entered, at).items())

    def _inside_of(self, entered: Any, at: str) -> dict[Any, str]:
        """What a cell, a method of a cell, or a function called in scope ``at`` looks up, and what these call; each key
        with its first scope."""
        function, owner = entered if isinstance(entered, tuple) else (None, entered)
        if owner is not None:
            at = scope_of(owner) or at
        else:
            at = self._first.get((function.__code__, 0), at)
        known = function or owner, at
        if known not in self._known:
            found = self._known[known] = {}
            pairs: Iterable[tuple[Any, str]] = ()
            code = inspect.unwrap(type(owner).construct if function is None else function)
            if function is None and hasattr(owner, "cell_list"):  # a SequentialCell: one after the other
                pairs = (pair for inner in owner.cell_list for pair in list(self._inside_of(inner, at).items()))
            elif isinstance(code, FunctionType):
                standing = Standing(code.__code__, code.__globals__, {} if owner is None else {"self": owner})
                places = looked_up_in(standing)
                if not is_users(code.__code__.co_filename):  # operators in a layer here need not be there
                    places = (place for place in places if isinstance(place[0], ast.Call))
                pairs = self._named(standing, at, places)
            for key, scope in pairs:
                found.setdefault(key, scope)
        return self._known[known]

    def _users_frames(self) -> Iterator[tuple[Frame, str]]:
        """The functions of the user that are running, and the scope of each, outermost first."""
        at = "Default"
        for frame, _ in running(self._stop):
            if frames.code_of(frame).co_name == "construct":
                at = scope_of(frames.owner_of(frame)) or at
            else:
                at = self._scopes.get(function_key(frame), at)
            if is_users(frames.file_of(frame)):
                yield frame, at

    def leave(self) -> None:
        """Releases the frames; nothing is traced after this."""
        self._stop = None


def _is_of_global_name(stop: Frame | None) -> bool:
    """Whether the user's function that is running indexes a variable whose name its module has, too."""
    calling = [frame for frame, call in running(stop) if call is None]
    if not calling or not is_users(frames.file_of(calling[-1])):
        return False
    frame = calling[-1]
    tree = function_of(frames.code_of(frame))
    line, line_end, column, column_end = frames.span_of(frame)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            place = node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
            if place == (line, line_end, column, column_end):
                return frames.globals_of(frame).get(node.value.id) is not None
    return False


def _called(node: ast.expr, function: Standing) -> Iterator[Any]:
    """Keys of the function that is called, by name and by code."""
    found = _value(node.func, function) if isinstance(node, ast.Call) else None
    code = getattr(found, "__code__", None)
    key = graph_key(found)
    if key not in METHODS:
        yield key
    if isinstance(code, CodeType):
        yield code, 0


def _entered(node: ast.expr, function: Standing) -> list[Any]:
    """What ``node`` calls: a cell that is an attribute of ``self`` or of its cells, each cell of a list that a ``for``
    goes over, or a function of the user's with the cell whose method it is (None: none)."""
    if not isinstance(node, ast.Call):
        return []
    if isinstance(node.func, ast.Name):
        called = _value(node.func, function) or _written_in(function, node.func.id)
        return [(called, None)] if _is_users_function(called) else _turns(node.func.id, function)
    found = _attribute(node.func, function)
    if found is None and isinstance(node.func, ast.Attribute):
        owner = _attribute(node.func.value, function)
        method = getattr(type(owner), node.func.attr, None)
        return [(method, owner)] if _is_users_function(method) else []
    return [] if found is None else [found]


def _written_in(function: Standing, name: str) -> FunctionType | None:
    """The function ``name`` that is written inside the function of ``frame``; it need not have been made yet."""
    for code in function.code.co_consts:
        if isinstance(code, CodeType) and code.co_name == name:
            return FunctionType(code, function.module, closure=tuple(CellType() for _ in code.co_freevars))
    return None


def _is_users_function(found: Any) -> bool:
    """Whether a graph may go on in ``found``: not in that of an installed package."""
    name = found.__code__.co_filename if isinstance(found, FunctionType) else ""
    return bool(name) and is_users(name) and "site-packages" not in name


def _attribute(node: ast.expr, function: Standing) -> Any:
    """The cell that ``self`` or ``self.a.b`` is; None for anything else."""
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    if not (isinstance(node, ast.Name) and node.id == "self"):
        return None
    found = function.names.get("self")
    for name in reversed(path):
        found = cells_of(found).get(name)
    return found


def _turns(name: str, function: Standing) -> list[Any]:
    """The cells that a variable of a ``for`` stands for, one after the other."""
    tree = function_of(function.code)
    for loop in ast.walk(tree) if tree is not None else ():
        if isinstance(loop, ast.For):
            over = _over(name, loop.target, loop.iter)
            if over is not None:
                return [*cells_of(_attribute(over, function)).values()]
    return []


def _over(name: str, target: ast.expr, iterated: ast.expr) -> ast.expr | None:
    """What ``name`` goes over in ``for target in iterated``, through ``zip`` and ``enumerate``."""
    if isinstance(target, ast.Name):
        return iterated if target.id == name else None
    if not (isinstance(target, ast.Tuple) and isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name)):
        return None
    over: list[ast.expr | None] = [*iterated.args]
    if iterated.func.id == "enumerate":
        over = [None, *over]
    for part, each in zip(target.elts, over, strict=False):
        if each is not None and (found := _over(name, part, each)) is not None:
            return found
    return None


def _inside(node: ast.expr, function: Standing) -> Iterator[str]:
    """The function of ``ops`` that the function, the method or the operator ``node`` calls consists of."""
    key, keywords = None, list[str]()
    if isinstance(node, ast.Call):
        keywords = [k.arg or "" for k in node.keywords]
        key = graph_key(_value(node.func, function)) or _method(node.func, function)
    elif isinstance(node, ast.Attribute):
        key = _method(node, function)
    elif isinstance(node, (ast.BinOp, ast.UnaryOp)) and any(isinstance(n, ast.Name) for n in ast.walk(node)):
        key = _OPERATORS.get(type(node.op))
    elif isinstance(node, ast.Compare):
        key = _OPERATORS.get(type(node.ops[0]))
    yield from CONSISTING.get((key or "").rpartition(".")[2], ())
    is_direct = key is not None and key.removeprefix("Tensor.") in _DIRECT and not keywords
    is_direct |= _has_flag(node) and (key or "").removeprefix("Tensor.") in DIRECT_WITH_FLAG
    if key in METHODS and not is_direct and not any(_is_size(part) for part in ast.walk(node)):
        yield METHODS[key] + (OLD if is_older(key, keywords) else "")
    elif key is not None and not is_direct and isinstance(node, ast.Call) and _is_own_function(key):
        yield key + (OLD if is_older(key, keywords) else "")


_DIRECT = frozenset(row.name for row in DIRECT_METHODS)
_OPERATORS: dict[type, str] = {ast.Add: "Tensor.__add__", ast.USub: "Tensor.__neg__", ast.Gt: "Tensor.__gt__"}


def _is_own_function(key: str) -> bool:
    """Whether ``key`` is that of a method which is a function of its own."""
    owner, _, name = key.partition(".")
    return owner == "Tensor" and graph_key(getattr(Tensor, name, None)) == key


def _has_flag(node: ast.expr) -> bool:
    """Whether a call has two arguments, by position, and the second is a bool."""
    given = node.args[1:] if isinstance(node, ast.Call) and not node.keywords else []
    return len(given) == 1 and isinstance(given[0], ast.Constant) and isinstance(given[0].value, bool)


def _is_size(node: ast.AST) -> bool:
    """Whether an expression is about shapes: its sums are numbers, not tensors."""
    return isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim", "size")


def _method(node: ast.expr, function: Standing) -> str | None:
    """The key of a method of what is taken for a tensor: anything but a module and the cell itself."""
    if not isinstance(node, ast.Attribute) or (isinstance(node.value, ast.Name) and node.value.id == "self"):
        return None
    return None if isinstance(_value(node.value, function), type(ast)) else f"Tensor.{node.attr}"


def _value(node: ast.expr, function: Standing) -> Any:
    """What a name, or an attribute of a module, stands for; None for anything else."""
    if isinstance(node, ast.Name):
        return None if node.id in function.names else function.module.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, function)
        return getattr(owner, node.attr, None) if isinstance(owner, type(ast)) else None
    return None
