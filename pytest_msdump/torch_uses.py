"""Which PyTorch modules a function uses: those it is bound to, closes over, is given, or names."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

#: Functions within functions, and objects within objects.
_DEEPEST = 4
#: functions that are looked into
_MOST = 200
_PLAIN = (str, bytes, int, float, complex, type, ModuleType, CodeType)

Named = tuple[str, Any]


def torch() -> Any:
    """PyTorch, if something has imported it whole; else None."""
    found = sys.modules.get("torch")
    return found if found is not None and hasattr(found, "nn") else None


def is_module(value: object) -> bool:
    """Whether ``value`` is a ``torch.nn.Module``; PyTorch must have been imported to make one."""
    loaded = torch()
    return loaded is not None and isinstance(value, loaded.nn.Module)


def modules_of(function: Any, given: Iterable[Any] = ()) -> dict[str, Any]:
    """The modules that ``function`` uses or is given, by the names they have there; without those inside others."""
    found: dict[str, Any] = {}
    for name, module in _modules("", function, 0, set()):
        found.setdefault(name or "module", module)
    for at, each in enumerate(given):
        for name, module in _modules(f"input{at}", each, 0, set()):
            found.setdefault(name, module)
    inside = {id(each) for module in found.values() for each in module.modules() if each is not module}
    outer: dict[int, Named] = {}
    for name, module in found.items():
        if id(module) not in inside:
            outer.setdefault(id(module), (name, module))
    return dict(outer.values())


def is_torchs(function: Any, given: Iterable[Any]) -> bool:
    """Whether a function without modules computes with PyTorch: it names PyTorch or is given its tensors, and names no
    cell."""
    named = [value for _, value in _within(function)]
    if any(not {"harness", "mindspore"}.isdisjoint(_packages(value)) for value in named):
        return False
    return any("torch" in _packages(value) for value in (*named, *given))


def uses_fixture(function: Any) -> bool:
    """Whether a function refers to the fixture ``msdump``: it says itself what is captured."""
    return any(type(value).__name__ == "Msdump" and "pytest_msdump" in _packages(value) for value in _reached(function))


def _reached(function: Any) -> list[Any]:
    """What a function refers to, and the functions that it refers to."""
    found: list[Any] = []
    waiting, seen = [function], set[int]()
    while waiting and len(seen) < _MOST:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        inside = [value for _, value in _within(each)]
        found += inside
        waiting += [value for value in inside if isinstance(value, (FunctionType, MethodType, partial))]
    return found


def _packages(value: Any) -> set[str]:
    """The packages that a module, a class and those above it, or an object's class come from."""
    kind = value if isinstance(value, type) else type(value)
    names = [getattr(each, "__module__", "") for each in kind.__mro__]
    if isinstance(value, ModuleType):
        names = [value.__name__]
    elif not isinstance(value, type):
        names.append(getattr(value, "__module__", None) or "")
    return {name.partition(".")[0] for name in names if isinstance(name, str)}


def _modules(name: str, value: Any, depth: int, seen: set[int]) -> Iterator[Named]:
    if depth > _DEEPEST or isinstance(value, _PLAIN) or id(value) in seen:
        return
    seen.add(id(value))
    if is_module(value):
        yield name, value
        return
    for inner, each in _within(value):
        yield from _modules(inner, each, depth + 1, seen)


def _within(value: Any) -> list[Named]:
    """What a function refers to, or what an object holds."""
    if isinstance(value, partial):
        given = [(f"input{at}", each) for at, each in enumerate(value.args)]
        return [("", value.func), *given, *value.keywords.items()]
    if isinstance(value, MethodType):
        return [("", value.__self__), *_of_function(value.__func__)]
    if isinstance(value, FunctionType):
        return _of_function(value)
    if isinstance(value, Mapping):
        return [(str(name), each) for name, each in value.items()]
    if isinstance(value, (list, tuple)):
        return [(str(at), each) for at, each in enumerate(value)]
    held = getattr(value, "__dict__", None)
    own = {"torch", "numpy", "pytest_msdump"}.isdisjoint(_packages(value))
    return list(held.items()) if own and isinstance(held, dict) else []


def _of_function(function: Any) -> list[Named]:
    wrapped = getattr(function, "__wrapped__", None)
    code = getattr(function, "__code__", None)
    if code is None:
        return [] if wrapped is None else [("", wrapped)]
    found: list[Named] = []
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        try:
            found.append((name, cell.cell_contents))
        except ValueError:  # empty as yet
            continue
    names = _names(code)
    found += [(name, function.__globals__[name]) for name in names if name in function.__globals__]
    return found + ([] if wrapped is None else [("", wrapped)])


def _names(code: CodeType) -> list[str]:
    """The names that a function and the functions inside it refer to."""
    names = dict.fromkeys(code.co_names)
    for each in code.co_consts:
        if isinstance(each, CodeType):
            names.update(dict.fromkeys(_names(each)))
    return list(names)
