"""What a ``data.pkl`` of ``torch.save`` describes, read by an interpreter of its own.

A pickle is a program. This one knows a closed list of its instructions; a name of a function or class stays a name, and
the few functions that make tensors are not called, but kept as what they are asked for. Nothing is imported or run.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

#: Instructions, and bytes of an integer, that are accepted.
MOST_STEPS = 1_000_000
_MOST_BYTES = 8


class Name(NamedTuple):
    """A function or class that the pickle names."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class Call(NamedTuple):
    """What a call would make: the function and its arguments."""

    function: Name
    arguments: tuple[Any, ...]


class Storage(NamedTuple):
    """What a persistent id names: a storage of the archive."""

    fields: tuple[Any, ...]


class _Mark:
    """Where the items of a tuple, list or dictionary begin."""


_MARK = _Mark()
#: Functions whose results are kept as calls; of all others none is accepted.
ACCEPTED = frozenset(
    Name("torch._utils", name)
    for name in ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_parameter")
) | {Name("torch._tensor", "_rebuild_from_type_v2"), Name("torch", "Size")}
_DICT = Name("collections", "OrderedDict")


def read(data: bytes) -> Any:
    """The object that a pickle describes: dictionaries, lists, tuples, numbers, texts, ``Name``, ``Call``, ``Storage``.

    Raises:
        ValueError: it has an instruction, or calls a function, that is not accepted, or it is damaged.
    """
    try:
        return _Machine(data).run()
    except (IndexError, struct.error, UnicodeDecodeError, TypeError) as error:
        raise ValueError(f"its pickle is damaged ({type(error).__name__})") from None


class _Machine:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def run(self) -> Any:
        """Runs the program to its end."""
        for _ in range(MOST_STEPS):
            code = self._data[self._at]
            self._at += 1
            if code == 0x2E:  # STOP
                return self._stack.pop()
            step = _STEPS.get(code)
            if step is None:
                told = f"its pickle has the instruction {code:#04x}, which no tensor needs"
                raise ValueError(f"{told}; save a dictionary of tensors (a state_dict)")
            step(self)
        raise ValueError(f"its pickle has more than {MOST_STEPS} instructions")

    def take(self, size: int) -> bytes:
        """The next bytes of the program."""
        end = self._at + size
        if end > len(self._data):
            raise ValueError("its pickle is cut")
        found = self._data[self._at : end]
        self._at = end
        return found

    def number(self, form: struct.Struct) -> Any:
        """The next number."""
        return form.unpack(self.take(form.size))[0]

    def line(self) -> str:
        """The text up to the end of its line."""
        end = self._data.index(b"\n", self._at)
        found = self._data[self._at : end].decode()
        self._at = end + 1
        return found

    def push(self, value: Any) -> None:
        """Puts a value on the stack."""
        self._stack.append(value)

    def pop(self) -> Any:
        """Takes the last value off the stack."""
        value = self._stack.pop()
        if value is _MARK:
            raise ValueError("its pickle is damaged: a mark where a value belongs")
        return value

    def to_mark(self) -> list[Any]:
        """Takes everything down to the last mark off the stack."""
        at = len(self._stack) - 1
        while self._stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise ValueError("its pickle is damaged: no mark")
        found = self._stack[at + 1 :]
        del self._stack[at:]
        return found

    def put(self, number: int) -> None:
        """Remembers the last value."""
        self._memo[number] = self._stack[-1]

    def get(self, number: int) -> None:
        """Puts a remembered value on the stack."""
        if number not in self._memo:
            raise ValueError("its pickle is damaged: a value that was never kept")
        self.push(self._memo[number])

    def memoize(self) -> None:
        """Remembers the last value under the next number."""
        self.put(len(self._memo))

    def last(self, count: int) -> None:
        """Makes a tuple of the last values."""
        found = [self.pop() for _ in range(count)]
        self.push(tuple(reversed(found)))

    def append(self, items: list[Any]) -> None:
        """Adds to the list below."""
        below = self._stack[-1]
        if not isinstance(below, list):
            raise ValueError("its pickle is damaged: items of no list")
        below.extend(items)

    def set_items(self, items: list[Any]) -> None:
        """Adds to the dictionary below."""
        below = self._stack[-1]
        if not isinstance(below, dict) or len(items) % 2:
            raise ValueError("its pickle is damaged: items of no dictionary")
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, (str, int, float, bool, type(None))):
                raise ValueError("its pickle has a dictionary whose keys are no texts and no numbers")
            below[key] = value

    def reduce(self) -> None:
        """A call: of a function that is accepted, kept as what it is."""
        arguments, function = self.pop(), self.pop()
        if not isinstance(function, Name) or not isinstance(arguments, tuple):
            raise ValueError("its pickle is damaged: a call of no function")
        if function == _DICT:
            if arguments:
                raise ValueError("its pickle makes a dictionary of other objects")
            self.push({})
        elif function in ACCEPTED:
            self.push(Call(function, arguments))
        else:
            raise ValueError(f"its pickle calls {str(function)[:120]}, which makes no tensor; such files are not read")

    def build(self) -> None:
        """The state of an object: of dictionaries (their metadata) it says nothing about tensors."""
        self.pop()
        if not isinstance(self._stack[-1], dict):
            raise ValueError("its pickle sets the state of an object that is not a tensor of PyTorch")

    def persistent(self) -> None:
        """A storage of the archive."""
        fields = self.pop()
        if not isinstance(fields, tuple):
            raise ValueError("its pickle is damaged: a storage without a description")
        self.push(Storage(fields))

    def named(self) -> None:
        """A function or class, by the texts on the stack."""
        name, module = self.pop(), self.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise ValueError("its pickle is damaged: a name that is no text")
        self.push(Name(module, name))

    def long(self, size: int) -> None:
        """An integer of some bytes."""
        if size > _MOST_BYTES:
            raise ValueError(f"its pickle has an integer of {size} bytes")
        self.push(int.from_bytes(self.take(size), "little", signed=True))


