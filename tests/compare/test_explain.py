"""The text of a failure: what it must say, and that it stays short."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.compare import Tolerance, check, explain, first_divergence, measure
from harness.compare.explain import MAX_BYTES, MAX_LINES
from harness.compare.smallest_tolerance import rounded_up
from harness.records import Record
from harness.store import GoldenStore, RunData, update
from tests.compare.helpers import operator
from tests.store.helpers import CPU, edit_index, network, record

NEXT = ["pytest --msdump-regen tests/test_x.py", "msdump show golden/x.h5"]


def text_of(expected: Any, found: Any, tolerance: Any = None) -> str:
    comparison = check(expected, found, tolerance)
    return explain(comparison, network="lenet", backend="cpu", mode="tensor", golden="golden/lenet.h5", next_steps=NEXT)


def wrong_kernel() -> list[Record]:
    records = network()
    changed = records[5].values.copy()
    changed[1, 2] += np.float32(0.25)
    changed[2, 0] = np.nan
    records[5].values = changed
    records[6].values = changed
    return records


def test_says_everything_one_needs() -> None:
    records = wrong_kernel()
    text = text_of(network(), records)
    slot = check(network(), records).failures()[0]
    m = slot.measurement
    assert m is not None
    expected, found = network()[5].values, records[5].values
    for part in (
        "lenet [cpu-tensor] does not agree with its golden golden/lenet.h5",
        "12 slots: 10 identical, 0 within tolerance, 2 differs, 0 missing, 0 unexpected",
        f"First divergence: graph 0, iteration 0, {records[5].key.operator}",
        f"at {records[5].source}",
        "its inputs agree, its outputs do not",
        "output.0 Float32[3, 5]: NaN or infinity stands against something else in 1 of 15 elements",
        "tolerance: exact; outside it: 2 of 15",
        f"max abs error {m.max_abs:.6g} at [1, 2]",
        f"max rel error {m.max_rel:.6g} at [1, 2]",
        f"max ULP error {m.max_ulp} at [1, 2]",
        f"at [2, 0]: expected {expected[2, 0]!s}, found {found[2, 0]!s}",
        "NaN: 0 expected, 1 found; Inf: 0 expected, 0 found",
        "Also failing (1):",
        f"{records[6].key.operator} input.0",
        "What to run next:\n  pytest --msdump-regen tests/test_x.py\n  msdump show golden/x.h5",
    ):
        assert part in text


def test_a_run_that_holds_says_so() -> None:
    assert "lenet [cpu-tensor] agrees with its golden" in text_of(network(), network())


def test_nothing_compared_says_so() -> None:
    assert "Nothing was compared" in text_of([], [])


def test_neighbouring_numbers_print_differently() -> None:
    one = np.float32(0.1)
    other = np.nextafter(one, np.float32(1))
    text = text_of([record(one)], [record(other)])
    assert f"expected {one!s}, found {other!s}" in text
    assert str(one) != str(other)
    assert "max ULP error 1 at []" in text


@given(st.floats(1e-30, 1e30))
def test_the_tolerance_that_would_pass_passes(value: float) -> None:
    assert float(rounded_up(value)) >= value
    assert float(rounded_up(value)) <= value * 1.011


@pytest.mark.parametrize("name", ["rtol", "atol", "max_ulp"])
def test_the_tolerance_offered_passes_and_is_near(name: str) -> None:
    rng = np.random.default_rng(3)
    one = rng.standard_normal(50).astype(np.float32)
    other = one + rng.standard_normal(50).astype(np.float32) * np.float32(1e-3)
    needed = getattr(measure(one, other, "Float32"), {"rtol": "max_rel", "atol": "max_abs"}.get(name, name))
    for part, offers in ((5, True), (20, False)):
        asked = Tolerance(**{name: type(needed)(needed / part)})
        lines = [x for x in text_of([record(one)], [record(other)], asked).splitlines() if "it would pass with" in x]
        assert bool(lines) is offers
        for line in lines:
            field, value = line.partition("with ")[2].split("=")
            offered = Tolerance(**{field: type(needed)(value)})
            assert (field, measure(one, other, "Float32", offered).within) == (name, True)


def test_under_equal_bits_no_tolerance_is_offered() -> None:
    assert "would pass" not in text_of([record(np.float32([1, 2]))], [record(np.float32([1, 2.5]))])


def test_integers_have_no_ulp_and_no_tolerance_to_offer() -> None:
    text = text_of([record(np.array([2**62]))], [record(np.array([2**62 + 1]))])
    assert f"expected {2**62}, found {2**62 + 1}" in text
    assert "max abs error 1 at [0]" in text
    assert "ULP" not in text
    assert "would pass" not in text


def test_order_and_names_are_told() -> None:
    a, b, c = operator("a", [1.0], [2.0]), operator("b", [1.0], [2.0]), operator("c", [1.0], [3.0], "Mul")
    text = text_of(a + b + c, b + a + operator("new", [1.0], [3.0], "Mul"))
    assert "Execution order changed at operator 0:\n  expected a (iteration 0)\n  found    b (iteration 0)" in text
    assert "Renamed? missing c, unexpected new" in text


def test_the_first_operator_of_one_side_is_told_with_its_line() -> None:
    both = operator("a", [1.0], [2.0])
    more = operator("new", [2.0], [3.0])
    for each in more:
        each.source = "net.py:7"
    assert "First unexpected: graph 0, iteration 0, new\n  at net.py:7\n" in text_of(both, both + more)
    assert "First missing: graph 0, iteration 0, new\n  at net.py:7\n" in text_of(both + more, both)


def test_inherited_differences_are_told_apart() -> None:
    expected = operator("a", [1.0], [2.0]) + operator("b", [5.0], [6.0])
    text = text_of(expected, operator("a", [1.5], [2.5]) + operator("b", [5.0], [7.0]))
    assert "First divergence: graph 0, iteration 0, b" in text
    assert "earlier, an input differed without being its cause: graph 0, iteration 0, a" in text
    text = text_of(expected, operator("a", [1.5], [2.5]) + operator("b", [5.0], [6.0]))
    assert "an input differs, and no recorded operator made it" in text


def test_an_overwritten_input_is_explained() -> None:
    text = text_of(operator("a", [1.0], [1.0], "Assign"), operator("a", [2.0], [2.0], "Assign"))
    assert "input.0: overwritten by the operator" in text


def test_a_damaged_golden_is_told(tmp_path: Path) -> None:
    update(tmp_path / "x.h5", "net", {CPU: RunData(network())})
    edit_index(tmp_path / "x.h5", 2, "digest", b"\1" * 16)
    with GoldenStore.open(tmp_path / "x.h5") as store:
        text = text_of(store.run(*CPU), network())
    assert "its tensor is missing" in text
    assert network()[2].key.operator in text


def test_a_digest_golden_says_that_values_were_not_kept(tmp_path: Path) -> None:
    update(tmp_path / "x.h5", "net", {CPU: RunData(network(), level="digest")})
    with GoldenStore.open(tmp_path / "x.h5") as store:
        text = text_of(store.run(*CPU), wrong_kernel())
    assert "golden's values were not kept; by statistics: max" in text


def limits(text: str) -> None:
    assert len(text.splitlines()) <= MAX_LINES
    assert len(text.encode()) <= MAX_BYTES


@settings(max_examples=40, deadline=None)
@given(
    name=st.text(min_size=1, max_size=400),
    operators=st.integers(0, 60),
    renamed=st.integers(0, 60),
    commands=st.lists(st.text(max_size=3000), max_size=9),
    golden=st.none() | st.text(max_size=2000),
)
def test_never_too_long(name: str, operators: int, renamed: int, commands: list[str], golden: str | None) -> None:
    value = np.arange(6.0).reshape(2, 3)
    expected, found = [], []
    for n in range(operators):
        source = name * 3
        expected += operator(f"{name}/{n}", [value] * 3, [value] * 3, source=source)
        found += operator(f"{name}/{n}", [value + 1] * 3, [value * 7] * 3, source=source)
    for n in range(renamed):
        expected += operator(f"{name}/old{n}", [value], [value])
        found += operator(f"{name}/new{n}", [value], [value])
    comparison = check(expected, found[::-1])
    text = explain(comparison, network=name, backend=name, mode=name, golden=golden, next_steps=commands)
    limits(text)
    assert text.isprintable() or set(text) - {"\n"} == {c for c in text if c.isprintable()}


def test_a_million_differing_elements_are_as_short_as_one() -> None:
    one = np.zeros((1024, 1024), np.float32)
    limits(text_of([record(one)], [record(one + 1)]))


def test_arrays_of_many_dimensions() -> None:
    one = np.zeros((1,) * 30, np.float32)
    limits(text_of([record(one)], [record(one + 1)]))


def test_divergence_and_text_name_the_same_place() -> None:
    comparison = check(network(), wrong_kernel())
    divergence = first_divergence(comparison)
    assert divergence is not None
    assert divergence.where.operator in explain(comparison, network="n", backend="b", mode="m")
