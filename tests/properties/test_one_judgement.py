"""The same golden and run through the gate, ``msdump check`` and ``msdump diff``: one verdict, one exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.backends.align import lay_beside
from harness.capture import Capture
from harness.cli import check as check_module
from harness.cli import diff as diff_module
from harness.cli.check import check_tree
from harness.cli.diff import chosen_tolerances
from harness.cli.operands import Side
from harness.compare.policy import CANNOT_TELL, DIFFERS, HOLDS, Party, judge
from harness.records import Record
from harness.store import GoldenStore, RunData, RunId, update
from tests.compare.helpers import operator

X = np.linspace(0.5, 2, 12).reshape(3, 4)
CPU = RunId("cpu", "tensor")


def records(
    kind: Any, off: float = 0.0, name: str = "Mul-op0", swapped: bool = False, short: bool = False
) -> list[Record]:
    """Three operators; what may be wrong with the second, its name, its place, its slots."""
    x = X.astype(kind)
    scope = "Default/network-Net"
    first = operator(f"{scope}/a-A/Abs-op0", [x], [x], "Abs")
    made = (x * kind(2) * kind(1 + off)).astype(kind)
    second = operator(f"{scope}/b-B/{name}", [x, x + kind(1)], [made], "Mul")
    third = operator(f"{scope}/c-C/Neg-op0", [x + kind(3)], [-x], "Neg")
    parts = [first, third, second] if swapped else [first, second, third]
    whole = [record for part in parts for record in part]
    return [r for r in whole if not (short and r.key.operator.endswith("Neg-op0") and r.key.io == "output")]


def gate(golden: Path, found: Capture, asked: Any) -> tuple[str, int]:
    """As ``pytest_msdump.judge`` asks."""
    with GoldenStore.open(golden) as store:
        party = Party(list(found.records()), *CPU, emulated=found.emulated, release=found.rules.get("ms_version"))
        judged = judge(Party.of_run(store.run(*CPU)), party, asked, lay=lay_beside)
        return judged.verdict, judged.code


@pytest.mark.parametrize("level", ["tensors", "digest"])
@given(
    stored=st.sampled_from([None, {"rtol": 1e-2}, "exact", "default"]),
    rtol=st.sampled_from([None, 1e-1, 1e-6]),
    emulated=st.booleans(),
    off=st.sampled_from([0.0, 1e-7, 1e-3, 0.5]),
    name=st.sampled_from(["Mul-op0", "Mul-op7"]),
    swapped=st.booleans(),
    short=st.booleans(),
    kind=st.sampled_from([np.float32, np.float64, np.float16]),
    other=st.booleans(),
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_one_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: Any, stored: Any, rtol: float | None, emulated: bool,
    off: float, name: str, swapped: bool, short: bool, kind: Any, other: bool,
) -> None:  # fmt: skip
    golden = tmp_path / "net.h5"
    golden.unlink(missing_ok=True)
    attrs = {"emulated": emulated, "rules": {"ms_version": "2.10.0"}}
    attrs |= {} if stored is None else {"tolerance": stored}
    update(golden, "net", {CPU: RunData(records(kind), attrs=attrs, level=level)})
    made = np.float64 if other else kind
    found = records(made, off, name, swapped, short)
    capture = Capture("net", "cpu", emulated, lambda: iter(found), rules={"ms_version": "2.10.0"})
    asked = chosen_tolerances(None, rtol, None, exact=False)

    monkeypatch.setattr(check_module, "read_tree", lambda *_, **__: capture)
    by_check = check_tree(tmp_path / "tree", golden, "", None, None, rtol, None, exact=False)
    with GoldenStore.open(golden) as store:
        run = store.run(*CPU)
        one = Side(str(golden), "net", *CPU, emulated, run)
        side = Side(str(tmp_path), "net", *CPU, emulated, capture, capture)
        by_diff = diff_module.compare_sides(one, side, asked).judged
    verdict, code = gate(golden, capture, asked)
    assert (by_diff.verdict, by_diff.code, by_check) == (verdict, code, code)
    if not off and name == "Mul-op0" and not swapped and not short and made is kind:
        assert (verdict, code) == ("identical", HOLDS)
    if short or made is not kind or name != "Mul-op0" or (swapped and emulated):
        assert code == DIFFERS
    assert code in (HOLDS, DIFFERS) or (level == "digest" and code == CANNOT_TELL)
