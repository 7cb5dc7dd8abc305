"""Operators are paired by scope, type and data flow; what cannot be told apart is not paired."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.compare import Verdict, first_divergence
from harness.compare.pairing import check_paired, pair
from harness.compare.pairing.kinds import TABLE
from harness.compare.pairing.result import key_of
from harness.records import Record, RecordExtra, SlotKey
from harness.store import GoldenStore
from tests.compare.pairing.runs import Operator, content, found_of, mirrored, renamed, renumbered, run, seen, wrong
from tests.examples import examples
from tests.subprocesses import ROOT

GOLDEN = ROOT / "golden" / "tests" / "gate" / "test_networks"
#: networks whose operators flow and scope tell apart wholly
TOLD_APART = ("alexnet", "lenet", "residual", "transformer")


def golden(network: str, backend: str) -> list[Record]:
    with GoldenStore.open(Path(GOLDEN / f"test_{network}.h5")) as store:
        return [replace(r, values=None) for r in store.run(backend, "tensor").records()]


def layers(count: int) -> list[Operator]:
    """A chain of equal layers in one scope: a product, a bias, a rectifier."""
    operators, last = [], "x"
    for at in range(count):
        for op_type, other in (("MatMul", f"w{at}"), ("BiasAdd", f"b{at}"), ("ReLU", None)):
            name = f"Default/net-Net/{op_type}-op{at}"
            operators.append((name, op_type, [last, other] if other else [last]))
            last = name
    return [*operators, ("Default/net-Net/Softmax-op0", "Softmax", [last])]


@st.composite
def graphs(draw: st.DrawFn) -> list[Operator]:
    """Operators that take what earlier ones gave, or values from outside."""
    operators: list[Operator] = []
    types = ["MatMul", "ReLU", "Add", "Softmax", "Reshape", "Gather"]
    for at in range(draw(st.integers(1, 14))):
        op_type = draw(st.sampled_from(types))
        scope = draw(st.sampled_from(["Default/a-A", "Default/b-B", "Gradients/Default/a-A"]))
        known = [name for name, _, _ in operators] + ["x", f"w{at}"]
        inputs = draw(st.lists(st.sampled_from(known), min_size=1, max_size=2))
        operators.append((f"{scope}/{op_type}-op{at}", op_type, inputs))
    return operators


@pytest.mark.long
@examples(50, 50)
@given(graphs(), st.integers(0, 5))
def test_no_renaming_makes_a_wrong_pair(operators: list[Operator], seed: int) -> None:
    records = run(operators, iterations=2)
    other, names = renumbered(run(operators, iterations=2, seed=1), seed)
    assert wrong(pair(records, other, by_name=False), names) == []


@pytest.mark.long
@examples(50, 50)
@given(graphs(), graphs())
def test_exchanging_the_sides_exchanges_the_pairs(one: list[Operator], other: list[Operator]) -> None:
    left, right = run(one), run(other, seed=1)
    for by_name in (True, False):
        assert mirrored(pair(left, right, by_name=by_name)) == seen(pair(right, left, by_name=by_name))


@pytest.mark.long
@examples(50, 50)
@given(graphs())
def test_a_run_and_itself_are_paired_by_name(operators: list[Operator]) -> None:
    records = run(operators, iterations=2)
    assert found_of(pair(records, records)) == {name: {name} for name, _, _ in operators}


@pytest.mark.long
@examples(50, 50)
@given(graphs(), st.data())
def test_what_one_side_lacks_makes_no_wrong_pair(operators: list[Operator], data: st.DataObject) -> None:
    records = run(operators, iterations=2)
    gone = data.draw(st.sets(st.sampled_from([name for name, _, _ in operators]), max_size=3))
    left = [r for r in records if r.key.operator not in gone]
    assert wrong(pair(records, left), {}) == []


def test_what_looks_alike_after_a_loss_is_not_paired_against_its_name() -> None:
    names = [f"Default/a-A/MatMul-op{at}" for at in range(7)]
    sources = ("x", names[0], names[1], names[0], names[1], names[2], names[0])
    records = run([(name, "MatMul", [source]) for name, source in zip(names, sources, strict=True)], iterations=2)
    left = [record for record in records if record.key.operator != names[1]]
    assert wrong(pair(records, left), {}) == []


@st.composite
def odd_runs(draw: st.DrawFn) -> list[Record]:
    """Operators of any type that the table has, with any slots, shapes and contents."""
    types = st.sampled_from([*TABLE, "convolution_backward", "add_", "Parameter", "Unknown", "Fused_fusion"])
    records: dict[SlotKey, Record] = {}
    for at in range(draw(st.integers(0, 8))):
        op_type, iteration = draw(types), draw(st.integers(0, 1))
        for io, slot in draw(st.sets(st.tuples(st.sampled_from(["input", "output"]), st.integers(0, 5)), max_size=6)):
            key = SlotKey(0, draw(st.integers(0, 1)), iteration, f"Default/a-A/{op_type}-op{at}", 0, io, slot)
            shape = draw(st.sampled_from([(), (1,), (2, 3), (3, 2), (6,), (0, 3)]))
            dtype = draw(st.sampled_from(["Float32", "Float16", "Int32", "Int64", "Bool"]))
            values = np.full(shape, draw(st.integers(0, 3)), dtypes.by_name(dtype).numpy)
            members = (f"Default/a-A/ReLU-op{at}", f"Default/a-A/Add-op{at}") if "usion" in op_type else ()
            extra = RecordExtra(members=members)
            records[key] = Record(key, op_type, dtype, shape, values=values, extra=extra)
    return list(records.values())


@pytest.mark.long
@examples(40, 40)
@given(odd_runs(), odd_runs(), st.booleans())
def test_whatever_runs_hold_every_slot_is_compared_left_out_or_alone(
    left: list[Record], right: list[Record], names: bool
) -> None:
    comparison, pairing = check_paired(left, right, "exact", by_name=names)
    keys = [{r.key for r in side} for side in (left, right)]
    paired = [{key for pair in pairing.slots() for key in pair[side : side + 1]} for side in (0, 1)]
    told = [
        {key_of(at, rank, i) for rank, i, lone in pairing.alone(side) for at in lone.slots} for side in (0, 1)
    ]  # fmt: skip
    both = [{pair[side] for step in pairing.steps for pair in step.iterations.items()} for side in (0, 1)]
    for side in (0, 1):
        assert paired[side] | told[side] == {key for key in keys[side] if key.iteration in both[side]}
    assert {slot.key for slot in comparison.slots if slot.verdict is Verdict.MISSING} <= keys[0] - paired[0]
    assert mirrored(pairing) == seen(pair(right, left, by_name=names))


def test_a_chain_of_equal_layers_is_recovered_whatever_its_numbers_are() -> None:
    operators = layers(40)
    other, names = renumbered(run(operators, seed=1), 3, scopes=True)
    found = found_of(pair(run(operators), other, by_name=False))
    assert found == {name: {names[name]} for name, _, _ in operators}


def tower(count: int, scope: str) -> list[Operator]:
    """Equal layers, each in a cell of its own, that all take the network's input as well."""
    operators, last = [], "x"
    for at in range(count):
        for op_type, more in (("MatMul", [f"w{at}"]), ("BiasAdd", [f"b{at}"]), ("ReLU", []), ("Add", ["x"])):
            name = f"{scope.format(at)}/{op_type}-op{at}"
            operators.append((name, op_type, [last, *more]))
            last = name
    return operators


