"""Reads and updates of parameters, and the state that keeps them in order."""

from __future__ import annotations

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from harness.dtypes import float32
from harness.framework.compile.states import States, merged
from harness.graph import IO, Node, Operand, Parameter, Spec, TensorSpec, U

SPEC = TensorSpec(float32, (2,))


def virtual(op: str, inputs: list[Operand], spec: Spec) -> Node:
    return Node(op, inputs, {}, "Default", spec, kernel=False)


def weight(name: str) -> Parameter:
    return Parameter(name, SPEC, True)


def load(name: str) -> Node:
    return virtual("Load", [weight(name), U], SPEC)


def update(target: Parameter) -> Node:
    return Node("Assign", [target], {}, "Default", SPEC)


def test_a_parameter_is_read_once_between_updates() -> None:
    states, w, region = States(virtual), weight("w"), object()
    first = states.read(w, region, 0)
    assert states.read(w, region, 0) is first
    assert states.read(w, object(), 0) is not first
    states.update(update(w), [w], 0)
    assert states.read(w, region, 0) is not first


def test_an_update_follows_the_reads_before_it_and_is_followed() -> None:
    states, w = States(virtual), weight("w")
    read = states.read(w, None, 0)
    assign = update(w)
    states.update(assign, [w], 0)
    before = assign.inputs[-1]
    assert isinstance(before, Node)
    assert before.op == "UpdateState"
    assert before.inputs == [U, read]
    assert isinstance(states.state, Node)
    assert states.state.inputs == [before, assign]
    assert w.is_inplace


def test_several_reads_are_a_tuple_and_only_the_last_waits() -> None:
    states, a, b = States(virtual), weight("a"), weight("b")
    states.update(update(weight("other")), [], 0)
    state = states.state
    first, second = states.read(a, None, 0), states.read(b, None, 0)
    after = states.flush()
    assert isinstance(after, Node)
    pair = after.inputs[1]
    assert isinstance(pair, Node)
    assert pair.op == "MakeTuple"
    assert {id(i) for i in pair.inputs} == {id(first), id(second)}
    assert (first.inputs[1], second.inputs[1]) == (U, state)


def test_which_reads_float_does_not_change_with_later_updates() -> None:
    states, a, b = States(virtual), weight("a"), weight("b")
    states.update(update(weight("other")), [], 0)
    state = states.state
    first, second = states.read(a, None, 1), states.read(b, None, 1)
    states.update(update(weight("another")), [], 1)
    states.update(update(a), [a], 2)
    states.flush()
    assert (first.inputs[1], second.inputs[1]) == (U, state)


def test_nothing_read_leaves_the_state_alone() -> None:
    states = States(virtual)
    assert states.flush() is U


def test_after_differentiation_reads_are_not_noted_again() -> None:
    states, w = States(virtual), weight("w")
    read = states.read(w, None, 0)
    states.flush()
    states.differentiated = True
    mark = states.mark()
    assert states.read(w, None, 0) is read
    assert states.mark() == mark


def test_reads_of_one_operator_are_together() -> None:
    states = States(virtual)
    states.read(weight("w"), None, 0)
    mark, reader = states.mark(), update(weight("x"))
    assert not states.together(mark, reader)
    states.read(weight("a"), None, 1)
    states.read(weight("b"), None, 1)
    assert states.together(mark, reader)
    assert states.mark() == mark + 1


def test_printing_has_a_state_of_its_own() -> None:
    states = States(virtual)
    first, second = update(weight("x")), update(weight("y"))
    states.print(first)
    states.print(second)
    assert first.inputs[-1] is IO
    assert second.inputs[-1] is not IO
    assert isinstance(states.io_state, Node)
    assert states.io_state.inputs[1] is second
    assert states.state is U


def test_a_region_starts_anew_and_comes_back() -> None:
    states = States(virtual)
    states.update(update(weight("w")), [], 0)
    outside = states.state
    saved = states.leave()
    assert states.state is U
    states.back(saved)
    assert states.state is outside


def test_the_order_of_reads_that_is_measured() -> None:
    a, b, c = load("a"), load("b"), load("c")
    assert merged([[a]], False) == [a]
    assert merged([[a, b]], False) == [a, b]
    assert merged([[a, b]], True) == [b, a]
    assert merged([[a], [b], [c]], False) == [b, a, c]
    assert merged([[a, b], [c]], False) == [a, b, c]


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3), max_size=5), st.booleans())
def test_every_read_once_but_for_those_of_one_operator(units: list[list[int]], differentiated: bool) -> None:
    loads = [load(str(number)) for number in range(5)]
    order = merged([[loads[i] for i in unit] for unit in units], differentiated)
    assert len(units) == 1 or len(order) == len({id(read) for read in order})
    assert {id(read) for read in order} == {id(loads[i]) for i in chain(*units)}
