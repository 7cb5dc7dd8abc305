"""The arguments of operators that are no tensors, by the names of their schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from harness.capture.torch.collectives import SPACES, UNSAID, spelled
from harness.records import Array

#: The name of the text that lists all arguments but floating-point numbers, one in a line.
SETTINGS = "settings"
#: The text where all arguments have the schema's defaults.
DEFAULTS = "defaults"
#: Where and how memory lies, and what a call is for: a run on another device has other ones and the same numbers.
_PLACES = frozenset({"device", "generator", "layout", "non_blocking", "out", "output_mask", "pin_memory"})
#: They only lay values out; their outputs have all that these arguments say.
_LAYOUTS = frozenset({"_unsafe_view", "_reshape_alias", "view_copy", "expand_copy"})
_WORDS = (bool, int, str, torch.dtype, torch.memory_format)
#: one argument: its name, and what it is
Scalar = tuple[str, Any]


class Signature:
    """The arguments of one overload that are no tensors.

    Args:
        function: the function that ``__torch_dispatch__`` receives.
    """

    def __init__(self, function: Any) -> None:
        schema = getattr(function, "_schema", None)  # operators of higher order have none
        self._listed: list[tuple[int, str, Any]] = []
        #: places of tensors, where a program may give a number (``x * 0.5``)
        self._tensors: list[tuple[int, str]] = []
        #: whether there is a text even where everything in it is a default
        self._has_text = False
        self._known: dict[tuple[Any, ...], list[Scalar]] = {}
        self._collective = False
        if schema is None or is_view(schema):
            return
        self._collective = schema.name.partition("::")[0] in SPACES
        for at, argument in enumerate(schema.arguments):
            if str(argument.type) == "Tensor" and not self._collective:
                self._tensors.append((at, argument.name))
            unsaid = UNSAID if self._collective else _PLACES
            if "Tensor" not in str(argument.type) and argument.name not in unsaid:
                default = argument.default_value if argument.has_default_value() else _NONE
                self._listed.append((at, argument.name, default))
                of_text = "float" not in str(argument.type) and "number" not in str(argument.type)
                self._has_text = self._has_text or (of_text and default is not None)

    def given(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Scalar]:
        """The arguments that are given and are not the schema's defaults: floating-point numbers as float64 arrays,
        all others in one text, which is there for all calls of an operator or for none. A number in a tensor's place
        is an array, too."""
        if not self._listed and not self._tensors:
            return []
        key = self._key(args, kwargs)
        found = self._known.get(key) if key is not None else None
        if found is None:
            found = self._made(args, kwargs)
            if key is not None and len(self._known) < _REMEMBERED:
                self._known[key] = found
        return found

    def _key(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """What decides what ``given`` gives: the same calls come in every layer of every step. None if that cannot be
        told. Equal numbers of two types differ, and so do both zeros."""
        if self._collective:
            return None  # a group's name may stand for another group later
        made: list[Any] = []
        for at, name in self._tensors:
            value = args[at] if at < len(args) else kwargs.get(name)
            if isinstance(value, (bool, int, float, complex)):
                made += (name, repr(value))
        for at, name, default in self._listed:
            value = args[at] if at < len(args) else kwargs.get(name, default)
            if value is default or value is None:
                made.append(value is None)
            elif type(value) in _TOLD:
                made.append(repr(value))
            else:
                return None
            if name in ("dim", "dims") and args and isinstance(args[0], torch.Tensor):
                made.append(args[0].dim())
        return tuple(made)

    def _made(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Scalar]:
        numbers: list[Scalar] = []
        for at, name in self._tensors:
            value = args[at] if at < len(args) else kwargs.get(name)
            if isinstance(value, (bool, int, float, complex)):
                numbers.append((name, np.asarray(value)))
        texts: list[str] = []
        for at, name, default in self._listed:
            value = args[at] if at < len(args) else kwargs.get(name, default)
            if value is None or value is default or (type(value) is type(default) and value == default):
                continue
            kept = classified(value)
            if self._collective and (said := spelled(name, value)) is not None:
                name, kept = said
            if isinstance(kept, str):
                if name in ("dim", "dims") and args and isinstance(args[0], torch.Tensor):
                    kept = classified(_from_front(value, args[0].dim()))
                texts.append(f"{name}={kept}")
            elif kept is not None:
                numbers.append((name, kept))
        if self._has_text or texts:
            numbers.append((SETTINGS, "\n".join(texts) or DEFAULTS))
        return numbers


_NONE = object()
#: Calls of one operator with other arguments that are remembered.
_REMEMBERED = 1024
#: Types whose text tells one value from any other.
_TOLD = frozenset({bool, int, float, complex, str, list, tuple, torch.dtype, torch.memory_format})


def is_view(schema: Any) -> bool:
    """Whether it gives a view of what it is given."""
    plain = schema.name.rpartition("::")[2]
    views = (each.alias_info is not None and not each.alias_info.is_write for each in schema.returns)
    return plain in _LAYOUTS or any(views)


def classified(value: Any) -> Array | str | None:
    """A floating-point number, or a list with one, as an array; a bool, whole number, text or dtype, or a list of
    them, as text; None for anything else."""
    if isinstance(value, (float, complex)):
        return np.asarray(value)
    if isinstance(value, _WORDS):
        return str(value)
    if isinstance(value, (list, tuple)) and value:
        if all(isinstance(each, (bool, int, float)) for each in value):
            return np.asarray(value, np.float64) if any(isinstance(each, float) for each in value) else str([*value])
        return str([*map(str, value)]) if all(isinstance(each, _WORDS) for each in value) else None
    return None


def _from_front(value: Any, count: int) -> Any:
    """Axes counted from the front: ``-1`` means the same as the last one."""
    if isinstance(value, (list, tuple)):
        return [_from_front(each, count) for each in value]
    return value + count if type(value) is int and value < 0 else value


def settings_of(optimizer: Any) -> Iterator[Scalar]:
    """The settings of an optimizer's groups in force: ``lr``, of the second group ``lr[1]``."""
    groups = optimizer.param_groups
    texts = []
    for at, group in enumerate(groups):
        end = f"[{at}]" if len(groups) > 1 else ""
        for name, value in sorted(group.items()):
            if name in ("params", "param_names") or name in _HOW or name in _SCHEDULERS - optimizer.defaults.keys():
                continue
            if isinstance(value, torch.Tensor) and value.numel() == 1:
                value = float(value)
            kept = classified(value)
            if isinstance(kept, str):
                texts.append(f"{name}{end}={kept}")
            elif kept is not None:
                yield f"{name}{end}", kept
    if texts:
        yield SETTINGS, "\n".join(texts)


#: How an optimizer computes, not what; the operators say so themselves.
_HOW = frozenset({"foreach", "fused", "capturable", "differentiable"})
#: What schedulers note in groups: what is in force they write to ``lr``, ``momentum`` and ``betas``.
_SCHEDULERS = frozenset({"initial_lr", "max_lr", "min_lr", "base_momentum", "max_momentum", "swa_lr"})


def modes_of(module: Any) -> str:
    """A text that says whether a module is in training, and which modules within it are not in the same state."""
    inside = [(path, each.training) for path, each in module.named_modules() if path]
    other = [(path, flag) for path, flag in inside if flag != module.training]
    return "\n".join(f"{path or '.'}={'train' if flag else 'eval'}" for path, flag in (("", module.training), *other))
