"""How modules are configured (``eps``, ``p``, ``stride``), and the state of generators of random numbers."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import torch
import xxhash

#: They say how something is computed, or where, not what.
_HOW = frozenset({"inplace", "device", "training", "self", "args", "kwargs"})
#: Characters of a text, and items of a list, that may be a setting.
_LONGEST = 64
_PLAIN = (bool, int, float, complex)


def configuration_of(module: Any) -> dict[str, dict[str, Any]]:
    """The settings of each module within ``module`` that has some, by its path (``.`` is the module itself): its public
    attributes that bear the names of what its class is made with, as far as they are numbers, short texts, dtypes, or
    lists of these. Sizes that its own parameters show, and what has no effect in evaluation, are left out."""
    found = {}
    for path, each in module.named_modules():
        if held := dict(_settings(each)):
            found[path or "."] = held
    return found


def _settings(module: Any) -> Iterator[tuple[str, Any]]:
    idle = isinstance(module, torch.nn.modules.dropout._DropoutNd) and not module.training
    held = vars(module)
    sizes: set[int] | None = None
    for name in () if idle else _names(type(module)):  # type: ignore[arg-type]
        value = held.get(name, _HOW)
        if value is _HOW or (kept := _plain(value)) is _HOW:
            continue
        if type(value) is int or (isinstance(value, tuple) and all(type(each) is int for each in value)):
            if sizes is None:
                own = module.parameters(recurse=False)
                sizes = {size for each in own if not torch.nn.parameter.is_lazy(each) for size in each.shape}
            if sizes.issuperset(value if isinstance(value, tuple) else (value,)):
                continue
        yield name, kept


@cache
def _names(kind: type) -> tuple[str, ...]:
    """What a class of modules is made with, and what it calls its constants."""
    names = set(getattr(kind, "__constants__", ()))
    for each in kind.__mro__:
        if "__init__" in vars(each) and each is not torch.nn.Module and each is not object:
            try:
                names.update(inspect.signature(vars(each)["__init__"]).parameters)
            except (TypeError, ValueError):
                continue
    return tuple(sorted(name for name in names - _HOW if isinstance(name, str) and not name.startswith("_")))


def _plain(value: Any) -> Any:
    """A setting as a capture keeps it; ``_HOW`` for anything else."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, str):
        return value if len(value) <= _LONGEST and os.sep not in value else _HOW
    if isinstance(value, (torch.dtype, torch.memory_format)):
        return str(value)
    if isinstance(value, (list, tuple)) and 0 < len(value) <= _LONGEST:
        kept = tuple(map(_plain, value))
        return _HOW if any(each is _HOW for each in kept) else kept
    return _HOW


def state_of(generator: Any) -> str:
    """A generator's seed and state: equal ones draw the same numbers. On a device the state is seed and offset."""
    state = generator.get_state()
    if state.numel() <= 16:
        seed, offset = state.view(torch.int64).tolist()
        return f"seed={seed} offset={offset}"
    return f"seed={generator.initial_seed()} state={xxhash.xxh3_64_hexdigest(state.numpy().data)}"
