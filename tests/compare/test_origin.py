"""What kind of change the first divergence is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare import Comparison, Kind, Origin, State, Uncompared, check, first_divergence
from harness.compare.divergence import execution_of
from harness.records import Record
from tests.compare.helpers import operator
from tests.store.helpers import record

X = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
Layer = tuple[str, float]
LAYERS: list[Layer] = [("Mul", 2.0), ("Add", 3.0), ("Sub", 4.0), ("Mul", 0.5), ("Add", 1.0)]
_MADE = {"Mul": np.multiply, "Add": np.add, "Sub": np.subtract, "Max": np.maximum}


def chain(layers: list[Layer], start: np.ndarray = X) -> list[Record]:
    """Each layer takes what the one before gave, and is called by what it does to it."""
    records, value = [], start
    for kind, by in layers:
        made = _MADE[kind](value, np.float32(by)).astype(np.float32)
        records += operator(f"Default/{kind}-{by}", [value], [made], kind)
        value = made
    return records


def origin(expected: list[Record], found: list[Record]) -> Origin:
    first = first_divergence(check(expected, found))
    assert first is not None
    return first


@given(st.integers(0, len(LAYERS) - 1))
def test_a_replaced_operator_is_the_divergence(at: int) -> None:
    changed = list(LAYERS)
    changed[at] = ("Max", 7.5)
    first = origin(chain(LAYERS), chain(changed))
    kind, by = LAYERS[at]
    assert first.title() == f"replaced: Default/{kind}-{by} by Default/Max-7.5"
    assert first.op_types == (kind, "Max")
    before = None if at == 0 else "Default/{}-{}".format(*LAYERS[at - 1])
    assert first.before == (before, before)


@given(st.integers(0, len(LAYERS) - 1))
def test_an_inserted_and_a_removed_operator(at: int) -> None:
    longer = [*LAYERS[:at], ("Max", 7.5), *LAYERS[at:]]
    before = None if at == 0 else "Default/{}-{}".format(*LAYERS[at - 1])
    for sides, kind in (((LAYERS, longer), Kind.INSERTED), ((longer, LAYERS), Kind.REMOVED)):
        first = origin(*map(chain, sides))
        assert (first.kind, first.where.operator, first.counterpart) == (kind, "Default/Max-7.5", None)
        assert first.before == (before, before)


@given(st.integers(1, len(LAYERS) - 2))
def test_what_was_left_out_before_a_replaced_operator_comes_first(at: int) -> None:
    other = ("Max", 7.5)
    first = origin(chain(LAYERS), chain([*LAYERS[:at], other, *LAYERS[at + 2 :]]))
    left_out, replaced = ("Default/{}-{}".format(*each) for each in LAYERS[at : at + 2])
    assert first.where.operator == left_out, replaced


def test_a_changed_order_of_operators_is_told_as_moved() -> None:
    changed = [LAYERS[0], LAYERS[2], LAYERS[1], *LAYERS[3:]]
    first = origin(chain(LAYERS), chain(changed))
    assert first.kind is Kind.MOVED
    assert first.where.operator in ("Default/Add-3.0", "Default/Sub-4.0")
    assert first.before[0] != first.before[1]


def test_the_output_of_another_operator_is_taken() -> None:
    a, b = X * 2, X * 3
    both = operator("a", [X], [a], "Mul") + operator("b", [X], [b], "Mul")
    first = origin(both + operator("c", [a], [a + 1]), both + operator("c", [b], [b + 1]))
    assert (first.kind, first.where.operator) == (Kind.REWIRED, "c")
    assert (first.inputs[0].expected_from, first.inputs[0].found_from) == ("a", "b")


def test_what_was_not_recorded_between_two_operators() -> None:
    made = operator("a", [X], [X * 2], "Mul")
    expected = made + operator("c", [X * 2], [X * 2 + 1])
    first = origin(expected, made + operator("c", [-X * 2], [-X * 2 + 1]))
    assert (first.kind, first.where.operator) == (Kind.UNRECORDED, "c")
    assert (first.inputs[0].state, first.inputs[0].expected_from) == (State.DIFFERS, "a")


def test_what_was_not_compared_never_counts_as_agreeing() -> None:
    """The true place, given something else, comes before a later operator with an input that was left out."""
    expected = operator("a", [X], [X * 2], "Mul") + operator("step", [X + 9], [X + 5], "Update")
    found = operator("a", [X + 1], [X * 2 + 2], "Mul") + operator("step", [X + 9], [X + 6], "Update")
    comparison = check(expected, found)
    sure = first_divergence(comparison)
    assert sure is not None
    assert (sure.where.operator, sure.inputs_agree) == ("step", True)
    where = execution_of(comparison.slots[-1].key)
    gradient = expected[-1].key._replace(io="input", slot=1)
    comparison.uncompared = {where: [Uncompared(gradient, "the run has nothing like it")]}
    first = first_divergence(comparison)
    assert first is not None
    assert (first.where.operator, first.kind) == ("a", Kind.GIVEN)
    only = Comparison([slot for slot in comparison.slots if execution_of(slot.key) == where])
    only.digests, only.uncompared = comparison.digests, comparison.uncompared
    alone = first_divergence(only)
    assert alone is not None
    assert (alone.kind, alone.inputs_agree) == (Kind.UNSURE, False)
    assert [each.state for each in alone.inputs] == [State.AGREES, State.NOT_COMPARED]


def test_an_input_of_one_side_is_the_divergence() -> None:
    """A bias left out comes before weights that were drawn otherwise because of it."""
    expected = operator("conv", [X, X, X], [X * 2]) + operator("head", [X * 2, X + 1], [X * 4])
    found = operator("conv", [X, X], [X * 3]) + operator("head", [X * 3, X + 5], [X * 6])
    first = origin(expected, found)
    assert (first.kind, first.where.operator) == (Kind.ARGUMENTS, "conv")
    assert first.inputs[2].state is State.NOT_COMPARED
    turned = origin(found, expected)
    assert (turned.kind, turned.where.operator) == (Kind.ARGUMENTS, "conv")


def test_an_input_within_the_tolerance_does_not_outrank_what_came_before() -> None:
    """A changed learning rate moves a weight a little, and an operator that cancels makes much of it."""
    weight, close = X, X * np.float32(1 + 1e-6)
    expected = operator("step", [np.float32([0.1, 0.2])], [X], "Mul") + operator("b", [weight], [X * 0 + 1], "Sub")
    found = operator("step", [np.float32([0.2, 0.2])], [X], "Mul") + operator("b", [close], [X * 0 + 2], "Sub")
    first = first_divergence(check(expected, found, 1e-4))
    assert first is not None
    assert (first.where.operator, first.kind) == ("step", Kind.GIVEN)


def test_state_updated_in_place_is_a_consequence() -> None:
    """bn1.moving_mean is dumped after the update: another pad mode shows there too, and is not made by it."""

    def net(factor: float) -> list[Record]:
        made = (X * np.float32(factor)).astype(np.float32)
        mean, gamma = made.mean(axis=0), np.ones(4, np.float32)
        records = operator("conv", [X], [made], "Conv2D")
        inputs = [made, gamma, gamma, mean, mean]
        records += operator("bn", inputs, [made - mean], "BatchNorm")
        return [*records, record(mean, "bn1.moving_mean", op_type="Parameter")]

    first = origin(net(1), net(2))
    assert (first.where.operator, first.kind) == ("conv", Kind.COMPUTED)


@pytest.mark.parametrize("alone", [True, False])
def test_a_run_that_shares_nothing_has_no_first_divergence(alone: bool) -> None:
    assert first_divergence(check(chain(LAYERS), [] if alone else operator("z", [X], [X]))) is None


def test_downstream_counts() -> None:
    changed = list(LAYERS)
    changed[1] = ("Add", 3.5)
    first = origin(chain(LAYERS), chain(changed))
    assert first.downstream.operators == 3  # the one that stands in its place is none of them
    assert first.downstream.agreeing == 1
    assert (first.downstream.ranks, first.downstream.iterations) == ((0,), (0,))


@pytest.mark.parametrize("op_type", ["Reshape", "Transpose", "cat"])
def test_what_only_lays_out_is_not_blamed_for_other_values(op_type: str) -> None:
    """Its inputs agree: something that was not recorded wrote to what it gave; in another order, it did it itself."""
    expected = operator("lay", [X], [X], op_type)
    assert origin(expected, operator("lay", [X], [X * 2], op_type)).kind is Kind.UNRECORDED
    assert origin(expected, operator("lay", [X], [X[::-1].copy()], op_type)).kind is Kind.COMPUTED
