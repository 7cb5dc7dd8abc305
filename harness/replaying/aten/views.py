"""The arguments of an operator that gives a view, which are not recorded, from what it was given and what it gave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations, product
from math import prod
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Arguments = dict[str, Any]

#: arguments that are tried for one record
_MOST = 4000
_STEPS = (1, 2, 3, 4)


def solutions(name: str, given: Array, made: Sequence[Array], most: int = 2) -> list[Arguments]:
    """The arguments with which a view of ``given`` is ``made``, at most ``most``: of two, one alone is right.

    Args:
        name: of the operator: ``transpose``, ``slice``.
    """
    solve = _SOLVERS.get(name)
    if solve is None or not made:
        return []
    found: list[Arguments] = []
    seen: set[tuple[bytes, ...]] = set()
    places = np.arange(given.size).reshape(given.shape)
    for tried, ((arguments, results), (_, moved)) in enumerate(
        zip(solve(given, made), solve(places, made), strict=True)
    ):
        if tried >= _MOST:
            return []  # nobody knows whether another one fits
        if len(results) != len(made) or not all(map(_equal, results, made)):
            continue
        place = tuple(each.tobytes() for each in moved)
        if place not in seen:  # along axes of length 1, several arguments say the same
            seen.add(place)
            found.append(arguments)
            if len(found) >= most:
                break
    return found


def _equal(one: Array, other: Array) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()


_Tries = Iterator[tuple[Arguments, list[Array]]]


def _transpose(given: Array, made: Sequence[Array]) -> _Tries:
    for one, other in combinations(range(given.ndim), 2):
        yield {"dim0": one, "dim1": other}, [given.swapaxes(one, other)]


def _permute(given: Array, made: Sequence[Array]) -> _Tries:
    shape = made[0].shape
    for dims in permutations(range(given.ndim)):
        if tuple(given.shape[axis] for axis in dims) == shape:
            yield {"dims": list(dims)}, [given.transpose(dims)]


def _t(given: Array, made: Sequence[Array]) -> _Tries:
    yield {}, [given.T]


def _unsqueeze(given: Array, made: Sequence[Array]) -> _Tries:
    for dim in range(given.ndim + 1):
        yield {"dim": dim}, [np.expand_dims(given, dim)]


def _squeeze(given: Array, made: Sequence[Array]) -> _Tries:
    for dim in range(given.ndim):
        if given.shape[dim] == 1:
            yield {"dim": dim}, [given.squeeze(dim)]


def _select(given: Array, made: Sequence[Array]) -> _Tries:
    for dim in range(given.ndim):
        if (*given.shape[:dim], *given.shape[dim + 1 :]) == made[0].shape:
            for index in range(given.shape[dim]):
                yield {"dim": dim, "index": index}, [np.take(given, index, dim)]


def _slice(given: Array, made: Sequence[Array]) -> _Tries:
    wanted = made[0].shape
    if len(wanted) != given.ndim:
        return
    apart = [dim for dim in range(given.ndim) if wanted[dim] != given.shape[dim]]
    if not apart:  # the whole of it
        yield {}, [given]
        return
    if len(apart) > 1:
        return
    (dim,) = apart
    length, count = given.shape[dim], wanted[dim]
    for step, start in product(_STEPS, range(length)):
        end = start + step * (count - 1) + 1
        if end <= length:
            place = tuple(slice(start, end, step) if axis == dim else slice(None) for axis in range(given.ndim))
            yield {"dim": dim, "start": start, "end": end, "step": step}, [given[place]]


def _split(given: Array, made: Sequence[Array]) -> _Tries:
    for dim in range(given.ndim):
        for size in range(1, given.shape[dim] + 1):
            if -(-given.shape[dim] // size) == len(made):
                places = list(range(size, given.shape[dim], size))
                yield {"split_size": size, "dim": dim}, np.split(given, places, dim)


def _split_with_sizes(given: Array, made: Sequence[Array]) -> _Tries:
    for dim in range(given.ndim):
        if all(each.ndim == given.ndim for each in made):
            sizes = [each.shape[dim] for each in made]
            if sum(sizes) == given.shape[dim]:
                places = np.cumsum(sizes)[:-1].tolist()
                yield {"split_sizes": sizes, "dim": dim}, np.split(given, places, dim)


def _unbind(given: Array, made: Sequence[Array]) -> _Tries:
    for dim in range(given.ndim):
        yield {"dim": dim}, [np.take(given, at, dim) for at in range(given.shape[dim])]


def _size(given: Array, made: Sequence[Array]) -> _Tries:
    if given.size == prod(made[0].shape):
        yield {"size": list(made[0].shape)}, [given.reshape(made[0].shape)]


def _expand(given: Array, made: Sequence[Array]) -> _Tries:
    try:
        yield {"size": list(made[0].shape)}, [np.broadcast_to(given, made[0].shape)]
    except ValueError:
        return


_SOLVERS: dict[str, Callable[[Array, Sequence[Array]], _Tries]] = {
    "transpose": _transpose, "permute": _permute, "t": _t, "unsqueeze": _unsqueeze, "squeeze": _squeeze,
    "select": _select, "slice": _slice, "split": _split, "split_with_sizes": _split_with_sizes, "unbind": _unbind,
    "view": _size, "_unsafe_view": _size, "_reshape_alias": _size, "expand": _expand, "expand_copy": _expand,
    "view_copy": _size,
}  # fmt: skip
