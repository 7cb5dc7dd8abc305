"""Operators (row 2), and MindSpore's ``ops`` namespace: functions and primitives.

Every module of ``functions`` and ``primitives`` lists in ``__all__`` what it adds to this namespace.
"""

import importlib as _importlib
import pkgutil as _pkgutil

from harness.ops import eager as _eager
from harness.ops import functions as _functions
from harness.ops import primitives as _primitives
from harness.ops.base import OPERATORS, Backward, Call, Operator, operator
from harness.ops.primitive import Primitive

__all__ = ["OPERATORS", "Backward", "Call", "Operator", "Primitive", "operator"]

for _package in (_functions, _primitives):
    for _found in _pkgutil.iter_modules(_package.__path__):
        _module = _importlib.import_module(f"{_package.__name__}.{_found.name}")
        for _name in _module.__all__:
            globals()[_name] = getattr(_module, _name)
            __all__ += [_name]
