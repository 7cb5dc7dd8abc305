"""Polygraphy's JSON: outputs of runners (``RunResults``), and inputs by iteration; arrays are ``.npy`` files in base64.

Source: what Polygraphy 0.53 writes; tested with it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from harness.capture import npy
from harness.capture.capture import Problem
from harness.capture.logs.base import MAX_BYTES, LogReader, Slot, log_reader
from harness.errors import TreeError
from harness.reading import read_json
from harness.records import Record, SlotKey

Array = np.ndarray[Any, np.dtype[Any]]
_TYPE, _OLD_TYPE = "polygraphy_class", "polygraphy_serialized_json_type"
_MARKS = _TYPE, _OLD_TYPE, "__polygraphy_encoded_"
_DEEPEST = 8


@log_reader
class Polygraphy(LogReader):
    """Each runner is a graph; each name an operator with one output."""

    name = "polygraphy"
    suffixes = (".json",)
    backend = "polygraphy"
    mode = "tensor"
    layout = "DefaultFormat"

    @classmethod
    def recognises(cls, head: str) -> bool:
        return any(mark in head for mark in _MARKS)

    def records(self, path: str, problems: list[Problem]) -> Iterator[Record]:
        for graph, (runner, iterations) in enumerate(_runners(read_json(path, MAX_BYTES, TreeError))):
            if not isinstance(iterations, list):
                raise ValueError(f"runner {str(runner)[:80]!r} has no list of iterations")
            for step, held in enumerate(iterations):
                io = "output" if isinstance(held, dict) and "outputs" in held else "input"
                outputs = held.get("outputs", held) if isinstance(held, dict) else None
                if not isinstance(outputs, dict):
                    raise ValueError(f"iteration {step} of runner {str(runner)[:80]!r} holds no arrays by name")
                for name, value in outputs.items():
                    if name in (_TYPE, _OLD_TYPE):
                        continue
                    value = _inside(value)
                    if isinstance(value, (bool, int, float)):
                        key = SlotKey(0, graph, step, name, self.begins(name, step, graph), io, 0)
                        yield self.argument(key, "tensor", value)
                        continue
                    array = _array(name, value)
                    if array is None:
                        problems.append(Problem(f"{path}: {name[:200]}", "skipped", "a tensor of torch.save, not read"))
                        continue
                    dtype, values = array
                    slot = Slot(name, "tensor", io, 0, dtype, values.shape, values=values, iteration=step, graph=graph)
                    yield self.record(slot, self.begins(name, step, graph))


def _runners(said: Any) -> list[tuple[Any, Any]]:
    """Runners and their iterations; inputs alone have no runner."""
    if isinstance(said, dict) and isinstance(said.get("lst"), list):
        runners = said["lst"]
        if not all(isinstance(each, list) and len(each) == 2 for each in runners):
            raise ValueError("its results are no pairs of a runner and its iterations")
        return [(each[0], each[1]) for each in runners]
    if isinstance(said, list):
        return [("", said)]
    raise ValueError("it holds neither results of runners nor inputs by iteration")


def _inside(value: Any) -> Any:
    """What the wrappers around a value hold."""
    for _ in range(_DEEPEST):
        if not isinstance(value, dict) or "values" not in value:
            break
        value = value["values"]
    return value


def _array(name: str, value: Any) -> tuple[str, Array] | None:
    """dtype and array of a value; None for a tensor of PyTorch's."""
    held: dict[str, Any] = value if isinstance(value, dict) else {}
    if isinstance(held.get("array"), str):
        return _decoded(name, held["array"])
    if isinstance(held.get("tensor"), str):
        return None
    raise ValueError(f"{name[:200]!r} is no array")


def _decoded(name: str, text: str) -> tuple[str, Array]:
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
        header = npy.parse_header(data)
    except (binascii.Error, UnicodeEncodeError):
        raise ValueError(f"{name[:200]!r} is no array in base64") from None
    except npy.Incomplete as error:
        raise ValueError(f"{name[:200]!r}: {error}") from None
    size = prod(header.shape) * header.dtype.itemsize
    if min(header.shape, default=0) < 0 or header.offset + size != len(data):
        raise ValueError(f"{name[:200]!r} has {len(data)} bytes, its header makes another number")
    flat = np.frombuffer(data, header.dtype.numpy, offset=header.offset)
    return header.dtype.name, flat.reshape(header.shape, order="F" if header.fortran else "C").copy(order="C")
