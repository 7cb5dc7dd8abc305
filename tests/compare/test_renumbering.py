"""Operators that are counted in the order they run, under the golden's numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.compare.judge import SlotJudge
from harness.compare.policy import Party, judge
from harness.compare.renumbering import check_renumbered
from harness.compare.tolerances import Tolerances
from harness.compare.verdict import Verdict
from harness.records import Record, SlotKey

Step = Sequence[tuple[str, float]]


def records(step: Step) -> list[Record]:
    """The records of operators: each has a kind and a value, and gives it."""
    seen: Counter[str] = Counter()
    found = []
    for kind, value in step:
        name = f"Default/{kind}-op{seen[kind]}"
        seen[kind] += 1
        made = np.full(4, value, np.float32)
        for io in ("input", "output"):
            key = SlotKey(0, 0, 0, name, 0, io, 0)
            found.append(Record(key, kind, "Float32", (4,), "torch.contiguous_format", made))
    return found


def compared(one: Step, other: Step):  # type: ignore[no-untyped-def]
    exact = Tolerances.parse("exact")
    return check_renumbered(lambda: records(one), lambda: records(other), exact, judging=SlotJudge)


KINDS = st.lists(st.sampled_from(["mul", "add", "mm"]), min_size=2, max_size=12)
STEPS = KINDS.map(lambda kinds: [(kind, float(at)) for at, kind in enumerate(kinds)])


@settings(max_examples=60, deadline=None)
@given(STEPS, st.data())
def test_one_that_is_removed_is_missing_and_nothing_else(step: list[tuple[str, float]], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(step) - 1))
    run = step[:at] + step[at + 1 :]
    made = compared(step, run)
    if made is None:  # the last of its kind: no number changes
        assert step[at][0] not in [kind for kind, _ in step[at + 1 :]]
        return
    counts = made.comparison.counts
    assert counts[Verdict.MISSING] == 2
    assert counts[Verdict.UNEXPECTED] == counts[Verdict.DIFFERS] == 0


@settings(max_examples=60, deadline=None)
@given(STEPS, st.data())
def test_one_that_is_inserted_is_unexpected_and_nothing_else(
    step: list[tuple[str, float]], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(step) - 1))
    made = compared(step, [*step[:at], (step[at][0], 99.0), *step[at:]])
    assert made is not None
    assert made.comparison.counts[Verdict.UNEXPECTED] == 2
    assert made.comparison.counts[Verdict.MISSING] == made.comparison.counts[Verdict.DIFFERS] == 0


def test_another_order_holds_and_is_told() -> None:
    one: Step = [("mul", 1.0), ("mul", 2.0), ("add", 3.0)]
    other: Step = [("mul", 2.0), ("mul", 1.0), ("add", 3.0)]
    made = compared(one, other)
    assert made is not None
    assert made.comparison.holds
    assert made.exchanged
    sides = (Party(records(each), "torch") for each in (one, other))
    judged = judge(*sides, lay=lambda _one, _other: None)
    assert judged.holds
    assert any("PYTHONHASHSEED" in note for note in judged.notes)


def test_a_changed_value_stays_at_its_place() -> None:
    one: Step = [("mul", 1.0), ("mm", 5.0), ("mul", 2.0), ("add", 3.0)]
    other: Step = [("mm", 5.0), ("mul", 7.0), ("add", 3.0)]
    made = compared(one, other)
    assert made is not None
    differing = [slot for slot in made.comparison.slots if slot.verdict is Verdict.DIFFERS]
    assert {slot.key.operator for slot in differing} == {"Default/mul-op1"}
    assert {slot.found_as.operator for slot in differing if slot.found_as} == {"Default/mul-op0"}


def test_equal_steps_need_no_other_numbers() -> None:
    step: Step = [("mul", 1.0), ("mul", 2.0)]
    assert compared(step, step) is None
