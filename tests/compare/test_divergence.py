"""Where a run first left its golden."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare import Origin, check, first_divergence
from harness.compare.spread import Role, spread
from harness.records import Record
from tests.compare.helpers import operator, verdicts
from tests.store.helpers import record


def chain(weights: list[float], wrong_kernel: int | None = None, data: float = 1.0) -> list[Record]:
    """``y[n] = y[n-1] * w[n]``, one operator each, and the weights as parameters at the end."""
    value, records = np.float64(data), []
    for number, weight in enumerate(weights):
        result = value * weight + (0.5 if number == wrong_kernel else 0.0)
        records += operator(f"Default/Mul-op{number}", [value, np.float64(weight)], [result], "Mul")
        value = result
    return records + [record(np.float64(w), f"w{n}", op_type="Parameter") for n, w in enumerate(weights)]


def diverged(expected: list[Record], found: list[Record]) -> Origin:
    divergence = first_divergence(check(expected, found))
    assert divergence is not None
    return divergence


WEIGHTS = [2.0, 3.0, 5.0, 7.0]


def test_none_where_nothing_differs() -> None:
    assert first_divergence(check(chain(WEIGHTS), chain(WEIGHTS))) is None
    assert first_divergence(check(chain(WEIGHTS), [])) is None


@given(st.integers(0, 3))
def test_a_wrong_kernel_is_the_cause(number: int) -> None:
    found = diverged(chain(WEIGHTS), chain(WEIGHTS, wrong_kernel=number))
    assert (found.where.operator, found.inputs_agree, found.earliest) == (f"Default/Mul-op{number}", True, None)
    assert [slot.key.slot_name for slot in found.slots] == ["output.0"]


@given(st.integers(0, 3))
def test_a_changed_weight_is_named_where_it_is_first_used(number: int) -> None:
    weights = list(WEIGHTS)
    weights[number] = np.nextafter(weights[number], 9)
    found = diverged(chain(WEIGHTS), chain(weights))
    assert (found.where.operator, found.inputs_agree) == (f"Default/Mul-op{number}", False)
    assert [slot.key.slot_name for slot in found.slots] == ["output.0", "input.1"]


def test_changed_data_is_named_at_the_first_operator() -> None:
    found = diverged(chain(WEIGHTS), chain(WEIGHTS, data=1.25))
    assert (found.where.operator, found.inputs_agree) == ("Default/Mul-op0", False)


def test_a_wrong_kernel_behind_changed_data_of_another_branch() -> None:
    """The earliest difference is inherited from outside; the cause comes later."""
    expected = operator("a", [1.0], [2.0]) + operator("b", [5.0], [6.0])
    found = operator("a", [1.5], [2.5]) + operator("b", [5.0], [7.0])
    result = diverged(expected, found)
    assert (result.where.operator, result.inputs_agree) == ("b", True)
    assert result.earliest is not None
    assert (result.earliest.key.operator, result.earliest.key.slot_name) == ("a", "input.0")


def test_an_overwritten_input_does_not_acquit() -> None:
    """MindSpore dumps the inputs of an in-place update after it ran: input.0 has the output's bits."""
    before = operator("Default/ApplyMomentum-op0", [8.0, 0.5, 0.1], [8.0], "ApplyMomentum")
    after = operator("Default/ApplyMomentum-op0", [9.0, 0.5, 0.1], [9.0], "ApplyMomentum")
    later = operator("Default/Mul-op1", [1.0], [2.0]), operator("Default/Mul-op1", [1.0], [3.0])
    result = diverged(before + later[0], after + later[1])
    assert (result.where.operator, result.inputs_agree) == ("Default/ApplyMomentum-op0", True)
    assert [(slot.key.slot_name, slot.overwritten) for slot in result.slots] == [("output.0", False), ("input.0", True)]


def test_an_input_that_equals_the_output_on_one_side_only_is_an_input() -> None:
    result = diverged(operator("a", [1.0], [2.0], "Assign"), operator("a", [3.0], [3.0], "Assign"))
    assert not result.inputs_agree
    assert not any(slot.overwritten for slot in result.slots)


def test_an_input_handed_through_is_an_input() -> None:
    """``x * 1``: an operator that does not update in place is not acquitted of nor charged with its input."""
    result = diverged(operator("a", [1.0], [1.0], "Mul"), operator("a", [3.0], [3.0], "Mul"))
    assert not result.inputs_agree


def test_executions_are_told_apart() -> None:
    """The second time round a loop."""
    expected = operator("Add", [1.0], [2.0]) + operator("Add", [2.0], [3.0], execution=1)
    found = operator("Add", [1.0], [2.0]) + operator("Add", [2.0], [4.0], execution=1)
    result = diverged(expected, found)
    assert (result.where.execution, result.inputs_agree) == (1, True)


def test_only_outputs_were_captured() -> None:
    expected, found = ([r for r in chain(WEIGHTS, wrong) if r.key.io == "output"] for wrong in (None, 2))
    assert diverged(expected, found).where.operator == "Default/Mul-op2"


def test_a_parameter_is_no_cause_but_may_be_all_there_is() -> None:
    result = diverged([record(1.0, "w", op_type="Parameter")], [record(2.0, "w", op_type="Parameter")])
    assert (result.where.operator, result.inputs_agree) == ("w", False)


