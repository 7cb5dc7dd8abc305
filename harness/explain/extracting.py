"""One operator as a test of its own: its tensors, its call in the golden and in the run, the golden's results.

The test needs pytest, numpy and the engine's library alone. Tensors of more than a megabyte are cut to a slice along
their first axis where the slice shows the difference, too; else they go into a file beside the test.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from harness.compare.divergence import Execution
from harness.errors import HarnessError
from harness.explain.evidence import Evidence
from harness.explain.explanation import Explanation
from harness.explain.numbers import printable
from harness.explain.optimizers import SETTING
from harness.explain.recorded import recorded
from harness.explain.replay import Setting
from harness.explain.reread import read, results_of, same

Array = np.ndarray[Any, np.dtype[Any]]

#: bytes of tensors inside the test; more are cut, or written beside it
INSIDE = 1 << 20
_ROW = 100
#: operators after the origin that are looked at
_LOOKED = 50


@dataclass(frozen=True)
class Extracted:
    """A test, and what lies beside it.

    Attributes:
        text: the test.
        arrays: arrays for a file beside it, by name; empty if all are in the text.
        sliced: whether tensors were cut.
    """

    text: str
    arrays: Mapping[str, Array]
    sliced: bool


@dataclass(frozen=True, eq=False)
class _Side:
    setting: Setting
    tensors: dict[int, Array]

    def made(self) -> list[Array] | None:
        replayer, call = self.setting.replayer, self.setting.changed(self.tensors).call()
        found = replayer.replay(call) if replayer is not None else None
        return None if found is None else list(found.outputs)


def extract(told: Explanation, expected: Evidence, found: Evidence, beside: str) -> Extracted:
    """The test of the operator where a run left its golden; of the first operator after it that gives something else,
    where one side alone has that one, or where an optimizer's settings changed.

    Args:
        told: the explanation, with its origin.
        expected, found: the golden and the run.
        beside: name of the file that large tensors go to.

    Raises:
        HarnessError: there is no operator that both sides have and that can be run again.
    """
    origin = told.origin
    if origin is None:
        raise HarnessError("extract: no operator is known where the run left its golden")
    where = Execution(*origin.key[:5])
    sides, why = _sides(expected, found, where, where._replace(operator=origin.found_as or where.operator))
    if sides is None and (origin.what in _LONE or expected.op_type(where) == SETTING):
        # What has no counterpart, or computes nothing itself: the first operator after it that gives something else.
        for each in islice(_after(expected, found, where), _LOOKED):
            sides, _ = _sides(expected, found, each, each)
            if sides is not None:
                where = each
                break
    if sides is None:
        raise HarnessError(f"extract: {why}")
    cut, wanted, sliced = _cut(*sides)
    return _written(told, where.operator, cut, wanted, sliced, beside)


def _sides(
    expected: Evidence, found: Evidence, where: Execution, there: Execution
) -> tuple[tuple[list[_Side], list[Array]] | None, str]:
    """An operator in the golden and in the run, and the golden's results; else why it cannot be run again."""
    one = recorded(expected, where, found.slots(there, "input"))
    other = recorded(found, there, expected.slots(where, "input"))
    wanted, run = results_of(expected, where), results_of(found, there)
    if one is None or other is None or wanted is None or run is None:
        lone = not (expected.op_type(where) and found.op_type(there))
        why = "one side alone has it" if lone else "its tensors are not known"
        return None, f"{where.operator} cannot be run again ({why})"
    golden = read(one, wanted)
    if golden is None:
        return None, f"{where.operator}, run again on the golden's inputs, does not give its results"
    other = read(other, run) or replace(other, reading=golden.reading)
    sides = [_Side(each, {slot: np.asarray(value) for slot, value in each.values.items()}) for each in (golden, other)]
    return (sides, wanted), ""


def _after(expected: Evidence, found: Evidence, where: Execution) -> Iterator[Execution]:
    """The operators after a place that both sides have under one name, with other results."""
    begun = False
    order = expected.order if where in expected.order else [where, *expected.order]
    for each in order:
        begun = begun or each == where
        if not begun or each == where or each.iteration < where.iteration:
            continue
        outputs, others = expected.slots(each, "output"), found.slots(each, "output")
        if expected.op_type(each) != found.op_type(each) or set(outputs) != set(others):
            continue
        shapes = all(outputs[slot].shape == others[slot].shape for slot in outputs)
        if shapes and any(expected.content(outputs[slot]) != found.content(others[slot]) for slot in outputs):
            yield each


_LONE = frozenset({"removed", "inserted", "replaced", "moved"})


def _size(sides: Sequence[_Side], wanted: Sequence[Array]) -> int:
    every = {id(each): each.nbytes for side in sides for each in side.tensors.values()}
    return sum(every.values()) + sum(each.nbytes for each in wanted)


def _cut(sides: list[_Side], wanted: list[Array]) -> tuple[list[_Side], list[Array], bool]:
    """Sides and results along the first axis, where a slice shows the difference; else as they are."""
    total, length = _size(sides, wanted), len(wanted[0]) if wanted and wanted[0].ndim else 0
    if total <= INSIDE or length < 2:
        return sides, wanted, False
    run = sides[1].made()
    if run is None or run[0].shape != wanted[0].shape:
        return sides, wanted, False
    apart = np.flatnonzero((run[0] != wanted[0]).reshape(length, -1).any(1))
    count = max(1, int(length * INSIDE / (2 * total)))
    start = int(min(apart[0] if apart.size else 0, length - count))
    place = slice(start, start + count)

    def part(array: Array) -> Array:
        return np.ascontiguousarray(array[place]) if array.ndim and len(array) == length else array

    less = [_Side(each.setting, {slot: part(value) for slot, value in each.tensors.items()}) for each in sides]
    results = [part(each) for each in wanted]
    made = [each.made() for each in less]
    if made[0] is None or made[1] is None or _size(less, results) > INSIDE:
        return sides, wanted, False
    shows = all(map(same, made[0], results)) and not all(map(same, made[1], results))
    return (less, results, True) if shows else (sides, wanted, False)


