"""What PyTorch's ``DebugMode`` prints (``debug_string()``): a call each line, with hashes of its tensors if they were
asked for.

Source: what torch 2.13 prints; tested with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.capture.capture import Problem
from harness.capture.logs.base import L1_NORM, XOR, LogReader, Slot, log_reader, shape_of, text_of
from harness.records import Record, SlotKey

_CALL = re.compile(r"( *)([A-Za-z_][\w.]*(?:::[\w.]+)?)\((.*)")
_MODULE = re.compile(r"( *)\[nn\.Mod[^\]]*\] (\S+)")
_BEGINS = re.compile(r"^ +(?:\w+::[\w.]+\(.*\bd?f?t(?:\$\d+)?: [a-z]+\d|\[nn\.Mod[^\]]*\] \S)", re.MULTILINE)
_TENSOR = re.compile(r"\b(?:dt|ft|t)(?:\$\d+)?: ([a-z]+\d+(?:_?\w+)?|b8)\[([\d, ]*)\]")
_OUTPUT, _LOG = "  ->  ", "  # {"
_INPUT_HASH = "'input_hash': "
_HASH = "'hash': "
_NUMBER = re.compile(r"(?<![\w.'])(?:-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|-?inf|nan)(?![\w.'])")
#: dtypes as they are abbreviated
_SHORT = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
    "i16": "int16", "i8": "int8", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "b8": "bool",
    "c64": "complex64", "c128": "complex128", "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
}  # fmt: skip


class _Tensor(NamedTuple):
    dtype: str
    shape: tuple[int, ...]


@log_reader
class DebugMode(LogReader):
    """Operators are named by the module that called them and their own name."""

    name = "debug-mode"
    suffixes = (".log", ".txt")

    @classmethod
    def recognises(cls, head: str) -> bool:
        return _BEGINS.search(head) is not None

    def records(self, path: str, problems: list[Problem]) -> Iterator[Record]:
        modules: list[tuple[int, str]] = []
        for line in text_of(path).split("\n"):
            if module := _MODULE.match(line):
                modules = [each for each in modules if each[0] < len(module[1])] + [(len(module[1]), module[2])]
            elif call := _CALL.match(line):
                modules = [each for each in modules if each[0] < len(call[1])]
                yield from self._call(modules[-1][1] if modules else "", call[2], call[3])

    def _call(self, module: str, kind: str, said: str) -> Iterator[Record]:
        said, _, log = said.partition(_LOG)
        taken, _, given = said.partition(_OUTPUT)
        name = f"{module}/{kind}" if module else kind
        sides = ("input", _tensors(taken)), ("output", _tensors(given))
        if not any(tensors for _, tensors in sides):
            return
        hashes = dict(zip(("input", "output"), _hashes(log), strict=True))
        execution = self.begins(name)
        op_type = kind.partition("::")[2].partition(".")[0] or kind
        for io, tensors in sides:
            numbers = hashes[io]
            each = len(numbers) // len(tensors) if tensors and len(numbers) % len(tensors) == 0 else 0
            for at, tensor in enumerate(tensors):
                own = dict(zip(_items(numbers[at * each : at * each + each]), numbers[at * each :], strict=False))
                yield self.record(Slot(name, op_type, io, at, tensor.dtype, tensor.shape, own), execution)
            if numbers and not each:  # hashes that belong to no printed tensor, or one function's of a user
                for at, text in enumerate(numbers):
                    key = SlotKey(0, 0, 0, name, execution, io, len(tensors) + at)
                    yield self.argument(key, op_type, text, "hash")


def _items(numbers: list[str]) -> list[str]:
    """The items of one tensor's hashes: a norm has a fraction, the exclusive or of bits has none."""
    named = [XOR if number.isdecimal() else L1_NORM for number in numbers]
    return [f"{item} {at}" if item in named[:at] else item for at, item in enumerate(named)]


def _tensors(text: str) -> list[_Tensor]:
    return [_Tensor(_SHORT.get(each[1], each[1]), shape_of(each[2])) for each in _TENSOR.finditer(text)]


def _hashes(log: str) -> tuple[list[str], list[str]]:
    """The hashes of inputs and outputs, in order."""
    before, mark, after = log.rpartition(_HASH)
    if not mark:
        before, after = log, ""
    taken = before.partition(_INPUT_HASH)[2]
    return _NUMBER.findall(taken), _NUMBER.findall(after)