@pytest.mark.parametrize("count", [3, 40, 500])
def test_equal_layers_are_told_by_their_height_whatever_their_cells_are_called(count: int) -> None:
    one, other = tower(count, "Default/layers-SequentialCell/{}-Block"), tower(count, "Default/net-Net/b{}x-Other")
    names = {a[0]: b[0] for a, b in zip(one, other, strict=True)}
    found = pair(run(one), run(other, seed=1))
    assert wrong(found, names) == []
    assert len(found_of(found)) == 4 * count


def test_a_tower_that_is_higher_gives_no_wrong_pair() -> None:
    one, other = tower(30, "Default/layers-SequentialCell/{}-Block"), tower(31, "Default/net-Net/b{}x-Other")
    found = found_of(pair(run(one), run(other, seed=1)))
    assert len(found) <= 1


@examples(30, 30)
@given(graphs(), st.data())
def test_what_both_sides_lack_makes_no_wrong_pair(operators: list[Operator], data: st.DataObject) -> None:
    other, names = renumbered(run(operators, seed=1), 3, scopes=True)
    lost = data.draw(st.sampled_from([name for name, _, _ in operators]))
    left = [record for record in run(operators) if record.key.operator != lost]
    right = [record for record in other if record.key.operator != names[lost]]
    assert wrong(pair(left, right, by_name=False), names) == []


