"""Gradients of PyNative mode are those of objects: a tensor that is given for two arguments, or that the function also
takes from around it, has one gradient, of all its uses (measured on MindSpore 2.10.0).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from harness.framework.compile.scopes import tracer
from harness.framework.tensor import Parameter, Tensor


def of_objects(function: Callable[..., Any], args: Sequence[Any]) -> tuple[Callable[..., Any], list[Any]]:
    """A function of each tensor of ``args`` once, whatever tuples it stands in, that calls ``function``; and these."""
    distinct = list({id(tensor): tensor for value in args for tensor in _tensors(value)}.values())
    places = {id(tensor): at for at, tensor in enumerate(distinct)}

    def once(*given: Any) -> Any:
        active = tracer()
        for tensor, value in zip(distinct, given, strict=True):
            if active is not None and value is not tensor:
                active.constants.stand_in(tensor, value.operand)
        return function(*(_put(value, places, given) for value in args))

    return once, distinct


def _is_one(value: Any) -> bool:
    return isinstance(value, Tensor) and not isinstance(value, Parameter)


def _tensors(value: Any) -> Iterator[Tensor]:
    if _is_one(value):
        yield value
    elif type(value) in (tuple, list, dict):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _tensors(member)


def _put(value: Any, places: dict[int, int], given: Sequence[Any]) -> Any:
    if _is_one(value):
        return given[places[id(value)]]
    if type(value) is dict:
        return {key: _put(member, places, given) for key, member in value.items()}
    if type(value) in (tuple, list):
        return type(value)(_put(member, places, given) for member in value)
    return value
