"""Operators whose data flow both sides state are found again, whatever their numbers are."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.capture import Capture, CaptureBuilder
from harness.compare.first_divergence import first_divergence
from harness.compare.identities import Identities
from harness.compare.origin import Kind
from harness.compare.policy import Judgement, Party, judge
from harness.compare.verdict import Verdict
from harness.recording import Edge
from harness.records import Gap, SlotKey

TYPES = ("Add", "Mul", "Relu", "Tanh", "MatMul")
LAYERS = ("a", "b", "c")


@dataclass(frozen=True)
class Op:
    """An operator of a drawn network: an identity that no edit changes, a type, a layer, what it takes (numbers of
    identities; ``x``, ``w3``: data and weights), attributes."""

    id: int
    type: str
    layer: str
    takes: tuple[Any, ...]
    attributes: dict[str, Any] = field(default_factory=dict)


Net = tuple[Op, ...]


def network(seed: int, count: int = 16) -> Net:
    """Draws a network whose operators mostly take what came last."""
    draw, ops = random.Random(seed), []
    for at in range(count):
        kind = draw.choice(TYPES)
        before: list[Any] = ["x", *range(at)]
        taken = [before[-1] if draw.random() < 0.7 else draw.choice(before)]
        taken += [draw.choice(before)] if kind in ("Add", "Mul") else [f"w{at}"] if kind == "MatMul" else []
        ops.append(Op(at, kind, LAYERS[at * len(LAYERS) // count], tuple(taken), {"scale": 1.0 + draw.randrange(3)}))
    return tuple(ops)


def named(net: Net) -> dict[int, str]:
    """The names of operators: counted by layer and type, in the order they run."""
    seen: Counter[str] = Counter()
    names = {}
    for op in net:
        stem = f"Default/{op.layer}/{op.type}"
        names[op.id] = f"{stem}-op{seen[stem]}"
        seen[stem] += 1
    return names


def computed(net: Net) -> dict[Any, Any]:
    """The result of each operator, from the data on."""
    values: dict[Any, Any] = {"x": np.linspace(-1, 1, 6, dtype=np.float32)}
    for op in net:
        given = [_value(values, each) for each in op.takes]
        first = given[0]
        made = {
            "Add": lambda g=given: g[0] + g[-1], "Mul": lambda g=given: g[0] * g[-1], "Relu": lambda f=first: f.clip(0),
            "Tanh": lambda f=first: np.tanh(f), "MatMul": lambda g=given: g[0] * g[1] - 0.25,
        }[op.type]()  # fmt: skip
        values[op.id] = (made * np.float32(op.attributes.get("scale", 1))).astype(np.float32) / 2
    return values


def _value(values: dict[Any, Any], name: Any) -> Any:
    if isinstance(name, str) and name.startswith("w"):
        return np.random.default_rng(int(name[1:])).standard_normal(6).astype(np.float32)
    return values[name]


def capture(net: Net, steps: int = 1) -> Capture:
    """A run of a network, as its engine describes it."""
    builder, names, values = CaptureBuilder("net", "tinyrt 1.0"), named(net), computed(net)

    def edge(name: Any) -> Edge:
        if isinstance(name, int):
            return Edge("result", names[name])
        return Edge("argument" if name == "x" else "parameter", name)

    for op in net:
        builder.operator(names[op.id], op.type, op.attributes, inputs=[edge(each) for each in op.takes])
    for step in range(steps):
        builder.step(step)
        for op in net:
            inputs = [_value(values, each) for each in op.takes]
            builder.launch(names[op.id], inputs=inputs, outputs=[values[op.id]])
    return builder.capture()


def judged(one: Net, other: Net, steps: int = 1) -> Judgement:
    """Both runs compared, as the gate does."""
    sides = (
        Party(made, "tinyrt", identities=Identities.of(made.operators))
        for made in (capture(one, steps), capture(other, steps))
    )
    return judge(*sides, lay=lambda _one, _other: None)


def compared(made: Judgement) -> dict[str, str]:
    """The run's operator that each of the golden's was compared with."""
    both = (slot for slot in made.comparison.slots if slot.verdict not in (Verdict.MISSING, Verdict.UNEXPECTED))
    return {slot.key.operator: (slot.found_as or slot.key).operator for slot in both if slot.key.io == "output"}


def edited(net: Net, kind: str, draw: random.Random) -> Net:
    """A network with one edit."""
    ops, at = list(net), draw.randrange(1, len(net) - 1)
    one, new = ops[at], 1000
    if kind == "inserted":
        ops[at] = replace(one, takes=(new, *one.takes[1:]))
        ops.insert(at, Op(new, draw.choice(("Relu", "Tanh")), one.layer, (one.takes[0],)))
    elif kind == "removed":
        del ops[at]
        ops = [replace(op, takes=tuple(one.takes[0] if t == one.id else t for t in op.takes)) for op in ops]
    elif kind == "attribute":
        ops[at] = replace(one, attributes={"scale": 7.0})
    elif kind == "rewired":
        before = [each for each in ["x", *(op.id for op in ops[:at])] if each != one.takes[0]]
        ops[at] = replace(one, takes=(draw.choice(before), *one.takes[1:]))
    else:  # another order, in which everything still comes after what it takes
        ranks, order = {op.id: draw.random() for op in ops}, []
        while ops:
            placed = {op.id for op in order}
            ready = [op for op in ops if all(not isinstance(t, int) or t in placed for t in op.takes)]
            order.append(min(ready, key=lambda op: ranks[op.id]))
            ops.remove(order[-1])
        ops = order
    return tuple(ops)


KINDS = ("inserted", "removed", "attribute", "rewired", "order")


def wrong(one: Net, other: Net, made: Judgement) -> list[str]:
    """The operators that both networks have and that were not compared with each other."""
    names, found, pairs = named(one), named(other), compared(made)
    return [
        f"{names[each]}: {pairs.get(names[each])}, not {found[each]}"
        for each in names.keys() & found.keys()
        if pairs.get(names[each]) != found[each]
    ]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_one_edit_hides_no_other_operator(kind: str, seed: int) -> None:
    net = network(seed)
    run = edited(net, kind, random.Random(seed))
    made = judged(net, run)
    apart = [] if made.holds else wrong(net, run, made)
    # One that an edit leaves without its maker, its taker and its own look may be taken for its twin.
    assert len(apart) <= 1, apart


def renamed_layer(net: Net, old: str, new: str) -> Net:
    """The same network; a layer and its weights have another name."""
    return tuple(replace(op, layer=new) if op.layer == old else op for op in net)


@pytest.mark.parametrize("seed", range(4))
def test_a_layer_of_another_name_is_found_again_beside_an_edit(seed: int) -> None:
    net = network(seed)
    run = renamed_layer(edited(net, "inserted", random.Random(seed)), "b", "other")
    made = judged(net, run)
    assert not wrong(net, run, made)
    assert any(note.startswith("Other names: ") for note in made.notes)


def test_several_steps_have_one_alignment() -> None:
    net = network(3)
    made = judged(net, edited(net, "removed", random.Random(3)), steps=3)
    missing = [slot.key for slot in made.comparison.slots if slot.verdict is Verdict.MISSING]
    assert len({key.operator for key in missing}) == 1
    assert {key.iteration for key in missing} == {0, 1, 2}
    assert not [slot for slot in made.comparison.slots if slot.verdict is Verdict.UNEXPECTED]


def test_what_is_said_of_an_operator_is_said_under_the_goldens_name() -> None:
    """An attribute changed, and a gap, behind one that was removed."""
    net: Net = (Op(0, "Relu", "a", ("x",)), Op(1, "MatMul", "a", (0, "w1")), Op(2, "MatMul", "a", (1, "w2")))
    run: Net = (net[0], replace(net[2], takes=(0, "w2"), attributes={"scale": 3.0}))
    sides = capture(net), capture(run)
    gap = Gap(SlotKey(0, 0, 0, "Default/a/MatMul-op0", 0, "output", 1), "MatMul", "nobody knows")
    parties = (
        Party(made, "tinyrt", identities=Identities.of(made.operators), gaps=lambda gaps=gaps: gaps)
        for made, gaps in zip(sides, ((), (gap,)), strict=True)
    )
    made = judge(*parties, lay=lambda _one, _other: None)
    assert [str(each) for each in made.comparison.altered] == ["Default/a/MatMul-op1: scale is 3.0, expected nothing"]
    assert [each.key.operator for each in made.comparison.gaps] == ["Default/a/MatMul-op1"]


def test_two_that_run_in_another_order_are_a_difference_only_where_order_is_one() -> None:
    one: Net = (Op(0, "Relu", "a", ("x",)), Op(1, "Relu", "a", (0,)), Op(2, "Relu", "a", ("x",), {"scale": 3.0}))
    sides = [capture(net) for net in (one, (one[0], one[2], one[1]))]
    for emulated in (False, True):
        parties = (Party(s, "cpu", emulated=emulated, identities=Identities.of(s.operators)) for s in sides)
        made = judge(*parties, lay=lambda _one, _other: None)
        assert {slot.verdict for slot in made.comparison.slots} == {Verdict.IDENTICAL}
        assert made.holds is not emulated
        assert (made.comparison.order is not None) is emulated
        assert any(note.startswith("Order: ") for note in made.notes)


def test_a_run_without_edges_is_compared_by_name() -> None:
    net = network(5)
    run = edited(net, "removed", random.Random(5))
    sides = capture(net), capture(run)
    parties = (
        Party(made, "tinyrt", identities=Identities.of({} if bare else made.operators))
        for made, bare in zip(sides, (False, True), strict=True)
    )
    made = judge(*parties, lay=lambda _one, _other: None)
    assert not made.comparison.renamed


def test_an_input_comes_from_the_operator_that_is_stated_not_from_its_twin() -> None:
    """Two dead branches hold the same zeros: one of them changes, then the operator behind the other takes data."""
    net: Net = (
        Op(0, "Relu", "a", ("x",), {"scale": 0.0}), Op(1, "Relu", "b", ("x",), {"scale": 0.0}),
        Op(2, "Tanh", "c", (0,)), Op(3, "Tanh", "d", (1,)),
    )  # fmt: skip
    run = (net[0], replace(net[1], attributes={"scale": 2.0}), *net[2:])
    origin = first_divergence(judged(net, run).comparison)
    assert origin is not None
    assert (origin.kind, origin.where.operator) == (Kind.COMPUTED, "Default/b/Relu-op0")
    other = (net[0], net[1], replace(net[2], takes=("x",)), net[3])
    origin = first_divergence(judged(net, other).comparison)
    assert origin is not None
    assert origin.where.operator == "Default/c/Tanh-op0"
