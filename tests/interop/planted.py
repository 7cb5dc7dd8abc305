"""Plants one difference into a copy of a dump in msprobe's layout, drawn from a generator."""

from __future__ import annotations

import copy
import json
import math
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.capture import torch_files
from tests.capture.torch_files.build import Writer

_NUMBERS = ("Max", "Min", "Mean", "Norm")


class Planted(NamedTuple):
    """A difference: its kind, the entry that has it, and what was changed."""

    kind: str
    entry: str
    told: str


class Leaf(NamedTuple):
    """A tensor or an argument of an entry, where it may be changed in place."""

    entry: str
    said: dict[str, Any]


def leaves(data: dict[str, Any]) -> Iterator[Leaf]:
    """Every tensor and argument of a ``dump.json``."""

    def walk(entry: str, value: Any) -> Iterator[Leaf]:
        if isinstance(value, dict) and isinstance(value.get("type"), str):
            yield Leaf(entry, value)
        elif isinstance(value, (dict, list)):
            for each in value.values() if isinstance(value, dict) else value:
                yield from walk(entry, each)

    for entry, value in data.items():
        yield from walk(entry, value)


def plant(dump: Path, drawn: random.Random) -> Planted:
    """Changes one thing in the dump of one step of one rank; gives what it was."""
    content = json.loads((dump / "dump.json").read_text())
    construct = json.loads((dump / "construct.json").read_text())
    kinds = list(KINDS)
    drawn.shuffle(kinds)
    for kind in kinds:
        # A dump of the task "structure" has its calls in construct.json alone.
        of_calls = kind == "caller" or not content["data"]
        found = KINDS[kind](dump, construct if of_calls else content["data"], drawn)
        if found is not None:
            name, changed = ("construct.json", construct) if of_calls else ("dump.json", content)
            (dump / name).write_text(json.dumps(changed, indent=1))
            return Planted(kind, *found)
    raise AssertionError("nothing can be changed in it")


_Made = tuple[str, str] | None


def _chosen(drawn: random.Random, data: dict[str, Any], wanted: Callable[[dict[str, Any]], bool]) -> Leaf | None:
    found = [leaf for leaf in leaves(data) if wanted(leaf.said)]
    return drawn.choice(found) if found else None


def _value(dump: Path, data: dict[str, Any], drawn: random.Random) -> _Made:
    leaf = _chosen(drawn, data, lambda said: "data_name" in said and 0 not in said["shape"])
    if leaf is None:
        return None
    path = dump / "dump_tensor_data" / leaf.said["data_name"]
    (item,) = torch_files.items(str(path))
    assert isinstance(item.value, torch_files.StoredTensor)
    array = item.value().copy()
    at = drawn.randrange(array.size)
    old = array.reshape(-1)[at]
    array.reshape(-1)[at] = not old if array.dtype == np.bool_ else old + type(old)(drawn.choice([3, 17]))
    writer = Writer()
    path.write_bytes(writer.bytes(writer.tensor(array, item.value.dtype.name)))
    return leaf.entry, f"element {at} of {path.name}: {old} -> {array.reshape(-1)[at]}"


def _statistic(_dump: Path, data: dict[str, Any], drawn: random.Random) -> _Made:
    def numeric(said: dict[str, Any]) -> bool:
        return "data_name" not in said and any(type(said.get(name)) in (int, float) for name in _NUMBERS)

    leaf = _chosen(drawn, data, numeric)
    if leaf is None:
        return None
    name = drawn.choice([each for each in _NUMBERS if type(leaf.said.get(each)) in (int, float)])
    old = leaf.said[name]
    leaf.said[name] = old + 1 if type(old) is int else drawn.choice([old * 3 + 1, old - 40.0, math.nan])
    return leaf.entry, f"{name} {old} -> {leaf.said[name]}"


def _checksum(_dump: Path, data: dict[str, Any], drawn: random.Random) -> _Made:
    leaf = _chosen(drawn, data, lambda said: bool(said.get("md5")))
    if leaf is None:
        return None
    old, leaf.said["md5"] = leaf.said["md5"], f"{drawn.getrandbits(32):08x}"
    return leaf.entry, f"md5 {old} -> {leaf.said['md5']}"