def test_deleting_an_operator_loses_that_one_only() -> None:
    operators = layers(12)
    gone = "Default/net-Net/BiasAdd-op5"
    other, names = renumbered([r for r in run(operators, seed=1) if r.key.operator != gone], 3)
    pairing = pair(run(operators), other, by_name=False)
    assert found_of(pairing) == {name: {names[name]} for name, _, _ in operators if name != gone}
    assert [lone.name.operator for _, _, lone in pairing.alone(0) if lone.whole] == [gone]
    assert not any(lone.whole for _, _, lone in pairing.alone(1))


def test_inserting_an_operator_loses_that_one_only() -> None:
    operators = layers(12)
    at = next(i for i, each in enumerate(operators) if each[0].endswith("ReLU-op5"))
    name, op_type, (before,) = operators[at]
    inserted = "Default/net-Net/Dropout-op0"
    changed = [*operators[:at], (inserted, "Dropout", [before]), (name, op_type, [inserted]), *operators[at + 1 :]]
    other, names = renumbered(run(changed, seed=1), 3)
    pairing = pair(run(operators), other, by_name=False)
    assert found_of(pairing) == {name: {names[name]} for name, _, _ in operators}
    assert [lone.name.operator for _, _, lone in pairing.alone(1) if lone.whole] == [names[inserted]]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("network", TOLD_APART)
@pytest.mark.parametrize("scopes", [False, True], ids=["renumbered", "other scopes"])
def test_a_real_run_under_other_names_is_recovered(network: str, scopes: bool) -> None:
    ours, theirs = golden(network, "cpu"), golden(network, "mindspore")
    other, names = renumbered(theirs, 5, scopes)
    random.Random(1).shuffle(other)
    pairing = pair(ours, other, by_name=False)
    assert wrong(pairing, names) == []
    alone = [lone for _, _, lone in pairing.alone(0) if lone.whole]
    assert len(alone) <= 0.02 * len({r.key[:5] for r in ours}), [lone.name.operator for lone in alone]


def test_what_cannot_be_told_apart_is_ambiguous() -> None:
    twins: list[Operator] = [(f"Default/a-A/ReLU-op{i}", "ReLU", ["x"]) for i in range(2)]
    pairing = pair(run(twins), run(twins, seed=1), by_name=False)
    assert found_of(pairing) == {}
    (group,) = pairing.steps[0].ambiguous
    assert [[name.operator for name in side] for side in group] == [[name for name, _, _ in twins]] * 2
    assert {lone.reason.partition(":")[0] for _, _, lone in pairing.alone(0)} == {"ambiguous"}


def test_zeros_everywhere_make_no_wrong_pair() -> None:
    operators = layers(3)
    zeros = [replace(r, digest=b"0" * 16) for r in run(operators)]
    other, names = renumbered(run(operators), 3)
    assert wrong(pair(zeros, other, by_name=False), names) == []
    assert wrong(pair(other, zeros, by_name=False), {new: old for old, new in names.items()}) == []


def test_a_wrong_value_breaks_no_pair() -> None:
    operators = layers(6)
    other, names = renumbered(run(operators, seed=1), 3)
    bad = names["Default/net-Net/ReLU-op2"]
    spoilt = [replace(r, digest=b"1" * 16) if r.key.operator == bad and r.key.io == "output" else r for r in other]
    assert found_of(pair(run(operators), spoilt, by_name=False)) == {name: {names[name]} for name, _, _ in operators}


def values(records: list[Record]) -> list[Record]:
    """Values for records, those of one digest equal."""
    numbers = [int.from_bytes((r.digest or b"")[:3], "big") for r in records]
    return [
        replace(r, values=np.full(r.shape, number, np.float32), digest=None)
        for r, number in zip(records, numbers, strict=True)
    ]


