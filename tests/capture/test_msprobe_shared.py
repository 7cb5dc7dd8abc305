"""Two dumps read side by side share what is made of equal entries; what is said of them does not change by it."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.capture import read_tree
from harness.compare import check
from harness.compare.divergence import Execution
from harness.compare.first_divergence import first_divergence
from harness.compare.packed import Packed
from harness.compare.verdict import Comparison, Verdict
from harness.explain import Evidence, explain
from tests.capture.msprobe_build import call, dump, scalar, tensor

OPERATORS = ("linear", "gelu", "layer_norm")


def entries(seed: int, count: int) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for at in range(count):
        value = float((seed * 31 + at * 7) % 11)
        taken = tensor(Max=value)
        given_: list[Any] = [taken, scalar(value)] if at % 3 else [taken]
        name = f"Functional.{OPERATORS[at % 3]}.{at // 3}.forward"
        data[name] = call(given_, [tensor(Max=value + 1)])
    return data


def changed(data: dict[str, Any], places: list[tuple[int, bool]]) -> dict[str, Any]:
    found = copy.deepcopy(data)
    names = list(found)
    for at, output in places:
        entry = found[names[at % len(names)]]
        (entry["output"] if output else entry["input_args"])[0]["Max"] += 0.5
    return found


def compared(root: Path, one: dict[str, Any], other: dict[str, Any], few: int) -> Comparison:
    """Compared side by side; packed if there are more slots than ``few``."""
    sides = [read_tree(str(dump(root / name, data))) for name, data in (("one", one), ("other", other))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["harness.compare.check"], "_FEW", few)
        return check(sides[0], sides[1], {"default": "exact"})


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 99),
    st.integers(2, 12),
    st.lists(st.tuples(st.integers(0, 11), st.booleans()), min_size=1, max_size=4),
)
def test_the_first_divergence_is_the_same_packed_and_listed(
    tmp_path_factory: pytest.TempPathFactory, seed: int, count: int, places: list[tuple[int, bool]]
) -> None:
    root, data = tmp_path_factory.mktemp("pair"), entries(seed, count)
    other = changed(data, places)
    packed, listed = compared(root / "a", data, other, 0), compared(root / "b", data, other, 10**9)
    assert isinstance(packed.slots, Packed)
    assert isinstance(listed.slots, list)
    assert list(packed.slots) == listed.slots
    assert packed.counts == listed.counts
    assert packed.failures() == listed.failures() != []
    assert first_divergence(packed) == first_divergence(listed)


def test_records_of_equal_entries_are_shared_and_those_of_others_are_not(tmp_path: Path) -> None:
    data = entries(1, 6)
    other = changed(data, [(2, True)])
    one, two = (read_tree(str(dump(tmp_path / n, d))) for n, d in (("one", data), ("two", other)))
    pairs = list(zip(one.records(), two.records(), strict=True))
    names = {a.key.operator for a, b in pairs if a is not b}
    assert names == {list(data)[2]}
    assert all(a.key == b.key for a, b in pairs)


@pytest.mark.parametrize("at", range(6))
def test_one_execution_is_found_without_reading_all_others(tmp_path: Path, at: int) -> None:
    data = entries(3, 6)
    data["Module.fc.Linear.forward.0"] = call([tensor(Max=1.0)], [tensor(Max=2.0)]) | {
        "parameters": {"weight": tensor(Max=3.0)}
    }
    capture = read_tree(str(dump(tmp_path / "one", data)))
    every = list(capture.records())
    for where in dict.fromkeys(record.key[:5] for record in every):
        wanted = [record for record in every if record.key[:5] == where]
        found = capture.execution(where)
        assert found is not None
        assert [(r.key, r.digest, r.op_type) for r in found] == [(r.key, r.digest, r.op_type) for r in wanted]
    name = list(data)[at]
    assert capture.execution((0, 0, 0, name, 1)) is None  # there is one execution alone
    assert capture.execution((0, 0, 7, name, 0)) is None
    assert capture.execution((0, 0, 0, f"{name}x", 0)) is None


def test_a_name_that_stands_twice_in_the_text_is_not_guessed(tmp_path: Path) -> None:
    data = entries(3, 3)
    name = next(iter(data))
    data[list(data)[1]]["input_kwargs"] = {name: tensor(Max=9.0)}
    capture = read_tree(str(dump(tmp_path / "one", data)))
    assert capture.execution((0, 0, 0, name, 0)) is None


def test_an_explanation_reads_the_execution_it_needs_alone(tmp_path: Path) -> None:
    data = entries(5, 9)
    other = changed(data, [(4, True)])
    sides = [read_tree(str(dump(tmp_path / n, d))) for n, d in (("one", data), ("two", other))]
    comparison = check(sides[0], sides[1], {"default": "exact"})

    def never() -> Any:
        raise AssertionError("everything was read again")

    evidence = [Evidence(never, dict, "torch", False, None, s.execution, s.stated) for s in sides]
    told = explain(comparison, evidence[0], evidence[1], "two differs from one")
    assert told.origin is not None
    assert told.origin.operator == list(data)[4]
    assert evidence[0].op_type(Execution(0, 0, 0, list(data)[4], 0)) == OPERATORS[4 % 3]
    assert comparison.counts[Verdict.DIFFERS] == 1


def test_the_same_stated_twice_is_the_same_text(tmp_path: Path) -> None:
    data = entries(2, 5)
    one, two = (read_tree(str(dump(tmp_path / n, json.loads(json.dumps(data))))) for n in ("one", "two"))
    check(one, two)
    assert dict(one.artefacts) == dict(two.artefacts)
    assert all(dict(one.artefacts).values())
