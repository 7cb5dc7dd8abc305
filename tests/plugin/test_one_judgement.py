"""The same golden and run through the gate, ``msdump check`` and ``msdump diff``: one verdict, one exit code."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import pytest_msdump.judge as gate_module
from harness.capture import Capture
from harness.cli import check as check_module
from harness.cli import diff as diff_module
from harness.cli.check import check_tree
from harness.cli.diff import chosen_tolerances
from harness.cli.operands import Side
from harness.compare.policy import CANNOT_TELL, DIFFERS, HOLDS
from harness.records import Record
from harness.store import GoldenStore, RunData, RunId, manifest, update
from pytest_msdump.gate_test import GateTest
from tests.compare.helpers import operator
from tests.examples import examples

X = np.linspace(0.5, 2, 12).reshape(3, 4)
CPU = RunId("cpu", "tensor")
pytest_plugins = ["pytester"]


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


class Gate:
    """``pytest --msdump`` over one test; what it captured is replaced by a drawn capture."""

    def __init__(self, pytester: pytest.Pytester, patched: pytest.MonkeyPatch) -> None:
        self._pytester = pytester
        self._results: list[Any] = []
        self.golden = pytester.path / "golden" / "test_drawn" / "test_net.h5"
        shutil.rmtree(pytester.path / "golden", ignore_errors=True)
        self.golden.parent.mkdir(parents=True)
        self._patched = patched
        judged = gate_module.check

        def check(test: GateTest, bundle: str) -> Any:
            results, texts = judged(test, bundle)
            self._results += results
            return results, texts

        patched.setattr(gate_module, "check", check)

    def run(self, capture: Capture, rtol: float | None) -> tuple[str, int]:
        """The verdict, and the exit code of the session."""
        self._patched.setattr(GateTest, "capture", lambda _: capture)
        marker = "" if rtol is None else f"(tolerance={{'default': {rtol!r}}})"
        self._pytester.makepyfile(
            test_drawn=f"""
            import pytest

            @pytest.mark.msdump{marker}
            def test_net(msdump):
                msdump.check("something", 1)
            """
        )
        ended = self._pytester.inline_run("--msdump", "-p", "no:cacheprovider")
        (result,) = self._results
        return result["verdict"], int(ended.ret)


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
@examples(20, 200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_verdict(
    gate: pytest.Pytester, level: Any, stored: Any, rtol: float | None, emulated: bool, off: float, name: str,
    swapped: bool, short: bool, kind: Any, other: bool,
) -> None:  # fmt: skip
    attrs: dict[str, Any] = {"emulated": emulated, "rules": {"ms_version": "2.10.0"}}
    attrs |= {} if stored is None else {"tolerance": stored}
    made = np.float64 if other else kind
    found = records(made, off, name, swapped, short)
    capture = Capture("net", "cpu", emulated, lambda: iter(found), rules={"ms_version": "2.10.0"})
    asked = chosen_tolerances(None, rtol, None, exact=False)
    with pytest.MonkeyPatch.context() as patched:
        session = Gate(gate, patched)
        golden = session.golden
        update(golden, "test_drawn.py::test_net", {CPU: RunData(records(kind), attrs=attrs, level=level)})
        manifest.rebuild(golden.parents[1], {})
        patched.setattr(check_module, "read_tree", lambda *_, **__: capture)
        by_check = check_tree(Path("tree"), golden, "cpu/tensor", None, None, rtol, None, exact=False)
        with GoldenStore.open(golden) as store:
            one = Side(str(golden), "net", *CPU, emulated, store.run(*CPU))
            side = Side("tree", "net", *CPU, emulated, capture, capture)
            by_diff = diff_module.compare_sides(one, side, asked).judged
        verdict, ended = session.run(capture, rtol)
    assert (by_diff.verdict, by_diff.code) == (verdict, by_check)
    # A session that cannot tell fails, as one that differs.
    assert ended == (0 if by_check == HOLDS else 1)
    code = by_check
    if not off and name == "Mul-op0" and not swapped and not short and made is kind:
        assert (verdict, code) == ("identical", HOLDS)
    if short or made is not kind or name != "Mul-op0" or (swapped and emulated):
        assert code == DIFFERS
    assert code in (HOLDS, DIFFERS) or (level == "digest" and code == CANNOT_TELL)