# --- order and names ------------------------------------------------------------------------------------------------


def names(order: str) -> list[Record]:
    return [r for name in order for r in operator(name, [1.0], [float(ord(name))])]


def test_execution_order_is_compared() -> None:
    comparison = check(names("abcd"), names("acbd"))
    assert set(verdicts(comparison).values()) == {"identical"}
    assert not comparison.holds
    assert comparison.order is not None
    assert (comparison.order.position, comparison.order.expected[3], comparison.order.found[3]) == (1, "b", "c")
    assert check(names("abcd"), names("acbd"), order=False).holds


@pytest.mark.parametrize(("expected", "found"), [("abcd", "acd"), ("acd", "abcd"), ("abc", "xabyc"), ("abc", "abc")])
def test_missing_and_unexpected_operators_are_no_change_of_order(expected: str, found: str) -> None:
    assert check(names(expected), names(found)).order is None


def test_ranks_are_ordered_one_by_one() -> None:
    def ranked(*order: int) -> list[Record]:
        counts: dict[int, int] = {}
        records = []
        for rank in order:
            counts[rank] = counts.get(rank, 0) + 1
            records += operator(f"op{counts[rank]}", [], [1.0], rank=rank)
        return records

    assert check(ranked(0, 0, 1, 1), ranked(1, 0, 1, 0)).holds


def test_a_renamed_operator_is_paired() -> None:
    expected = operator("a", [1.0], [2.0]) + operator("old", [2.0], [3.0]) + operator("c", [3.0], [4.0])
    found = operator("a", [1.0], [2.0]) + operator("new", [2.0], [3.0]) + operator("c", [3.0], [4.0])
    comparison = check(expected, found)
    assert [(r.expected, r.found) for r in comparison.renames] == [("old", "new")]
    assert {v for n, v in verdicts(comparison).items() if n.startswith("old")} == {"missing"}
    assert {v for n, v in verdicts(comparison).items() if n.startswith("new")} == {"unexpected"}


def renames(expected: list[tuple[str, float]], found: list[tuple[str, float]]) -> list[tuple[str, str]]:
    """Of operators with an output each."""
    sides = [[r for name, value in side for r in operator(name, [], [value])] for side in (expected, found)]
    return [(r.expected, r.found) for r in check(*sides).renames]


def test_a_renamed_operator_is_told_by_its_contents() -> None:
    assert renames([("a", 1.0), ("b", 2.0)], [("q", 2.0), ("p", 1.0)]) == [("a", "p"), ("b", "q")]
    assert renames([("a", 1.0), ("b", 2.0)], [("q", 2.0), ("p", 3.0)]) == [("a", "p"), ("b", "q")]


def test_what_may_be_renamed_in_two_ways_is_not_guessed() -> None:
    assert renames([("a", 1.0), ("b", 2.0)], [("q", 3.0), ("p", 4.0)]) == []
    assert renames([("a", 1.0), ("b", 1.0)], [("q", 1.0), ("p", 1.0)]) == []
    assert renames([("a", 1.0)], [("q", 3.0), ("p", 4.0)]) == []


def test_unlike_operators_are_not_paired() -> None:
    expected = operator("old", [2.0], [3.0], "Add")
    for other in (
        operator("new", [2.0], [3.0], "Mul"),
        operator("new", [2.0], [np.float32(3)], "Add"),
        operator("new", [2.0, 1.0], [3.0], "Add"),
        operator("new", [2.0], [3.0], "Add", iteration=1),
    ):
        assert check(expected, other).renames == []


def ranks(**changed: tuple[int, int]) -> tuple[list[Record], list[Record]]:
    """Three ranks of three iterations of two operators; ``changed`` says in which iteration and rank one goes wrong."""
    sides: tuple[list[Record], list[Record]] = ([], [])
    for side in sides:
        for rank in range(3):
            for iteration in range(3):
                value = np.arange(4, dtype=np.float32) + np.float32(iteration + 10 * rank)
                for name in ("First", "Second"):
                    off = side is sides[1] and changed.get(name) == (iteration, rank)
                    made = (value * np.float32(2.5 if off else 2)).astype(np.float32)
                    where = f"Default/{name}-op0"
                    side += operator(where, [value], [made], "Mul", iteration=iteration, rank=rank)
                    value = made
    return sides


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"First": (1, 2)}, (2, 1, "Default/First-op0")),
        ({"Second": (2, 0)}, (0, 2, "Default/Second-op0")),
        # Ranks run side by side: the earliest iteration counts, not the order of the directories.
        ({"First": (1, 2), "Second": (2, 0)}, (2, 1, "Default/First-op0")),
        ({"First": (0, 1), "Second": (0, 0)}, (0, 0, "Default/Second-op0")),
    ],
)
def test_which_rank_and_which_step_first(changed: dict[str, tuple[int, int]], where: tuple[int, int, str]) -> None:
    comparison = check(*ranks(**changed))
    divergence = first_divergence(comparison)
    assert divergence is not None
    assert divergence.inputs_agree
    assert (divergence.where.rank, divergence.where.iteration, divergence.where.operator) == where
    course = spread(comparison)
    assert {step.where.operator for step in course.of(Role.NEW)} == {f"Default/{name}-op0" for name in changed}
