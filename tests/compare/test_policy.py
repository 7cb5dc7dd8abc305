"""Which one word a judgement comes to, and when equal names are doubted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.compare import check
from harness.compare.policy import Judgement, _may_be_misnamed
from harness.compare.tolerances import Tolerances
from harness.compare.verdict import Comparison
from harness.store import GoldenStore, update
from tests.store.helpers import CPU, network, run_data


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
