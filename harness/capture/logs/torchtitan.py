"""torchtitan's activation logs (``rank_N_activations.log``): a block of lines for each operator.

Source: what its public tracer writes; tested with that program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.capture.capture import Problem
from harness.capture.logs.base import L1_NORM, LogReader, Slot, log_reader, shape_of, text_of
from harness.records import Record, SlotKey

_HEADER = re.compile(r"\[([^\]\n]*/op_\d+_([^\]\n]+))\]\s*")
_BEGINS = re.compile(r"^\[[^\]\n]*/op_\d+_[^\]\n]+\]", re.MULTILINE)
_SHAPE = re.compile(r"torch\.Size\(\[([\d, ]*)\]\)(?:, Dtype: (torch\.\w+))?")
_ITEMS = {"L1 norm": L1_NORM, "L2 norm": "l2norm", "Min": "min", "Max": "max", "Mean": "avg"}
_HASH, _INPUTS = "Output hash", "Input hashes"
#: Written by releases before dtypes were stated: statistics are those of float32 whatever the tensor was.
_UNSTATED = "torch.float32"


@log_reader
class TorchTitan(LogReader):
    """Seven digits of each number."""

    name = "torchtitan"
    suffixes = (".log", ".txt")
    whole = False

    @classmethod
    def recognises(cls, head: str) -> bool:
        return _BEGINS.search(head) is not None

    def records(self, path: str, problems: list[Problem]) -> Iterator[Record]:
        unstated = 0
        for name, kind, fields in _blocks(text_of(path)):
            match = _SHAPE.fullmatch(fields.get("Shape", "torch.Size([])"))
            if match is None:
                raise ValueError(f"{name[:200]}: its shape is {fields['Shape'][:80]!r}")
            unstated += match[2] is None
            numbers = {item: fields[field] for field, item in _ITEMS.items() if field in fields}
            if _HASH in fields:
                numbers[L1_NORM] = fields[_HASH]
            execution = self.begins(name)
            for at, text in enumerate(fields[_INPUTS].split(",") if _INPUTS in fields else ()):
                key = SlotKey(0, 0, 0, name, execution, "input", at)
                yield self.argument(key, kind, _number(name, text), L1_NORM)
            yield self.record(
                Slot(name, kind, "output", 0, match[2] or _UNSTATED, shape_of(match[1]), numbers,
                     source=fields.get("Location")), execution,
            )  # fmt: skip
        if unstated:
            problems.append(Problem(path, "note", f"it states no dtype of {unstated} tensors: float32 is taken"))


def _blocks(text: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Name, type and fields of each operator."""
    name = kind = ""
    fields: dict[str, str] = {}
    for line in text.split("\n"):
        if header := _HEADER.fullmatch(line):
            if name:
                yield name, kind, fields
            name, kind, fields = header[1], header[2], {}
        elif name and line[:1].isspace() and ":" in line:
            field, _, value = line.strip().partition(":")
            fields[field.strip()] = value.strip()
    if name:
        yield name, kind, fields


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name[:200]}: no number among its input hashes: {text[:80]!r}") from None