_BYTE, _SHORT, _INT, _UINT = struct.Struct("<B"), struct.Struct("<H"), struct.Struct("<i"), struct.Struct("<I")
_LONG, _FLOAT = struct.Struct("<Q"), struct.Struct(">d")
_STEPS: dict[int, Callable[[_Machine], None]] = {
    0x80: lambda m: _protocol(m.number(_BYTE)),
    0x95: lambda m: _skip(m.number(_LONG)),  # FRAME
    ord("("): lambda m: m.push(_MARK),
    ord("0"): lambda m: _skip(m.pop()),  # POP
    ord("N"): lambda m: m.push(None),
    0x88: lambda m: m.push(True),
    0x89: lambda m: m.push(False),
    ord("K"): lambda m: m.push(m.number(_BYTE)),
    ord("M"): lambda m: m.push(m.number(_SHORT)),
    ord("J"): lambda m: m.push(m.number(_INT)),
    0x8A: lambda m: m.long(m.number(_BYTE)),
    ord("G"): lambda m: m.push(m.number(_FLOAT)),
    ord("X"): lambda m: m.push(m.take(m.number(_UINT)).decode("utf-8", "surrogatepass")),
    0x8C: lambda m: m.push(m.take(m.number(_BYTE)).decode("utf-8", "surrogatepass")),
    ord(")"): lambda m: m.push(()),
    ord("t"): lambda m: m.push(tuple(m.to_mark())),
    0x85: lambda m: m.last(1),
    0x86: lambda m: m.last(2),
    0x87: lambda m: m.last(3),
    ord("]"): lambda m: m.push([]),
    ord("a"): lambda m: m.append([m.pop()]),
    ord("e"): lambda m: m.append(m.to_mark()),
    ord("}"): lambda m: m.push({}),
    ord("s"): lambda m: m.set_items([m.pop(), m.pop()][::-1]),
    ord("u"): lambda m: m.set_items(m.to_mark()),
    ord("q"): lambda m: m.put(m.number(_BYTE)),
    ord("r"): lambda m: m.put(m.number(_UINT)),
    ord("h"): lambda m: m.get(m.number(_BYTE)),
    ord("j"): lambda m: m.get(m.number(_UINT)),
    0x94: lambda m: m.memoize(),
    ord("c"): lambda m: m.push(Name(m.line(), m.line())),
    0x93: lambda m: m.named(),
    ord("Q"): lambda m: m.persistent(),
    ord("R"): lambda m: m.reduce(),
    ord("b"): lambda m: m.build(),
}


def _protocol(number: int) -> None:
    if not 2 <= number <= 5:
        raise ValueError(f"its pickle has protocol {number}; 2 to 5 are read")


def _skip(_value: object) -> None:
    """What stands there changes nothing."""
