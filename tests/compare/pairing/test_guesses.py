"""Operators without a pair are listed, never guessed; an operation of one side alone counts."""

from __future__ import annotations

import pytest

from harness.compare.pairing import check_paired, pair
from harness.records import Record, SlotKey
from tests.compare.pairing.runs import Operator, content, found_of, run


def parameter(name: str, seed: int = 0) -> Record:
    key = SlotKey(0, 0, 0, name, 0, "output", 0)
    return Record(key, "Parameter", "Float32", (2, 3), digest=content(name, seed))


def test_an_unused_parameter_is_paired_with_no_input() -> None:
    operators: list[Operator] = [("Default/a-A/ReLU-op0", "ReLU", ["x"])]
    left = [*run(operators), parameter("x")]
    right = [*run(operators, seed=1), parameter("spare.weight", 2)]
    for sides in ((left, right), (right, left)):
        pairing = pair(*sides)
        assert found_of(pairing) == {name: {name} for name, _, _ in operators}
        assert all(lone.explained for side in (0, 1) for _, _, lone in pairing.alone(side))


def test_an_operator_that_stands_elsewhere_is_no_pair() -> None:
    a, b = "Default/a-Softmax/Softmax-op0", "Default/b-Gather/Gather-op0"
    left: list[Operator] = [
        (a, "Softmax", ["x"]),
        ("Default/ReLU-op0", "ReLU", [a]),
        (b, "Gather", ["Default/ReLU-op0"]),
    ]
    right: list[Operator] = [
        ("Default/relu-op0", "relu", ["x"]),
        (a, "Softmax", ["Default/relu-op0"]),
        (b, "Gather", [a]),
    ]
    pairing = pair(run(left), run(right, seed=1))
    assert found_of(pairing) == {a: {a}, b: {b}}
    ((_, _, lone),) = pairing.alone(0)
    assert (lone.name.operator, lone.explained) == ("Default/ReLU-op0", False)
    assert lone.reason.startswith("unsure: it could be Default/relu-op0, but ")


@pytest.mark.parametrize("crossed", [False, True])
def test_what_is_joined_is_told_by_its_place(crossed: bool) -> None:
    names = [f"Default/{each}-A/Softmax-op0" for each in "abpq"]
    twins: list[Operator] = [(name, "Softmax", ["x"]) for name in names]
    theirs = names[2:][::-1] if crossed else names[2:]
    left: list[Operator] = [*twins[:2], ("Default/Concat-op0", "Concat", names[:2])]
    right: list[Operator] = [*twins[2:], ("Default/cat-op0", "cat", theirs)]
    found = found_of(pair(run(left), run(right, seed=1)))
    assert found == {"Default/Concat-op0": {"Default/cat-op0"}, names[0]: {theirs[0]}, names[1]: {theirs[1]}}


def test_the_derivative_of_a_mean_square_is_compared_with_its_last_steps() -> None:
    before: Operator = ("Default/a-A/ReLU-op0", "ReLU", ["x"])
    last: Operator = ("Gradients/Default/a-A/SigmoidGrad-op0", "SigmoidGrad", [before[0], "Gradients/Default/Mul-op0"])
    left: list[Operator] = [
        before, ("Gradients/Default/RealDiv-op0", "RealDiv", ["grad", "count"]),
        ("Gradients/Default/Mul-op0", "Mul", ["Gradients/Default/RealDiv-op0", "double"]), last,
    ]  # fmt: skip
    fused = "Gradients/Default/mse_loss_backward-op0"
    right: list[Operator] = [
        before,
        (fused, "mse_loss_backward", ["grad", "y", "target"]),
        (*last[:2], [before[0], fused]),
    ]
    found = found_of(pair(run(left), run(right, seed=1)))
    assert found == {each[0]: {fused} if each in left[1:3] else {each[0]} for each in left}


EXCHANGED: list[Operator] = [
    ("Default/a-A/ReLU-op0", "ReLU", ["x"]),
    ("Default/a-A/Transpose-op0", "Transpose", ["Default/a-A/ReLU-op0"]),
    ("Default/a-A/Reshape-op0", "Reshape", ["Default/a-A/Transpose-op0"]),
]


@pytest.mark.parametrize("side", [0, 1])
def test_axes_exchanged_in_a_result_need_a_counterpart(side: int) -> None:
    sides = [run(EXCHANGED), run(EXCHANGED[:1])]
    comparison, pairing = check_paired(sides[side], sides[1 - side])
    gone = [lone.name.operator for _, _, lone in pairing.alone(side) if not lone.explained]
    assert gone == ["Default/a-A/Transpose-op0"]
    assert not comparison.holds


@pytest.mark.parametrize(
    ("more", "shape"),
    [
        ([("Default/a-A/MatMul-op0", "MatMul", ["Default/a-A/Reshape-op0"])], (2, 3)),  # it is used
        ([], (1, 3)),  # there is nothing to exchange
    ],
)
def test_axes_exchanged_before_an_operator_need_none(more: list[Operator], shape: tuple[int, ...]) -> None:
    short = [(name, "mm", [EXCHANGED[0][0]]) for name, _, _ in more]
    pairing = pair(run([*EXCHANGED, *more], shape=shape), run([*EXCHANGED[:1], *short], shape=shape))
    assert all(lone.explained for _, _, lone in pairing.alone(0))


def test_axes_exchanged_twice_need_none() -> None:
    records = run(EXCHANGED[:2])
    back = "Default/a-A/Transpose-op1"
    records += run([(back, "Transpose", [EXCHANGED[1][0]])])
    records[-1].digest = records[1].digest
    assert all(lone.explained for _, _, lone in pair(records, run(EXCHANGED[:1])).alone(0))
