"""Which one word a judgement comes to, and when equal names are doubted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.compare import check
from harness.compare.policy import Judgement, Party, _may_be_misnamed, judge
from harness.compare.tolerances import Tolerances
from harness.compare.verdict import Comparison, CountedSlots, Verdict
from harness.records import Record
from harness.store import GoldenStore, update
from tests.store.helpers import CPU, network, record, run_data


def test_each_judgement_comes_to_one_word(tmp_path: Path) -> None:
    update(tmp_path / "d.h5", "net", {CPU: run_data(level="digest")})
    update(tmp_path / "t.h5", "net", {CPU: run_data()})
    same, turned, other = network(), network(), network()
    turned[2].values = np.ascontiguousarray(turned[2].values[::-1])
    other[2].values = other[2].values * np.float32(1.5)
    near = [replace(each) for each in network()]
    near[2].values = np.nextafter(near[2].values, np.float32(9))
    with GoldenStore.open(tmp_path / "d.h5") as digests, GoldenStore.open(tmp_path / "t.h5") as tensors:
        for store, found, word in (
            (digests, same, "identical"), (digests, turned, "cannot tell"), (tensors, near, "within tolerance"),
            (tensors, other, "differs"), (tensors, same[:-1], "differs"),
        ):  # fmt: skip
            tolerances = Tolerances.parse("default")
            judged = Judgement(check(store.run(*CPU), found, tolerances), tolerances)
            assert judged.verdict == word
            assert judged.holds == (word in ("identical", "within tolerance"))
    assert Judgement(Comparison([]), Tolerances()).verdict == "not compared"


@pytest.mark.parametrize("shared", range(4))
def test_between_backends_names_are_doubted_where_most_slots_have_no_partner(shared: int) -> None:
    """Of four operators ``shared`` bear one name on both sides; each has three slots."""
    one, other = network(), network()
    for each in other[3 * shared :]:
        each.key = each.key._replace(operator=f"Default/other/{each.key.operator}")
    comparison = check(one, other)
    assert _may_be_misnamed(comparison, True) == (shared < 2)
    assert _may_be_misnamed(comparison, False)
    assert not _may_be_misnamed(check(one, network()), False)


def beside_nothing(_one: Party, _other: Party) -> None:
    """No layout: slots are known by their names."""


def modules(result: float = 2.0, mask: bool = False, made: float = 1.5) -> list[Record]:
    """What a module's boundary shows: a call within it, and what the model gives."""
    inner = "Default/net/inner"
    found = [record(np.float32([1.0]), inner, "input", 0, op_type="Module")]
    found += [record(np.float32([0.0]), inner, "input", 1, op_type="Module")] * mask
    found.append(record(np.float32([made]), inner, op_type="Module"))
    return [*found, record(np.float32([result]), "Default/result", op_type="Result")]


@pytest.mark.parametrize("granularity", ["modules", "operators"])
def test_a_mask_inside_a_module_is_accepted_if_what_the_model_gives_holds(granularity: str) -> None:
    def judged(**more: Any) -> Judgement:
        golden, run = (Party(each, "torch", granularity=granularity) for each in (modules(), modules(**more)))
        return judge(golden, run, lay=beside_nothing)

    by_modules = granularity == "modules"
    assert judged().holds
    inside = judged(mask=True)
    assert inside.holds is by_modules
    told = "Not compared, accepted: 1 slot inside a module: all that modules give holds (Default/net/inner)"
    assert (told in inside.notes) is by_modules
    for wrong in ({"result": 2.5}, {"mask": True, "result": 2.5}, {"made": 1.0}):
        assert not judged(**wrong).holds


def test_what_inductor_made_is_told_of_the_side_that_has_it() -> None:
    parties = (Party(network(), "torch", compiled=("", "a", "b", "c")), Party(network(), "torch"))
    (note,) = judge(*parties, lay=beside_nothing).notes
    assert note.startswith("Compiled (golden): the whole module, a, b; ")
    assert judge(*parties[::-1], lay=beside_nothing).notes[0].startswith("Compiled (run): ")


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("match", ["names", "flow", "auto"])
def test_operators_of_other_names_are_paired_unless_names_are_asked_for(match: Any, stored: bool) -> None:
    """Two goldens of one backend should have equal names: another one is a difference, unless flow was asked for."""
    other = network()
    for each in other:
        each.key = each.key._replace(operator=each.key.operator.replace("layer", "block"))
    judged = judge(*(Party(each, "cpu", stored=stored) for each in (network(), other)), match=match, lay=beside_nothing)
    compared = judged.comparison.counts[Verdict.IDENTICAL]
    assert compared == (0 if match == "names" else len(network()))
    assert judged.renamed == (4 if match == "auto" and stored else 0)
    assert judged.holds is (match == "flow" or (match == "auto" and not stored))


@pytest.mark.parametrize(("mode", "asked"), [("tensor", False), ("tensor", True), ("statistic", False)])
def test_statistics_count_where_they_are_asked_for_or_all_there_is(mode: str, asked: bool, tmp_path: Path) -> None:
    """Otherwise a golden that kept no values cannot tell whether others are within tolerance."""
    update(tmp_path / "d.h5", "net", {CPU: run_data(level="digest")})
    near = network()
    near[2].values = np.nextafter(near[2].values, np.float32(9))
    with GoldenStore.open(tmp_path / "d.h5") as store:
        judged = judge(
            Party(store.run(*CPU), "cpu"), Party(near, "cpu", mode), 1e-3, by_statistics=asked, lay=beside_nothing
        )
        assert judged.verdict == ("cannot tell" if (mode, asked) == ("tensor", False) else "within tolerance")


def test_groups_that_do_the_same_are_told() -> None:
    def composed(comparison: Comparison, *_: Party) -> Comparison:
        comparison.composed = (2, 1)
        return comparison

    sides = (Party(network(), "torch"), Party(network(1), "torch"))
    judged = judge(*sides, "noise", lay=beside_nothing, settle=composed)
    assert [
        note for note in judged.notes if note.startswith("In groups: 2 operators of the golden and 1 of the run do")
    ]


def test_slots_that_are_only_counted_say_so() -> None:
    class Nothing(CountedSlots):
        def __len__(self) -> int:
            return 0

        def __getitem__(self, at: Any) -> Any:
            raise IndexError(at)

    for ask in (Nothing().counted, Nothing().apart):
        with pytest.raises(NotImplementedError):
            ask()
