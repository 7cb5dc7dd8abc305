"""What statistics alone tell: a factor, a sign, an offset, one value everywhere, NaN; and else nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dtypes import float32
from harness.explain.counted import seen_in_statistics
from harness.records import Record, RecordExtra, SlotKey
from harness.stats import describe
from harness.stats.printed import PrintedStatistics, host_texts
from harness.testing.faults import run

KEY = SlotKey(0, 0, 0, "Default/Add-op0", 0, "output", 0)
ITEMS = ("max", "min", "avg", "l2norm")
SEEDS = st.integers(0, 2**32 - 1)


def record(values: Any, kept: str = "values") -> Record:
    """A record that kept its values, their statistics, or a row of six digits."""
    array = np.asarray(values, np.float32)
    if kept == "values":
        return Record(KEY, "Add", "Float32", array.shape, values=array)
    known: Any = describe(array, "Float32")
    if kept == "row":
        known = PrintedStatistics(zip(ITEMS, host_texts(array, float32, ITEMS), strict=True), "Float32")
    return Record(KEY, "Add", "Float32", array.shape, digest=b"1" * 16, extra=RecordExtra(statistics=known, row=known))


def drawn(seed: int) -> Any:
    return np.random.default_rng(seed).normal(0.3, 1, size=(7, 9)).astype(np.float32)


@pytest.mark.parametrize("kept", ["statistics", "row"])
@given(seed=SEEDS)
def test_what_fits_is_likely(kept: str, seed: int) -> None:
    e = drawn(seed)
    for f, kind, words in (
        (e * np.float32(0.5), "factor", "times 0.5"),
        (-e, "sign", "with the other sign"),
        (e + np.float32(2), "offset", "plus 2"),
    ):
        finding = seen_in_statistics(record(e, kept), record(f))
        assert finding is not None
        assert (finding.kind, finding.exact) == (kind, False)
        assert words in finding.text


def test_what_is_certain() -> None:
    e = drawn(1)
    zero = seen_in_statistics(record(e, "row"), record(np.zeros_like(e)))
    assert zero is not None
    assert (zero.kind, zero.exact) == ("zero", True)
    once = e.copy()
    once[3, 4] = np.nan
    nan = seen_in_statistics(record(e, "statistics"), record(once))
    assert nan is not None
    assert nan.text == "1 of 63 elements are NaN, none is expected to be"


@given(SEEDS)
def test_else_nothing_is_said(seed: int) -> None:
    random = np.random.default_rng(seed)
    e = drawn(seed)
    others = [
        random.permutation(e.reshape(-1)).reshape(e.shape),
        drawn(seed + 1),
        np.clip(e, -0.5, 0.5),
        np.where(random.random(e.shape) < 0.3, 0, e),
        e + random.normal(size=e.shape).astype(np.float32) / 8,
    ]
    for f in others:
        assert seen_in_statistics(record(e, "row"), record(f)) is None


def test_a_symmetric_tensor_does_not_tell_its_sign() -> None:
    e = np.array([-2, -1, 0, 1, 2], np.float32)
    assert seen_in_statistics(record(e, "row"), record(-e)) is None


def test_a_golden_of_statistics_says_only_what_is_right() -> None:
    outcomes = list(run(4, 5, ["statistics"]))
    assert not any(each.passed for each in outcomes)
    assert all(each.right for each in outcomes if each.stated)
    said = [reason for each in outcomes if each.explanation is not None and (origin := each.explanation.origin)
            for reason in (origin.reason, origin.inputs)]  # fmt: skip
    assert "identical" not in " ".join(said)


ODD = st.sampled_from(["nan", "inf", "-inf", "-1", "1e200", "-1e308", "1e400", "0", "0.5", "7", "x", ""])


@given(st.tuples(*[ODD] * 5), st.tuples(*[ODD] * 5))
def test_rows_may_state_anything(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    """A count of NaN that was NaN itself, and a norm whose square no float holds, ended commands in a traceback."""
    sides = []
    for texts in (one, other):
        row = PrintedStatistics(zip((*ITEMS, "nan count"), texts, strict=True), "Float32")
        sides.append(Record(KEY, "Add", "Float32", (3,), digest=b"1" * 16, extra=RecordExtra(statistics=row, row=row)))
    found = seen_in_statistics(*sides)
    nans = [float(each[4]) if each[4] not in ("", "x") else np.nan for each in (one, other)]
    if any(not 0 <= each <= 3 for each in nans):
        assert found is None
    elif nans[1] and not nans[0]:
        assert found is not None
        assert found.kind == "NaN source"