def _argument(_dump: Path, data: dict[str, Any], drawn: random.Random) -> _Made:
    leaf = _chosen(drawn, data, lambda said: said["type"] in ("int", "float", "bool", "str"))
    if leaf is None:
        return None
    old = leaf.said["value"]
    changed = {bool: lambda: not old, str: lambda: f"{old}x", int: lambda: old + drawn.choice([1, -3])}
    leaf.said["value"] = changed.get(type(old), lambda: old * 2 + 0.5)()
    return leaf.entry, f"argument {old!r} -> {leaf.said['value']!r}"


def _order(_dump: Path, data: dict[str, Any], drawn: random.Random) -> _Made:
    names = list(data)
    if len(names) < 2:
        return None
    at = drawn.randrange(len(names) - 1)
    first = names[at]
    names[at], names[at + 1] = names[at + 1], names[at]
    moved = {name: data[name] for name in names}
    data.clear()
    data.update(moved)
    return first, f"{first} after {names[at]}"


def _missing(_dump: Path, data: dict[str, Any], drawn: random.Random) -> _Made:
    if len(data) < 2:
        return None
    name = drawn.choice(list(data))
    del data[name]
    return name, "missing"


def _extra(_dump: Path, data: dict[str, Any], drawn: random.Random) -> _Made:
    """One call more, as msprobe numbers it: a copy of another one, at any place."""
    numbered = re.compile(r"(.*\.)(\d+)(\.(?:forward|backward))|(.*\.(?:forward|backward)\.)(\d+)()")
    named = [found for name in data if (found := numbered.fullmatch(name)) is not None]
    if not named:
        return None
    like = drawn.choice(named)
    lead, end = like[1] or like[4], like[3] or ""
    number = 1 + max(int(each[2] or each[5]) for each in named if (each[1] or each[4]) == lead)
    entry = f"{lead}{number}{end}"
    names = list(data)
    names.insert(drawn.randrange(len(names) + 1), entry)
    held = {name: copy.deepcopy(data[like[0]]) if name == entry else data[name] for name in names}
    data.clear()
    data.update(held)
    return entry, f"a further call, like {like[0]}"


def _dtype(_dump: Path, data: dict[str, Any], drawn: random.Random) -> _Made:
    leaf = _chosen(drawn, data, lambda said: "data_name" not in said and "dtype" in said)
    if leaf is None:
        return None
    old = leaf.said["dtype"]
    leaf.said["dtype"] = "torch.float16" if old != "torch.float16" else "torch.float32"
    return leaf.entry, f"{old} -> {leaf.said['dtype']}"


def _shape(_dump: Path, data: dict[str, Any], drawn: random.Random) -> _Made:
    leaf = _chosen(drawn, data, lambda said: "data_name" not in said and bool(said.get("shape")))
    if leaf is None:
        return None
    leaf.said["shape"][0] += 1
    return leaf.entry, f"shape {leaf.said['shape']}"


def _gradient(_dump: Path, data: dict[str, Any], drawn: random.Random) -> _Made:
    leaf = _chosen(drawn, data, lambda said: "requires_grad" in said)
    if leaf is None:
        return None
    leaf.said["requires_grad"] = not leaf.said["requires_grad"]
    return leaf.entry, "requires_grad"


def _caller(_dump: Path, calls: dict[str, Any], drawn: random.Random) -> _Made:
    if not calls:
        return None  # functions alone have no caller
    name = drawn.choice(list(calls))
    old, calls[name] = calls[name], "Module.other.Linear.forward.0"
    return name, f"caller {old} -> {calls[name]}"


#: How each kind is planted: gives the entry and what was changed; None where the dump has nothing of the kind.
KINDS: dict[str, Callable[[Path, dict[str, Any], random.Random], _Made]] = {
    "value": _value, "statistic": _statistic, "checksum": _checksum, "argument": _argument, "order": _order,
    "missing": _missing, "extra": _extra, "dtype": _dtype, "shape": _shape, "requires_grad": _gradient,
    "caller": _caller,
}  # fmt: skip
