"""Paired runs are judged by operators with the same work: one operator of one side is one step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.compare import Comparison, first_divergence
from harness.compare.pairing import check_paired
from harness.compare.spread import Role, spread
from harness.records import Record
from tests.compare.pairing.runs import Operator, run

A, B = "Default/a-Dense", "Default/b-Dense"
#: ``b(relu(a(x)))`` in both frameworks' operators.
OURS: list[Operator] = [
    (f"{A}/MatMul-op0", "MatMul", ["x", "wa"]),
    (f"{A}/BiasAdd-op0", "BiasAdd", [f"{A}/MatMul-op0", "ba"]),
    ("Default/ReLU-op0", "ReLU", [f"{A}/BiasAdd-op0"]),
    (f"{B}/MatMul-op0", "MatMul", ["Default/ReLU-op0", "wb"]),
    (f"{B}/BiasAdd-op0", "BiasAdd", [f"{B}/MatMul-op0", "bb"]),
]
THEIRS: list[Operator] = [
    (f"{A}/t-op0", "t", ["wa"]),
    (f"{A}/addmm-op0", "addmm", ["ba", "x", f"{A}/t-op0"]),
    ("Default/relu-op0", "relu", [f"{A}/addmm-op0"]),
    (f"{B}/t-op0", "t", ["wb"]),
    (f"{B}/addmm-op0", "addmm", ["bb", "Default/relu-op0", f"{B}/t-op0"]),
]
#: What ours hold under other names.
SAME = {
    f"{A}/addmm-op0": f"{A}/BiasAdd-op0",
    f"{B}/addmm-op0": f"{B}/BiasAdd-op0",
    "Default/relu-op0": "Default/ReLU-op0",
}
#: Of weights, so that they are told from what they are multiplied with.
SHAPES = {"wa": (4, 3), "wb": (4, 3), f"{A}/t-op0": (3, 4), f"{B}/t-op0": (3, 4)}


def filled(operators: list[Operator], changed: frozenset[str] = frozenset()) -> list[Record]:
    """Records with values, one for each name, others for names in ``changed``."""
    records = []
    for record, name in zip(run(operators), contents(operators), strict=True):
        seed = sum(map(ord, SAME.get(name, name))) + 100_000 * (name in changed)
        values = np.random.default_rng(seed).uniform(1, 2, SHAPES.get(name, record.shape)).astype(np.float32)
        records.append(replace(record, shape=values.shape, values=values, digest=None))
    return records


def contents(operators: list[Operator]) -> list[str]:
    return [each for name, _, inputs in operators for each in (*inputs, name)]


def compared(changed: set[str], swap: bool = False) -> Comparison:
    """Our run, and theirs with other contents for some names; or the other way round."""
    sides = filled(OURS), filled(THEIRS, frozenset(changed))
    return check_paired(*(sides[::-1] if swap else sides), "exact")[0]


AFTER = {"Default/relu-op0", f"{B}/addmm-op0"}


def test_equal_networks_agree() -> None:
    assert compared(set()).holds
    assert compared(set(), swap=True).holds


@pytest.mark.parametrize("given", ["x", "wa", "ba"])
def test_an_input_of_one_part_is_one_of_the_whole(given: str) -> None:
    comparison = compared({given, f"{A}/t-op0", f"{A}/addmm-op0", *AFTER})
    divergence = first_divergence(comparison)
    assert divergence is not None
    assert not divergence.inputs_agree
    assert divergence.where.operator.startswith(A)
    assert spread(comparison).of(Role.NEW) == ()


@pytest.mark.parametrize("swap", [False, True])
def test_a_weight_before_a_layout_is_an_input(swap: bool) -> None:
    comparison = compared({"wb", f"{B}/t-op0", f"{B}/addmm-op0"}, swap)
    divergence = first_divergence(comparison)
    assert divergence is not None
    assert not divergence.inputs_agree
    assert spread(comparison).of(Role.NEW) == ()


@pytest.mark.parametrize(("swap", "where"), [(False, f"{A}/BiasAdd-op0"), (True, f"{A}/addmm-op0")])
def test_a_fused_operator_whose_inputs_agree_is_the_cause(swap: bool, where: str) -> None:
    divergence = first_divergence(compared({f"{A}/addmm-op0", *AFTER}, swap))
    assert divergence is not None
    assert divergence.inputs_agree
    assert divergence.where.operator == where


def test_the_counterpart_is_named_not_a_layout_before_it() -> None:
    comparison = compared({"wa", f"{A}/t-op0", f"{A}/addmm-op0", *AFTER})
    divergence = first_divergence(comparison)
    assert divergence is not None
    assert (divergence.where.operator, divergence.found_as) == (f"{A}/MatMul-op0", f"{A}/addmm-op0")
