"""What pairing finds in arrays is what plain rules say of each slot."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.compare.pairing.colours import once_on_both
from harness.compare.pairing.flow import Words
from harness.compare.pairing.kinds import is_layout
from harness.compare.pairing.producers import producers
from harness.compare.pairing.reading import flow_of
from harness.compare.pairing.slots import StepSlots, steps_of
from harness.records import Record, SlotKey

SLOTS = st.tuples(
    st.sampled_from(["Default/ReLU-op0", "Default/Reshape-op1", "Default/Add-op2", "w", "Default/Cast-op3"]),
    st.sampled_from(["input", "output"]),
    st.integers(0, 20),
)


@st.composite
def steps(draw: st.DrawFn) -> list[StepSlots]:
    """Steps whose slots hold few different contents, the same ones in one or two iterations."""
    records = []
    slots = draw(st.lists(SLOTS, min_size=1, max_size=40, unique=True))
    few = st.integers(0, draw(st.integers(0, 4)))
    contents = [draw(st.lists(few, min_size=len(slots), max_size=len(slots))) for _ in range(2)]
    for iteration in range(draw(st.integers(1, 2))):
        for (name, io, slot), content in zip(slots, contents[iteration], strict=True):
            op_type = "Parameter" if name == "w" else name.rpartition("/")[2].partition("-")[0]
            key = SlotKey(0, 0, iteration, name, 0, io, slot)
            records.append(Record(key, op_type, "Float32", (2,), digest=bytes([content]) * 16))
    return steps_of(records)[0][0]


def by_the_rules(step: StepSlots) -> list[int]:
    """What ``producers`` says, slot by slot."""
    outputs = [at for at, form in enumerate(step.forms) if form.io == "output"]
    columns, kept = list(step.contents.values()), [form.is_parameter for form in step.forms]
    same: dict[int, list[int]] = {}
    for at, form in enumerate(step.forms):
        takes = form.io == "input" or kept[at]
        crowded = all(sum(column[each] == column[at] for each in outputs) > 16 for column in columns)
        holders = [each for each in outputs if all(column[each] == column[at] for column in columns)]
        same[at] = [e for e in holders if takes and not crowded and step.owners[e] != step.owners[at]]
    makers = {at: [each for each in found if not kept[each]] for at, found in same.items()}
    earlier = {at: [each for each in found if step.owners[each] < step.owners[at]] for at, found in makers.items()}
    trusted = sum(map(bool, earlier.values())) >= 0.8 * sum(map(bool, makers.values()))
    chosen = []
    for at in range(len(step.forms)):
        found = earlier[at] if trusted else makers[at]
        if not found and not kept[at]:
            found = [each for each in same[at] if kept[each]]
        if len(found) > 1:
            others = [each for each in found if not is_layout(step.forms[each].op_type)]
            found = others or (found[:1] if trusted else [])
        chosen.append(found[0] if len(found) == 1 else -1)
    return chosen


@settings(max_examples=30)
@given(steps())
def test_makers_are_those_of_the_rules(found: list[StepSlots]) -> None:
    for step in found:
        assert producers(step) == by_the_rules(step)


@pytest.mark.parametrize(("count", "made"), [(1, 0), (16, 0), (17, -1)])
@pytest.mark.parametrize("iterations", [1, 2])
def test_what_too_many_hold_tells_no_maker(count: int, made: int, iterations: int) -> None:
    names = [(f"Default/Reshape-op{at}", "output") for at in range(count)] + [("Default/Softmax-op0", "input")]
    records = [
        Record(SlotKey(0, 0, each, name, 0, io, 0), name[8:15], "Float32", (2,), digest=bytes(16))
        for each in range(iterations)
        for name, io in names
    ]
    (step,) = steps_of(records)[0][0]
    assert producers(step) == by_the_rules(step) == [-1] * count + [made]


@settings(max_examples=15)
@given(steps())
def test_an_input_is_overwritten_if_an_output_beside_it_holds_the_same(found: list[StepSlots]) -> None:
    for step in found:
        flow = flow_of(step, {}, Words())
        for at, form in enumerate(step.forms):
            given_ = [each for node in flow.of[step.owners[at]] for each in flow.outputs(node)]
            expected = form.io == "input" and any(step.held[each] == step.held[at] for each in given_)
            assert flow.is_overwritten[at] == expected


NUMBERS = st.lists(st.integers(-1, 6), max_size=12)


@given(NUMBERS, NUMBERS)
def test_what_is_there_once_on_both_sides_is_a_pair(left: list[int], right: list[int]) -> None:
    counts = Counter(left), Counter(right)
    expected = [(at, right.index(n)) for at, n in enumerate(left) if counts[0][n] == counts[1][n] == 1]
    columns = [np.array(side, np.int64) for side in (left, right)]
    ones, others = once_on_both(columns, [np.arange(len(side)) for side in (left, right)])
    assert list(zip(ones.tolist(), others.tolist(), strict=True)) == expected
