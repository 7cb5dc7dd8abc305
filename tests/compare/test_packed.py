"""Packed verdicts are those that are kept one by one, whatever the sides share."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.compare import Comparison, Verdict, check
from harness.compare.packed import Packed, PackedDigests
from harness.errors import RecordError
from harness.records import Record, SlotKey
from harness.stats import digest
from harness.store import GoldenStore, Level, RunData, RunId, update

CHECK: Any = import_module("harness.compare.check")


def record(rank: int, graph: int, iteration: int, operator: str, slot: int, value: float, kept: bool) -> Record:
    values = np.full(3, value, np.float32)
    key = SlotKey(rank, graph, iteration, operator, 0, "output", slot)
    source = "net.py:7" if slot else None
    known = digest(values, "Float32") if not kept else None
    return Record(key, "ReLU", "Float32", (3,), values=values, source=source, digest=known)


places = st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 2), st.sampled_from("ab"), st.integers(0, 1))


@st.composite
def sides(draw: st.DrawFn) -> tuple[list[Record], list[Record]]:
    """Two runs that share most slots, in iterations that may be visited twice."""
    shared = draw(st.lists(places, max_size=14))
    if draw(st.integers(0, 3)):
        shared = list(dict.fromkeys(sorted(shared) if draw(st.booleans()) else shared))
    made = []
    for _ in range(2):
        mine = list(shared)
        for at, place in draw(st.lists(st.tuples(st.integers(0, 13), st.none() | places), max_size=2)):
            mine[at : at + 1] = [] if place is None else [place]
        values = draw(st.lists(st.sampled_from([1.0, 1.0, 1.0, 2.0]), min_size=len(mine), max_size=len(mine)))
        kept = draw(st.booleans())
        made.append([record(*place, value, kept) for place, value in zip(mine, values, strict=True)])
    return made[0], made[1]


def told(golden: Any, found: list[Record]) -> Any:
    """All that a comparison says; of slots that are there twice no more than that there are any."""
    try:
        comparison: Comparison = check(golden, iter(found), {"default": 0.1})
    except RecordError as error:
        return "two records" in str(error)
    pairs = {key: (one.key, other.key) for key, (one, other) in comparison.pairs.items()}
    slots = list(comparison.slots)
    listed = Comparison(slots, comparison.order)
    assert (comparison.holds, comparison.counts) == (listed.holds, listed.counts)
    assert [comparison.slots[at] for at in range(-len(slots), 0)] == slots == comparison.slots[:] == comparison.slots
    return slots, comparison.order, comparison.renames, dict(comparison.digests), pairs, comparison.found_order


@given(sides())
def test_packing_shows_nowhere(both: tuple[list[Record], list[Record]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CHECK, "_FEW", -1)
        packed = told(iter(both[0]), both[1])
        patch.setattr(Packed, "admits", lambda *_: False)
        assert told(iter(both[0]), both[1]) == packed


@pytest.mark.long
@settings(max_examples=25)
@given(sides(), st.sampled_from(["tensors", "digest"]))
def test_packing_shows_nowhere_in_a_check_of_a_store(both: tuple[list[Record], list[Record]], level: Level) -> None:
    golden = list({record.key: record for record in both[0]}.values())
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as name:
        path = Path(name) / "a.h5"
        update(path, "Net", {RunId("cpu", "tensor"): RunData(golden, level=level)})
        with GoldenStore.open(path) as store:
            run = store.run("cpu", "tensor")
            patch.setattr(CHECK, "_FEW", -1)
            packed = told(run, both[1])
            patch.setattr(Packed, "admits", lambda *_: False)
            assert told(run, both[1]) == packed


def test_verdicts_of_many_slots_are_made_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECK, "_FEW", 5)
    run = [record(0, 0, iteration, name, 0, 1.0, kept=True) for iteration in range(4) for name in "ab"]
    comparison = check(run, list(run))
    assert isinstance(comparison.slots, Packed)
    assert isinstance(comparison.digests, PackedDigests)
    assert comparison.holds
    assert comparison.slots[3] is not comparison.slots[3]
    assert comparison.slots[3].key == run[3].key
    assert comparison.digests[run[3].key] == (digest(run[3].values, "Float32"),) * 2
    assert len(comparison.digests) == len(comparison.slots) == 8
    for missing in (run[0].key._replace(iteration=9), run[0].key._replace(operator="c")):
        assert comparison.digests.get(missing) is None
    with pytest.raises(IndexError):
        comparison.slots[8]
    assert isinstance(check(run[:5], run[:5]).slots, list)


def test_iterations_that_look_alike_share_what_they_look_like() -> None:
    packed = Packed()
    for iteration in range(100):
        for name in "ab":
            each = record(0, 0, iteration, name, 0, 1.0, kept=True)
            assert packed.admits(each.key)
            packed.agree(each, Verdict.IDENTICAL, bytes(16))
    packed.close()
    assert len(packed) == 200
    assert len({id(layout) for layout in packed._layouts}) == 1
