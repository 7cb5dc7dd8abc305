"""Plans of random graphs, checked independently of the planner."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.devices import DEVICES
from harness.memory import MemoryPlan, PlanNode, PlanTensor, State, plan_state
from tests.memory.random_states import check_bytes, orders, states

CPU, ASCEND = DEVICES.get("cpu"), DEVICES.get("ascend-o0")
SEEDS = st.lists(st.integers(0, 10**6), min_size=1, max_size=3)


def check_figures(plan: MemoryPlan) -> None:
    """What every plan keeps to."""
    state = plan.state
    placed = [tensor for tensor in state.tensors if tensor.aligned]
    assert all(tensor.offset % 512 == 0 and tensor.aligned % 512 == 0 for tensor in placed)
    assert plan.total == max((tensor.offset + tensor.aligned for tensor in placed), default=0)
    assert plan.lower_bound() <= plan.total <= plan.sum_of_sizes()
    used = np.zeros(plan.total, int)
    for tensor in placed:
        used[tensor.offset : tensor.offset + tensor.aligned] = 1
    merged = np.zeros(plan.total, int)
    for start, size in plan.merged:
        merged[start : start + size] += 1
    assert (used == merged).all()
    assert [start for start, _ in plan.merged] == sorted((start for start, _ in plan.merged), reverse=True)


@given(states(CPU), SEEDS)
def test_no_byte_is_written_while_it_is_needed_in_any_order(state: State, seeds: list[int]) -> None:
    plan = plan_state(state)
    check_figures(plan)
    check_bytes(plan, iter(state.nodes))
    for seed in seeds:
        check_bytes(plan, orders(state, seed))


@given(states(ASCEND, streams=2), SEEDS)
def test_the_same_on_few_streams(state: State, seeds: list[int]) -> None:
    plan = plan_state(state, device=ASCEND)
    check_figures(plan)
    for seed in seeds:
        check_bytes(plan, orders(state, seed))


@given(states(ASCEND, streams=1))
def test_on_one_stream_what_is_done_with_is_reused_at_once(state: State) -> None:
    plan = plan_state(state, device=ASCEND)
    check_bytes(plan, iter(state.nodes))
    for first in plan.state.tensors:
        for second in plan.state.tensors:
            apart = first.end < second.start and plan.sizes[first.index] and plan.sizes[second.index]
            if apart and not {first.kind, second.kind} & {"Union"}:
                assert plan.relation[first.index, second.index]


@given(states(CPU))
def test_without_reuse_no_byte_is_taken_twice(state: State) -> None:
    plan = plan_state(state, reuse=False)
    check_figures(plan)
    assert plan.total == plan.sum_of_sizes()
    assert not plan.relation.any()


@given(states(CPU), st.data())
def test_what_lives_as_long_as_the_graph_lies_behind_and_alone(state: State, data: st.DataObject) -> None:
    plain = [t.index for t in state.tensors if t.kind in ("Workspace", "OutputOnly") and not _updates(state, t.index)]
    chosen = data.draw(st.sets(st.sampled_from(plain)) if plain else st.just(set()))
    tensors = tuple(replace(t, lifelong="GraphAll") if t.index in chosen else t for t in state.tensors)
    plan = plan_state(replace(state, tensors=tensors))
    check_figures(plan)
    rest = [t.offset + t.aligned for t in plan.state.tensors if t.index not in chosen and t.aligned]
    at = max(rest, default=0)
    for index in sorted(chosen):
        assert plan.state.tensors[index].offset == at
        at += plan.sizes[index]


def _updates(state: State, tensor: int) -> bool:
    return state.nodes[state.tensors[tensor].node].op in ("AssignAdd", "Reshape")


@given(st.lists(st.integers(1, 4000), min_size=2, max_size=5), st.integers(0, 3))
def test_a_contiguous_list_has_no_gaps(sizes: list[int], others: int) -> None:
    tensors = [
        PlanTensor(i, CPU.memory.aligned(s), s, 0, "OutputOnly", "None", i, i, i)
        for i, s in enumerate([*sizes, *[700] * others])
    ]
    nodes = tuple(PlanNode(i, f"Default/MatMul-op{i}", (), (i,), (), i) for i in range(len(tensors)))
    plan = plan_state(State((), tuple(tensors), nodes, contiguous=(tuple(range(len(sizes))),)))
    check_figures(plan)
    members = plan.state.tensors[: len(sizes)]
    for left, right in pairwise(members):
        assert left.offset + left.aligned == right.offset


@pytest.mark.long
@given(states(CPU))
@settings(max_examples=20)
def test_planning_is_deterministic(state: State) -> None:
    assert plan_state(state).state == plan_state(state).state