def test_the_first_divergence_is_named_across_names() -> None:
    operators = layers(4)
    other, names = renumbered(run(operators), 3)
    expected, found = values(run(operators)), values(other)
    at = "Default/net-Net/BiasAdd-op2"
    spoilt = False
    for record in found:
        spoilt |= record.key.operator == names[at] and record.key.io == "output"
        if spoilt and isinstance(record.values, np.ndarray) and "w" not in record.key.operator:
            record.values = record.values * np.float32(2)
    comparison, pairing = check_paired(expected, found, "exact", by_name=False)
    divergence = first_divergence(comparison)
    assert divergence is not None
    assert divergence.where.operator == at
    assert divergence.slots[0].found_as == SlotKey(0, 0, 0, names[at], 0, "output", 0)
    assert pairing.counts() == {"flow": len(operators) - 1, "scope": 1}


def test_a_renamed_run_agrees_slot_by_slot() -> None:
    operators = layers(4)
    other, _ = renumbered(run(operators), 3, scopes=True)
    comparison, _ = check_paired(values(run(operators)), values(other), "exact", by_name=False)
    assert comparison.holds
    assert len(comparison.slots) == len(run(operators))


@pytest.mark.parametrize(
    ("shape", "verdicts"),
    [
        ((3, 2), [Verdict.DIFFERS] * 2),
        ((2, 3, 2), [Verdict.UNEXPECTED, Verdict.UNEXPECTED, Verdict.MISSING, Verdict.MISSING]),
    ],
)
def test_exchanged_axes_differ_and_other_sizes_are_no_pair(shape: tuple[int, ...], verdicts: list[Verdict]) -> None:
    operators: list[Operator] = [("Default/a-A/Dropout-op0", "Dropout", ["x"])]
    left, right = values(run(operators)), values(run(operators, shape=shape))
    comparison, _ = check_paired(left, right, (1.0, 1.0))
    assert [slot.verdict for slot in comparison.slots] == verdicts


def test_split_and_merged_axes_are_none() -> None:
    operators: list[Operator] = [("Default/a-A/Dropout-op0", "Dropout", ["x"])]
    comparison, _ = check_paired(values(run(operators)), values(run(operators, shape=(6, 1))), "exact")
    assert comparison.holds


def test_narrower_floats_and_whole_numbers_are_compared_as_one_type() -> None:
    key = SlotKey(0, 0, 0, "Default/a-A/Dropout-op0", 0, "output", 0)
    left = [Record(key, "Dropout", "Float32", (2,), values=np.array([1 / 3, 2], np.float32))]
    right = [Record(key, "Dropout", "Float16", (2,), values=np.array([1 / 3, 2], np.float16))]
    for pair_of in ((left, right), (right, left)):
        assert check_paired(*pair_of, "exact")[0].holds
    whole = [Record(key, "Dropout", "Int32", (2,), values=np.array([1, 2], np.int32))]
    wide = [Record(key, "Dropout", "Int64", (2,), values=np.array([1, 2], np.int64))]
    assert check_paired(whole, wide, "exact")[0].holds
    wider = [Record(key, "Dropout", "Int64", (2,), values=np.array([1, 2**40], np.int64))]
    assert not check_paired(whole, wider, "exact")[0].holds


def test_an_unexpected_operator_of_an_expected_name_stays_apart() -> None:
    left, right = run([("Default/a-A/ReLU-op0", "ReLU", ["x"])]), run([("Default/a-A/ReLU-op0", "Tanh", ["x"])])
    comparison, _ = check_paired(values(left), values(right), "exact")
    assert sorted(slot.key.operator for slot in comparison.slots) == [
        "Default/a-A/ReLU-op0", "Default/a-A/ReLU-op0", "Default/a-A/ReLU-op0 (found)", "Default/a-A/ReLU-op0 (found)",
    ]  # fmt: skip


def test_iterations_of_other_labels_are_paired_in_order() -> None:
    operators = layers(2)
    later = [replace(r, key=r.key._replace(iteration=7)) for r in run(operators)]
    (step,) = pair(run(operators), later).steps
    assert step.iterations == {0: 7}


def test_names_decide_last_and_only_where_asked() -> None:
    twins: list[Operator] = [(f"Default/a-A/ReLU-op{i}", "ReLU", ["x"]) for i in range(2)]
    pairing = pair(run(twins), run(twins, seed=1))
    assert pairing.counts() == {"name": 2}


@pytest.mark.long
@pytest.mark.sampled(5)
@pytest.mark.parametrize("network", ["lenet", "residual", "half", "lstm", "transformer"])
def test_fused_and_renumbered_operators_of_another_device_make_no_wrong_pair(network: str) -> None:
    with GoldenStore.open(Path(GOLDEN / f"test_{network}.h5")) as store:
        runs = store.run("cpu", "tensor"), store.run("ascend-o1", "tensor")
        for by_name in (True, False):
            comparison, pairing = check_paired(*runs, (0.02, 0.01), by_name=by_name)
            assert [slot for slot in comparison.failures() if slot.verdict is Verdict.DIFFERS] == []
            assert sum(pairing.counts().values()) > 40


