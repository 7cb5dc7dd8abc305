"""What a golden of a training keeps by value: bounded, the first step first, and told where it is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.capture.slimming import BOUND, slimmed
from harness.compare import Verdict, check
from harness.errors import StoreError
from harness.records import Record, SlotKey
from harness.stats import Statistics, digest
from harness.store import GoldenStore, RunData, RunId, update

RUN = RunId("torch", "tensor")


def _record(operator: str, iteration: int, values: Any, op_type: str = "mm", io: str = "output") -> Record:
    array = np.asarray(values, np.float32)
    key = SlotKey(0, 0, iteration, operator, 0, io, 0)
    return Record(key, op_type, "Float32", array.shape, values=array, digest=digest(array, "Float32"))


def _training(steps: int, weight: int, activation: int, *, updated: bool = True) -> list[Record]:
    draw, found = np.random.default_rng(0), []
    for step in range(steps):
        value = lambda size: draw.standard_normal(size)  # noqa: E731
        found += [_record("fc/mm-op0", step, value(weight), io="input"), _record("fc/mm-op0", step, value(activation))]
        found.append(_record("Default/loss", step, value(100), "Result"))
        found.append(_record("Gradients/fc/mm-op0", step, value(weight)))
        for at in range(6 if updated else 0):
            found.append(_record(f"Default/optimizer-SGD/add_-op{at}", step, value(weight)))
        found += [
            _record("fc.weight.grad", step, value(weight), "Gradient"),
            _record("fc.weight", step, value(weight), "Parameter"),
        ]
    return found


def _size(records: list[Record]) -> int:
    return sum({each.digest: each.values.nbytes for each in records if isinstance(each.values, np.ndarray)}.values())


@given(st.integers(1, 5), st.integers(1, 3000), st.integers(1, 3000))
def test_a_training_is_bounded(steps: int, weight: int, activation: int) -> None:
    whole = _training(steps, weight, activation)
    kept = slimmed(whole)
    assert [each.key for each in kept] == [each.key for each in whole]
    assert [each.digest for each in kept] == [each.digest for each in whole]
    small = sum(each.values.nbytes for each in whole if each.values.nbytes <= 256 or each.op_type == "Result")
    assert _size(kept) <= BOUND(steps) * 4 * (weight + activation) + small
    left = [each for each in kept if each.values is None]
    assert all(isinstance(each.statistics(), Statistics) for each in left)
    assert all(each.values is not None for each in kept if each.op_type == "Result")
    if weight > 64:
        assert {each.key.operator for each in left} >= {f"Default/optimizer-SGD/add_-op{at}" for at in range(6)}
    first = [each for each in kept if each.key.iteration == 0 and each.key.operator == "fc/mm-op0"]
    assert steps * 11 * 64 > 4 * (weight + activation) or all(each.values is not None for each in first)


def test_what_has_no_optimizer_is_whole() -> None:
    records = _training(3, 1000, 1000, updated=False)
    assert slimmed(records) == records


def test_equal_arrays_keep_their_values() -> None:
    records = _training(1, 3000, 3000)
    weight = records[0].values
    records.append(_record("Default/optimizer-SGD/add_-op9", 0, weight))
    assert slimmed(records)[-1].values is weight


def test_a_difference_is_told_as_what_it_is(tmp_path: Path) -> None:
    path, records = tmp_path / "net.h5", _training(2, 1000, 100)
    update(path, "Net", {RUN: RunData(slimmed(records))})
    with GoldenStore.open(path) as store:
        run = store.run(*RUN)
        assert run.level == "tensors"
        assert not store.verify()
        assert check(run, records, "exact").holds
        at = next(at for at, each in enumerate(records) if each.key.operator.endswith("add_-op3"))
        before = run.record(at)
        assert before.values is None
        assert before.statistics().count == 1000
        with pytest.raises(StoreError, match="values were not kept; --msdump-level=everything keeps them"):
            run.tensor(at)
        array = records[at].values
        assert isinstance(array, np.ndarray)
        for factor, holds in ((1 + 1e-7, True), (1.1, False)):
            changed = [*records]
            changed[at] = _record(records[at].key.operator, 0, array * np.float32(factor), records[at].op_type)
            found = check(run, changed, 1e-5)
            assert found.holds == holds
            slot = found.slots[at]
            assert slot.verdict is (Verdict.WITHIN if holds else Verdict.DIFFERS)
            assert "the golden's values were not kept; by statistics: " in slot.reason


def test_a_store_is_copied_whole(tmp_path: Path) -> None:
    path, records = tmp_path / "net.h5", _training(2, 1000, 100)
    update(path, "Net", {RUN: RunData(slimmed(records))})
    before = path.read_bytes()
    update(path, "Net", {RunId("cpu", "tensor"): RunData(records[:3])})
    with GoldenStore.open(path) as store:
        assert check(store.run(*RUN), records, "exact").holds
        assert not store.verify()
    update(path, "Net", {RUN: RunData(slimmed(records)), RunId("cpu", "tensor"): None})
    assert path.read_bytes() == before
