"""Runs one reading of an ATen operator on arrays, and gives its results as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import ml_dtypes
import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from harness.replaying.aten.binding import SCRATCH, Reading, plain_name

Array = np.ndarray[Any, np.dtype[Any]]
#: what PyTorch and numpy raise for arguments that an operator does not accept
REFUSALS = (
    RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError, ArithmeticError, MemoryError,
    AssertionError, NotImplementedError,
)  # fmt: skip
_WIDE = {
    torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}  # fmt: skip
_WORDS = {1: np.uint8, 2: np.uint16}


@dataclass(frozen=True, eq=False)
class Way:
    """A reading with all that a record leaves open.

    Attributes:
        reading: see ``Reading``.
        more: arguments that are not recorded.
        orders: of a slot whose tensor lies otherwise in memory, its axes from the outermost to the innermost.
    """

    reading: Reading
    more: Mapping[str, Any]
    orders: Mapping[int, tuple[int, ...]]


def tensor_of(array: Array, order: Sequence[int] = ()) -> Any:
    """A tensor with an array's values, in memory of its own.

    Args:
        order: its axes as they lie in memory, outermost first; by default as numbered.
    """
    kind = getattr(torch, array.dtype.name, None)
    plain = np.array(array, order="C", copy=True)
    if array.dtype.isbuiltin != 1:
        made = torch.from_numpy(plain.view(_WORDS[array.itemsize])).view(kind)
    else:
        made = torch.from_numpy(plain)
    if order and tuple(order) != tuple(range(array.ndim)):
        back = [list(order).index(axis) for axis in range(array.ndim)]
        made = made.permute(*order).contiguous().permute(*back)
    return made


def array_of(tensor: Any) -> Array:
    """A tensor's values in C order.

    Raises:
        TypeError: numpy has no such dtype.
    """
    plain = tensor.detach()
    if plain.layout is not torch.strided or plain.is_quantized:
        raise TypeError(f"{plain.layout}")
    plain = plain.resolve_conj().resolve_neg().contiguous()
    name = str(plain.dtype).removeprefix("torch.")
    if hasattr(ml_dtypes, name) and not hasattr(np, name):
        words = plain.view(torch.uint8 if plain.element_size() == 1 else torch.uint16)
        found: Array = np.array(words.numpy()).view(getattr(ml_dtypes, name)).reshape(tuple(plain.shape))
        return found
    return np.array(plain.numpy(), order="C", copy=True)


def run(
    way: Way, arrays: Mapping[int, Array], rng: Any = None, wide: bool = False
) -> tuple[list[Array], dict[int, Array]]:
    """The results in the order in which they are recorded, and by slot what was written in place.

    Args:
        way: what is called.
        arrays: the tensors by slot.
        rng: state of PyTorch's generator before the launch; None: as it is.
        wide: compute in float64 or complex128; results are of these dtypes.

    Raises:
        RuntimeError: PyTorch does not accept the arguments, and others of ``REFUSALS``.
    """
    reading = way.reading
    made = {slot: tensor_of(array, way.orders.get(slot, ())) for slot, array in arrays.items()}
    if wide:
        made = {slot: each.to(_WIDE.get(each.dtype, each.dtype)) for slot, each in made.items()}
    args, kwargs = _arguments(way, made, wide)
    with _undisturbed(rng), torch.no_grad(), _disable_current_modes():
        result = reading.overload.function(*args, **kwargs)
    space, name, _ = plain_name(str(reading.overload.function))
    scratch = SCRATCH.get(name) if space == "aten" else None
    if scratch is not None and isinstance(result, (list, tuple)):
        result = [each for at, each in enumerate(result) if at != scratch]
    outputs = list(_tensors(result))
    known = set(map(id, outputs))
    written = {slot: made[slot] for slot in reading.written}
    outputs += [each for each in _written(reading, made) if id(each) not in known]
    while len(outputs) > 1 and not outputs[-1].numel():
        outputs.pop()  # nothing without elements is recorded
    arrays_made = [array_of(each) for each in outputs]
    results = [each if each.size else unrecorded(arrays_made[0]) for each in arrays_made]
    return results, {slot: array_of(each) for slot, each in written.items()}


def unrecorded(first: Array) -> Array:
    """What stands for a result without elements, for which nothing is recorded, beside the first result."""
    return np.empty(0, first.dtype)


def _arguments(way: Way, made: Mapping[int, Any], wide: bool) -> tuple[list[Any], dict[str, Any]]:
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    skipped = False
    given = {**way.reading.filled, **way.more, **way.reading.plain}
    for each in way.reading.overload.parameters:
        if each.name in given:
            value = given[each.name]
            if isinstance(value, np.ndarray):
                value = tensor_of(value)
            if wide and isinstance(value, torch.dtype):
                value = _WIDE.get(value, value)
        elif each.name in way.reading.tensors:
            slots = way.reading.tensors[each.name]
            value = [_at(made, at) for at in slots] if isinstance(slots, tuple) else _at(made, slots)
        else:
            skipped = skipped or not each.keyword
            continue
        if each.keyword or skipped:
            kwargs[each.name] = value
        else:
            args.append(value)
    return args, kwargs


def _at(made: Mapping[int, Any], slot: int | None) -> Any:
    return None if slot is None else made[slot]


def _written(reading: Reading, made: Mapping[int, Any]) -> Iterator[Any]:
    for each in reading.overload.parameters:
        slots = reading.tensors.get(each.name) if each.written else None
        for slot in slots if isinstance(slots, tuple) else (slots,):
            if slot is not None:
                yield made[slot]


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors(each)


@contextmanager
def _undisturbed(rng: Any) -> Iterator[None]:
    """The program's generator goes on as if nothing had been drawn."""
    before = torch.random.get_rng_state()
    try:
        if rng is not None:
            state = rng if isinstance(rng, torch.Tensor) else torch.from_numpy(np.array(rng, np.uint8))
            torch.random.set_rng_state(state)
        yield
    finally:
        torch.random.set_rng_state(before)


def orders_of(ndim: int) -> list[tuple[int, ...]]:
    """The usual ways in which a tensor's axes lie in memory, other than as numbered."""
    if ndim < 2:
        return []
    plain = list(range(ndim))
    swapped = (*plain[:-2], plain[-1], plain[-2])
    found = [swapped]
    if ndim == 3:
        found += [each for each in permutations(range(3)) if each not in (swapped, (0, 1, 2))]
    if ndim >= 4:
        found += [
            (0, 2, 1, *plain[3:]), (0, *plain[2:], 1), tuple(reversed(plain)), (1, 0, *plain[2:]),
        ]  # fmt: skip
    return list(dict.fromkeys(found))
