"""What a module or function returns: the tensors, arrays, numbers and texts in it, each with its place inside."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Mapping, Set
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch

#: Containers inside containers.
_DEEPEST = 24
_NUMBERS = (bool, int, float, complex, np.generic)
#: Objects that hold no results.
_OPAQUE = (torch.nn.Module, torch.Generator, type, FunctionType, MethodType, ModuleType)

Leaf = tuple[str, Any]


def leaves(value: Any) -> Iterator[Leaf]:
    """The tensors, numpy arrays, numbers and texts in ``value``, each with its path (``.logits``, ``[0]``).

    Containers of Python, dataclasses, and any other object by its attributes (a cache of keys and values). An object
    that holds nothing of this is a leaf itself. A list of numbers of one type is one array.
    """
    yield from _walk(value, "", 0, frozenset())


def arguments(module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Leaf]:
    """The tensors, arrays, numbers and texts that a module is called with, each with its name (``x``, ``batch[0]``)."""
    try:
        given = inspect.signature(module.forward).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        given = {**{f"args[{at}]": each for at, each in enumerate(args)}, **kwargs}
    for name, value in given.items():
        for path, leaf in leaves(value):
            yield f"{name}{path}", leaf


def _walk(value: Any, path: str, depth: int, above: frozenset[int]) -> Iterator[Leaf]:
    if value is None:
        return
    if isinstance(value, (torch.Tensor, np.ndarray, str, bytes, *_NUMBERS)):
        yield path, value
        return
    if isinstance(value, (torch.dtype, torch.device, torch.layout)):
        yield path, str(value)
        return
    if id(value) in above:
        return
    inside = _inside(value) if depth < _DEEPEST else None
    if inside is None:
        yield path, value
        return
    for part, each in inside:
        yield from _walk(each, path + part, depth + 1, above | {id(value)})


def _inside(value: Any) -> list[Leaf] | None:
    """The items of a container with their parts of the path; None if it holds nothing."""
    if isinstance(value, Mapping):
        return [(_key(key), each) for key, each in value.items()]
    if isinstance(value, (list, tuple)):
        if hasattr(value, "_fields"):
            return [(f".{name}", each) for name, each in zip(value._fields, value, strict=True)]
        if len(value) > 1 and type(value[0]) in (bool, int, float) and len(set(map(type, value))) == 1:
            return [("", np.asarray(value))]
        return [(f"[{at}]", each) for at, each in enumerate(value)]
    if isinstance(value, Set):
        return [(f"[{at}]", each) for at, each in enumerate(sorted(value, key=repr))]
    if isinstance(value, _OPAQUE):
        return None
    if dataclasses.is_dataclass(value):
        return [(f".{each.name}", getattr(value, each.name, None)) for each in dataclasses.fields(value)]
    held = _attributes(value)
    return [(f".{name}", each) for name, each in held.items()] or None


def _attributes(value: Any) -> dict[str, Any]:
    """An object's attributes that can hold results; the public ones, or all where these hold nothing."""
    try:
        held = dict(vars(value))
    except TypeError:
        names = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
        held = {name: getattr(value, name) for name in names if isinstance(name, str) and hasattr(value, name)}
    kept = {name: each for name, each in held.items() if not isinstance(each, _OPAQUE)}
    return {name: each for name, each in kept.items() if not name.startswith("_")} or kept


def _key(key: Any) -> str:
    if isinstance(key, str) and key.isidentifier():
        return f".{key}"
    return f"[{key!r}]".replace("/", "|")  # a slash parts scopes
