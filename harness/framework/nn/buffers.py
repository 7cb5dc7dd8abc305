"""Buffers of cells: tensors that are part of a cell's state, but no parameters; and a cell's state as a dict.

Source: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from harness.errors import CellAttributeError, SettingTypeError
from harness.framework.nn import naming
from harness.framework.tensor import Tensor


class IncompatibleKeys(NamedTuple):
    """What ``load_state_dict`` did not find in the dict, and in the cell."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Buffers:
    """The part of ``Cell`` that is about buffers and state."""

    _buffers: OrderedDict[str, Tensor | None]
    _passing_buffers: set[str]

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Attaches a tensor that is no parameter; only a ``persistent`` one is part of ``state_dict``.

        Raises:
            KeyError: the name is empty, has a dot, or is taken.
            TypeError: ``name`` is no str, or ``tensor`` neither a Tensor nor None.
        """
        if not isinstance(name, str):
            raise TypeError(f"register_buffer: the name must be a str, got {type(name).__name__}")
        if not name or "." in name:
            raise KeyError(f"register_buffer: the name must not be empty or have a dot, got {name!r}")
        if name not in self._buffers and hasattr(self, name):
            raise KeyError(f"register_buffer: {type(self).__name__} has an attribute {name!r} already")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"register_buffer: a Tensor or None is needed for {name!r}, got {type(tensor).__name__}")
        self._buffers[name] = tensor
        (self._passing_buffers.discard if persistent else self._passing_buffers.add)(name)

    def _refuse_buffer(self, name: str, value: Any) -> None:
        """Takes None for a buffer; ``TypeError`` for anything else."""
        if value is not None:
            raise SettingTypeError(
                f"{type(self).__name__}.{name} is a buffer: assign to it with ops.assign or .{name}[...] = value, or "
                f"register it again; a {type(value).__name__} cannot take its place"
            )
        self._buffers[name] = None

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers that are tensors, with their paths; each cell is looked at once."""
        seen: set[int] = set()
        cell: Any = self
        for place, owner in naming.walk(cell, prefix) if recurse else [(prefix, cell)]:
            for name, tensor in owner._buffers.items():
                if tensor is not None and not (remove_duplicate and id(tensor) in seen):
                    seen.add(id(tensor))
                    yield naming.path(place, name), tensor

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers that are tensors."""
        return (tensor for _, tensor in self.named_buffers(recurse=recurse))

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path (``body.mean``); ``CellAttributeError`` if there is none."""
        place, _, name = target.rpartition(".")
        owner = self.get_sub_cell(place)
        found = getattr(owner, name)
        if name not in owner._buffers:
            raise CellAttributeError(f"{type(owner).__name__}.{name} is not a buffer")
        return found  # type: ignore[no-any-return]

    def get_sub_cell(self, target: str) -> Any:
        """The cell at a path; this one at an empty path; ``CellAttributeError`` if there is none."""
        owner: Any = self
        for name in target.split(".") if target else ():
            child = getattr(owner, name)
            if name not in owner._cells:
                raise CellAttributeError(f"{type(owner).__name__}.{name} is not a Cell")
            owner = child
        return owner

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Parameters and persistent buffers by path: of each cell its parameters, its buffers, then its children.

        Args:
            args: the three settings by position.
            destination: an OrderedDict (by position any dict) that they are added to, and that is given back.
            prefix: stands in front of each path.
            keep_vars: kept; the dict holds the parameters themselves anyway (measured).
        """
        given: list[Any] = [*args, *[destination, prefix, keep_vars][len(args) :]]
        found, prefix, keep_vars = given
        found = OrderedDict() if found is None else found
        for value, kind in ((found, Mapping), (prefix, str), (keep_vars, bool)):
            if not isinstance(value, kind):
                raise SettingTypeError(f"state_dict: a {kind.__name__} is needed, got {type(value).__name__} {value!r}")
        cell: Any = self
        for name, tensor in (*cell._params.items(), *self._buffers.items()):
            if tensor is not None and name not in self._passing_buffers:
                found[prefix + name] = tensor
        for name, child in cell._cells.items():
            if child is not None:
                child.state_dict(found, f"{prefix}{name}.")
        return found

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> IncompatibleKeys:
        """Takes over the values of a dict that ``state_dict`` gave.

        Raises:
            TypeError: it is no dict.
            RuntimeError: a shape differs; with ``strict`` also if a name is missing or unknown.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"load_state_dict: a dict is needed, got {type(state_dict).__name__}")
        own = self.state_dict()
        keys = IncompatibleKeys([k for k in own if k not in state_dict], [k for k in state_dict if k not in own])
        wrong = [f"size mismatch for {k}" for k in own if k in state_dict and own[k].shape != state_dict[k].shape]
        if strict:
            wrong += [f"missing: {k}" for k in keys.missing_keys] + [f"unexpected: {k}" for k in keys.unexpected_keys]
        if wrong:
            raise RuntimeError(f"load_state_dict for {type(self).__name__}: {'; '.join(wrong)}")
        for name, value in state_dict.items():
            if name in own:
                own[name].asnumpy()[...] = value.asnumpy()
        return keys