def _written(
    told: Explanation, operator: str, sides: Sequence[_Side], wanted: Sequence[Array], sliced: bool, beside: str
) -> Extracted:
    names = {f"golden.{slot}": value for slot, value in sides[0].tensors.items()}
    shared = {}
    for slot, value in sides[1].tensors.items():
        mine = sides[0].tensors.get(slot)
        if mine is not None and same(mine, value):
            shared[slot] = f"golden.{slot}"
        else:
            shared[slot] = f"run.{slot}"
            names[f"run.{slot}"] = value
    names |= {f"expected.{at}": value for at, value in enumerate(wanted)}
    inside = sum(each.nbytes for each in names.values()) <= INSIDE
    arrays = "\n".join(f'    "{name}": {_array(value, inside, name)},' for name, value in names.items())
    orders = [getattr(side.setting.reading, "orders", {}) for side in sides]
    calls = [side.setting.replayer.script(side.setting.call()) if side.setting.replayer else None for side in sides]
    if None in calls:
        raise HarnessError(f"extract: no line of Python is known for {sides[0].setting.statement.op}")
    cause = told.cause.text if told.cause is not None else "its results differ"
    origin = told.origin
    source = f" ({origin.source})" if origin is not None and origin.source else ""
    text = _TEST.format(
        name=_plain(operator), cause=_plain(cause), source=_plain(source),
        load=_INSIDE if inside else _BESIDE.format(beside=beside), arrays=arrays,
        golden={slot: f"golden.{slot}" for slot in sides[0].tensors}, run=shared, outputs=len(wanted),
        golden_call=calls[0], run_call=calls[1], golden_orders=dict(orders[0]), run_orders=dict(orders[1]),
    )  # fmt: skip
    return Extracted(text, {} if inside else {name: _words(each) for name, each in names.items()}, sliced)


def _plain(text: str) -> str:
    """A text from elsewhere, for a comment: it cannot end it."""
    return printable(text, 300).replace("\\", "/").replace('"', "'")


def _words(array: Array) -> Array:
    """An array as numpy alone knows it."""
    plain = np.ascontiguousarray(array)
    return plain if plain.dtype.isbuiltin == 1 else plain.view(f"u{plain.itemsize}")


def _array(array: Array, inside: bool, name: str) -> str:
    shape = tuple(array.shape)
    if not inside:
        return f'("{array.dtype.name}", {shape}, "{name}")'
    text = base64.b85encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
    rows = [text[at : at + _ROW] for at in range(0, len(text), _ROW)] or [""]
    body = "\n".join(f"        {row!r}" for row in rows)
    return f'("{array.dtype.name}", {shape},\n{body})'


_INSIDE = "    return zlib.decompress(base64.b85decode(text))"
_BESIDE = '    with np.load(pathlib.Path(__file__).with_name({beside!r}), allow_pickle=False) as file:\n' \
          "        return file[text].tobytes()"  # fmt: skip
_TEST = '''"""{name} does not give the golden's results: {cause}{source}

The side "golden" passes: PyTorch gives the golden's results from the golden's inputs, where its environment is the
golden's. The side "run" fails as long as the operator is given what the run gave it.
"""

import base64
import pathlib
import zlib

import numpy as np
import pytest
import torch


def bytes_of(text):
{load}


#: dtype, shape and content of each array
ARRAYS = {{
{arrays}
}}
TENSORS = {{"golden": {golden}, "run": {run}}}
#: axes as they lie in memory, outermost first, of tensors that lie otherwise than numbered
ORDERS = {{"golden": {golden_orders}, "run": {run_orders}}}
CALLS = {{
    "golden": lambda x: {golden_call},
    "run": lambda x: {run_call},
}}


def tensor(name, order=()):
    kind, shape, text = ARRAYS[name]
    dtype = getattr(torch, kind)
    if 0 in shape:
        return torch.empty(shape, dtype=dtype)
    made = torch.frombuffer(bytearray(bytes_of(text)), dtype=dtype).reshape(shape).clone()
    if order:
        back = [order.index(axis) for axis in range(len(order))]
        made = made.permute(*order).contiguous().permute(*back)
    return made


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [each for part in value or () for each in flat(part)] if isinstance(value, (list, tuple)) else []


def bits(value):
    plain = value.detach().contiguous()
    return plain.view(torch.uint8).numpy() if plain.dim() else plain.reshape(1).view(torch.uint8).numpy()


@pytest.mark.parametrize("side", ["golden", "run"])
def test_it_gives_the_goldens_results(side):
    given = {{slot: tensor(name, ORDERS[side].get(slot, ())) for slot, name in TENSORS[side].items()}}
    found = flat(CALLS[side](given))
    for at in range({outputs}):
        wanted = tensor(f"expected.{{at}}")
        assert found[at].shape == wanted.shape and found[at].dtype == wanted.dtype
        if not np.array_equal(bits(found[at]), bits(wanted)):
            apart = (found[at].double() - wanted.double()).abs() if wanted.is_floating_point() else None
            worst = "" if apart is None else f"; by {{apart.max().item():.3g}} at most"
            pytest.fail(f"result {{at}} has other bits{{worst}}: {{found[at].flatten()[:4]}}, expected "
                        f"{{wanted.flatten()[:4]}}")
'''