def test_modules_of_two_frameworks_in_msprobes_layout() -> None:
    ours: list[Operator] = [
        ("Cell.network._backbone.fc1.Dense.forward.0", "Dense", ["x"]),
        ("Cell.network._backbone.relu.ReLU.forward.0", "ReLU", ["Cell.network._backbone.fc1.Dense.forward.0"]),
        ("Cell.network._backbone.fc2.Dense.forward.0", "Dense", ["Cell.network._backbone.relu.ReLU.forward.0"]),
    ]
    names = {
        "Cell.network._backbone.fc1.Dense.forward.0": "Module.fc1.Linear.forward.0",
        "Cell.network._backbone.relu.ReLU.forward.0": "Module.relu.ReLU.forward.0",
        "Cell.network._backbone.fc2.Dense.forward.0": "Module.fc2.Linear.forward.0",
    }
    theirs = [replace(r, op_type=r.op_type.replace("Dense", "Linear")) for r in renamed(run(ours, seed=1), names)]
    assert found_of(pair(run(ours), theirs)) == {name: {other} for name, other in names.items()}


def test_numbers_that_changed_decide_nothing() -> None:
    """MindSpore numbers what another device fuses otherwise: where flow shows it, equal names say nothing."""
    operators: list[Operator] = [
        ("Default/a-A/ReLU-op0", "ReLU", ["x"]), ("Default/a-A/Softmax-op0", "Softmax", ["Default/a-A/ReLU-op0"]),
        ("Default/a-A/ReLU-op1", "ReLU", ["y"]),
        ("Default/b-B/Tanh-op0", "Tanh", ["z"]), ("Default/b-B/Tanh-op1", "Tanh", ["z"]),
    ]  # fmt: skip
    names = {"Default/a-A/ReLU-op0": "Default/a-A/ReLU-op1", "Default/a-A/ReLU-op1": "Default/a-A/ReLU-op0"}
    found = found_of(pair(run(operators), renamed(run(operators, seed=1), names)))
    assert found["Default/a-A/ReLU-op0"] == {"Default/a-A/ReLU-op1"}
    assert not found.keys() & {"Default/b-B/Tanh-op0", "Default/b-B/Tanh-op1"}


def test_mangled_names_are_those_of_the_same_place() -> None:
    operators = layers(3)
    names = {name: name.replace("/", "_") for name, _, _ in operators}
    pairing = pair(run(operators), renamed(run(operators, seed=1), names))
    assert found_of(pairing) == {name: {other} for name, other in names.items()}


@pytest.mark.parametrize("outer", ["", "left", "right"])
def test_a_network_within_another_cell_has_the_same_scopes_and_parameters(outer: str) -> None:
    def side(inside: bool) -> list[Record]:
        scope, prefix = ("outer-Outer/net-Net", "outer.") if inside else ("net-Net", "")
        operators: list[Operator] = []
        for at in range(3):
            operators.append((f"Default/{scope}/{at}-Norm/LayerNorm-op0", "LayerNorm", ["x", f"w{at}", "b"]))
            operators.append(
                (f"Default/{scope}/{at}-Norm/ReLU-op0", "ReLU", [f"Default/{scope}/{at}-Norm/LayerNorm-op0"])
            )
        records = run(operators, seed=int(inside))
        kept = [(f"{prefix}net.{at}.weight", f"w{at}") for at in range(3)]
        for name, made in kept:
            key = SlotKey(0, 0, 0, name, 0, "output", 0)
            records.append(Record(key, "Parameter", "Float32", (2, 3), digest=content(f"new {made}", int(inside))))
        return records

    pairing = pair(side(outer == "left"), side(outer == "right"))
    found = {name.replace("outer-Outer/", "").replace("outer.", "") for name in found_of(pairing)}
    assert len(found) == 9
    for name, others in found_of(pairing).items():
        inner = name.replace("outer-Outer/", "").removeprefix("outer.")
        assert {each.replace("outer-Outer/", "").removeprefix("outer.") for each in others} == {inner}
