"""The tree of calls that the model debugger of Hugging Face's transformers writes (``*_debug_tree_*.json``).

Tensors are printed in lines, rounded and cut, or lie in ``.safetensors`` files beside it, which are read. Source: what
transformers 5.24 writes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from harness.capture.capture import Problem
from harness.capture.logs.base import DEVIATION, MAX_BYTES, LogReader, Slot, log_reader, shape_of
from harness.capture.named_tensors import safetensors
from harness.errors import TreeError
from harness.reading import read_json, refuse_outside
from harness.records import Record, SlotKey

_SHAPE = re.compile(r"torch\.Size\(\[([\d, ]*)\]\)")
_NUMBER = re.compile(r"tensor\((-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan))\b")
_ITEMS = {"max": "max", "min": "min", "mean": "avg", "std": DEVIATION}
_DEEPEST = 200


@log_reader
class HuggingFace(LogReader):
    """A module is an operator; calls within it come before it, in the order in which they end."""

    name = "hugging-face"
    suffixes = (".json",)
    whole = False

    @classmethod
    def recognises(cls, head: str) -> bool:
        return '"module_path"' in head and '"inputs"' in head

    def records(self, path: str, problems: list[Problem]) -> Iterator[Record]:
        self._printed = 0
        yield from self._node(path, read_json(path, MAX_BYTES, TreeError), 0)
        if self._printed:
            why = f"the values of {self._printed} tensors are printed, rounded and cut: compared were their statistics"
            problems.append(Problem(path, "skipped", why))

    def _node(self, path: str, node: Any, depth: int) -> Iterator[Record]:
        if not isinstance(node, dict) or not isinstance(node.get("module_path"), str) or depth > _DEEPEST:
            raise ValueError("a call has no module_path, or calls are nested too deep")
        name, children = node["module_path"], node.get("children") or []
        if not isinstance(children, list):
            raise ValueError(f"{name[:200]}: its children are no list")
        for child in children:
            yield from self._node(path, child, depth + 1)
        kind = next((each for each in reversed(name.split(".")) if not each.isdecimal()), name)
        execution = self.begins(name)
        for io, field in (("input", "inputs"), ("output", "outputs")):
            for at, (named, leaf) in enumerate(_leaves("", node.get(field), 0)):
                key = SlotKey(0, 0, 0, name, execution, io, at)
                if isinstance(leaf, dict):
                    yield self._tensor(path, key, kind, leaf)
                elif leaf is not None:
                    yield self.argument(key, kind, leaf, named)

    def _tensor(self, path: str, key: SlotKey, kind: str, said: dict[str, Any]) -> Record:
        match = _SHAPE.fullmatch(str(said["shape"]))
        if match is None:
            raise ValueError(f"{key.operator[:200]}: its shape is {str(said['shape'])[:80]!r}")
        numbers = {}
        for field, item in _ITEMS.items():
            if isinstance(text := said.get(field), str) and (found := _NUMBER.match(text)):
                numbers[item] = found[1]
        slot = Slot(key.operator, kind, key.io, key.slot, str(said["dtype"]), shape_of(match[1]), numbers)
        if isinstance(file := said.get("value"), str):
            slot = slot._replace(values=_stored(path, file, slot))
        elif file is not None:
            self._printed += 1
        return self.record(slot, key.execution)


def _leaves(name: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Tensors and texts of nested arguments, in order; keyword arguments with their names."""
    if depth > _DEEPEST:
        raise ValueError("arguments are nested too deep")
    if isinstance(value, list):
        for each in value:
            yield from _leaves(name, each, depth + 1)
    elif isinstance(value, dict) and not {"shape", "dtype"} <= value.keys():
        for key, each in value.items():
            yield from _leaves("" if depth == 0 else key, each, depth + 1)
    else:
        yield name, value


def _stored(path: str, file: str, slot: Slot) -> Any:
    """The tensor of a ``.safetensors`` file beside the tree."""
    name = file.removeprefix("./")
    if os.path.basename(name) != name or "\0" in name:
        raise ValueError(f"{slot.operator[:200]}: {file[:80]!r} does not name a file beside it")
    root = os.path.dirname(os.path.realpath(path))
    place = os.path.join(root, name)
    refuse_outside(place, root, TreeError)
    held = list(safetensors.items(place))
    if len(held) != 1 or held[0].value.shape != slot.shape:  # type: ignore[union-attr]
        raise ValueError(f"{slot.operator[:200]}: {name[:80]} holds no tensor of shape {slot.shape}")
    return held[0].value
