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
_NAMED = re.compile(r"([A-Za-z_]\w*)=(?!=)")
#: an object whose text has an address, which is another in each run
_OBJECT = re.compile(r" at 0x[0-9a-f]+")
_LONGEST_NUMBER = 19
#: dtypes as they are abbreviated
_SHORT = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
    "i16": "int16", "i8": "int8", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "b8": "bool",
    "c64": "complex64", "c128": "complex128", "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
}  # fmt: skip


class _Tensor(NamedTuple):
    dtype: str
    shape: tuple[int, ...]


class _Argument(NamedTuple):
    name: str
    said: _Tensor | float | bool | str


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
        lines = text_of(path).split("\n")
        for at, line in enumerate(lines):
            if module := _MODULE.match(line):
                modules = [each for each in modules if each[0] < len(module[1])] + [(len(module[1]), module[2])]
            elif call := _CALL.match(line):
                modules = [each for each in modules if each[0] < len(call[1])]
                outer = _depth_of_next(lines, at) > len(call[1])
                yield from self._call(modules[-1][1] if modules else "", call[2], call[3], outer)

    def _call(self, module: str, kind: str, said: str, outer: bool) -> Iterator[Record]:
        said, _, log = said.partition(_LOG)
        taken, _, given = said.partition(_OUTPUT)
        name = f"{module}/{kind}" if module else kind
        # The bracket that closes the call stands last.
        sides = ("input", _arguments(taken.rstrip().removesuffix(")"))), ("output", _arguments(given))
        if not any(isinstance(each.said, _Tensor) for _, held in sides for each in held):
            return
        hashes = dict(zip(("input", "output"), _hashes(log), strict=True))
        execution = self.begins(name)
        op_type = kind.partition("::")[2].partition(".")[0] or kind
        for io, held in sides:
            numbers = hashes[io]
            count = sum(isinstance(each.said, _Tensor) for each in held)
            each = len(numbers) // count if count and len(numbers) % count == 0 else 0
            at = 0
            for slot, (named, value) in enumerate(held):
                if isinstance(value, _Tensor):
                    own = dict(zip(_items(numbers[at : at + each]), numbers[at:], strict=False))
                    at += each
                    beside = io == "input" or outer
                    yield self.record(Slot(name, op_type, io, slot, value.dtype, value.shape, own), execution, beside)
                elif io == "input":
                    yield self.argument(SlotKey(0, 0, 0, name, execution, io, slot), op_type, value, named)
            if numbers and not each:  # hashes that belong to no printed tensor, or one function's of a user
                for further, text in enumerate(numbers, len(held)):
                    yield self.argument(SlotKey(0, 0, 0, name, execution, io, further), op_type, text, "hash")


def _depth_of_next(lines: list[str], at: int) -> int:
    """How deep the call after a line stands; 0 if none follows it at once."""
    call = _CALL.match(lines[at + 1]) if at + 1 < len(lines) else None
    return 0 if call is None else len(call[1])


def _arguments(text: str) -> list[_Argument]:
    """The tensors of a call, each with a place of its own, and its numbers and texts."""
    found: list[_Argument] = []
    for each in _split(text):
        named = _NAMED.match(each)
        name, value = (named[1], each[named.end() :]) if named else ("", each)
        tensors = _tensors(value)
        found += [_Argument(name, tensor) for tensor in tensors]
        if not tensors and not _OBJECT.search(value):
            found.append(_Argument(name, _plain(value)))
    return found


def _split(text: str) -> list[str]:
    """What stands between the commas that no bracket and no quote holds."""
    parts, start, depth, quote = [], 0, 0, ""
    for at, each in enumerate(text):
        if quote:
            quote = "" if each == quote else quote
        elif each in "'\"":
            # The outputs of a call of several are texts: 't: f32[3]'.
            quote = each
        elif each in "([{":
            depth += 1
        elif each in ")]}":
            depth -= 1
        elif each == "," and depth <= 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [each for each in (*parts, text[start:].strip()) if each]


def _plain(text: str) -> float | bool | str:
    """A number or a truth as such; anything else as the text it is."""
    if text in ("True", "False"):
        return text == "True"
    try:
        return int(text) if text.lstrip("-").isdecimal() and len(text) < _LONGEST_NUMBER else float(text)
    except ValueError:
        return text


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
