"""Operators (row 2), and MindSpore's ``ops`` namespace of functions and primitives.

Every module of ``functions`` and ``primitives`` lists in ``__all__`` what it adds to this namespace.
"""

import functools as _functools
import importlib as _importlib
import pkgutil as _pkgutil
from collections.abc import Callable as _Callable

from harness import hooks as _hooks
from harness.framework import kinds as _kinds
from harness.framework import observed as _observed
from harness.framework.names import complete as _complete
from harness.framework.names import lookup as _lookup
from harness.framework.ops import eager as _eager  # noqa: F401 - installs the default dispatcher
from harness.framework.ops import functions as _functions
from harness.framework.ops import primitives as _primitives
from harness.framework.ops.base import OPERATORS, Backward, Call, Operator, operator
from harness.framework.ops.primitive import Primitive
from harness.framework.tensor import Parameter as _Parameter
from harness.framework.tensor import Tensor as _Tensor
from harness.framework.tensor import bring_all as _bring_all
from harness.framework.tensor import graph_function as _graph_function

__all__ = ["OPERATORS", "Backward", "Call", "Operator", "Primitive", "operator"]

#: control flow: these are not MindSpore's functions
_CONTROL = frozenset({"cond", "while_loop"})
_DIRECT = frozenset(row.name for row in _observed.DIRECT_FUNCTIONS)
_UNSHARED = frozenset(row.name for row in _observed.UNSHARED_FUNCTIONS)
_PRIMITIVES = frozenset(row.name for row in _observed.PRIMITIVE_FUNCTIONS)


def _by_keyword(member: _Callable[..., object], function: _Callable[..., object]) -> _Callable[..., object]:
    """``function`` where it is called with a keyword, else ``member``."""

    @_functools.wraps(member)
    def called(*args: object, **kwargs: object) -> object:
        return (function if kwargs else member)(*args, **kwargs)

    return called


for _package in (_functions, _primitives):
    for _found in _pkgutil.iter_modules(_package.__path__):
        _module = _importlib.import_module(f"{_package.__name__}.{_found.name}")
        _members = {_name: getattr(_module, _name) for _name in _module.__all__}
        _kinds.guard_all("ops", _members)
        _bring_all("ops", _members)
        for _name, _member in _members.items():
            if _name in _PRIMITIVES:
                _member = _by_keyword(_member, _graph_function(f"ops.{_name}", _member, keywords=True))
            elif _package is _functions and callable(_member):
                _shared = _name not in _DIRECT | _CONTROL | _UNSHARED
                _member = _graph_function(f"ops.{_name}", _member, _shared, _name in _DIRECT)
            globals()[_name] = _member
            __all__ += [_name]


def __getattr__(name: str) -> object:
    """``GradOperation``, ``grad`` and the like: MindSpore lists them here; their code is with graphs."""
    if name in ("GradOperation", "get_grad", "grad", "value_and_grad"):
        return getattr(_hooks.provided("transforms"), name)
    return _lookup("ops", name)


_complete(_Tensor)
_complete(_Parameter)
