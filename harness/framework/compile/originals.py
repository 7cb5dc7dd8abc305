"""Decorated functions: what their decorators wrapped runs in their place.

MindSpore's parser reads a function's source as ``inspect.getsource`` finds it, which follows ``__wrapped__``: of what a
decorator with ``functools.wraps`` made, only the decorated function is in the graph (measured on MindSpore 2.10.0).
"""

from __future__ import annotations

import ast
import gc
import inspect
import linecache
from types import CodeType, FunctionType

from harness.framework.compile.source import function_of, is_users

#: a name that is not a file of the user's, so that the frame counts for nothing
_FILE = "<frozen original>"


def functions_of(code: CodeType) -> list[FunctionType]:
    """The functions that run ``code``. Python does not search what is set aside from collections (``gc.freeze``), so
    that ends here: a gate does it after its first test, and an ``if`` would be taken as Python takes it."""
    if gc.get_freeze_count():
        gc.unfreeze()
    return [f for f in gc.get_referrers(code) if isinstance(f, FunctionType) and f.__code__ is code]


def wrappers(code: CodeType) -> list[FunctionType]:
    """The functions that run ``code`` and keep what they were made from as ``__wrapped__``."""
    function = function_of(code) if code.co_freevars and is_users(code.co_filename) else None
    if function is None or not (any(isinstance(each, ast.Call) for each in function.decorator_list) or _wraps(code)):
        return []
    return [each for each in functions_of(code) if hasattr(each, "__wrapped__")]


def _wraps(code: CodeType) -> bool:
    """Whether a file calls what sets ``__wrapped__``: no other file's functions are looked for, which takes long."""
    return any("wraps(" in line or "update_wrapper(" in line for line in linecache.getlines(code.co_filename))


def passing_on(function: FunctionType) -> CodeType:
    """Code for ``function`` that gives its arguments to the original, and takes the same names from around it."""
    names = ", ".join(function.__code__.co_freevars)
    text = (
        f"def around({names}):\n def within(*a, **k):\n  original = {_FILE!r}\n  return original(*a, **k)\n  {names}\n"
    )
    code = compile(text, _FILE, "exec", dont_inherit=True)
    for _ in range(2):
        code = next(each for each in code.co_consts if isinstance(each, CodeType))
    original = inspect.unwrap(function)
    return code.replace(co_consts=tuple(original if each == _FILE else each for each in code.co_consts))
