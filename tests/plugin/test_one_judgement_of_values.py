"""Values that a test or a script hands over, through ``harness.check``, the gate, ``msdump check``, ``diff``,
``review`` and the pages: one verdict, one exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

import harness
from harness.cli import check as check_module
from harness.cli import main, operands
from harness.exit_status import DIFFERS, HOLDS
from harness.gate.given import of_values
from harness.store import GoldenStore, RunData, RunId, manifest, update
from tests.examples import examples
from tests.plugin.test_one_judgement import Gate, in_review, on_page

pytest_plugins = ["pytester"]
X = np.linspace(0.5, 2, 6)
RUN = RunId("cpu", "tensor")
NETWORK = "test_drawn.py::test_net"


def values(kind: Any) -> dict[str, Any]:
    x = X.astype(kind)
    return {"a": x, "b": {"w": x * kind(3), "n": np.arange(5)}, "c": [1.5, 2.5], "d": "first\nsecond", "e": x + kind(1)}


CHANGES: dict[str, Any] = {
    "nothing": lambda v, off: None,
    "a value": lambda v, off: v.update(a=v["a"] * v["a"].dtype.type(1 + off)),
    "a part": lambda v, off: v["b"].update(w=v["b"]["w"] * v["b"]["w"].dtype.type(1 + off)),
    "a whole number": lambda v, off: v["b"].update(n=v["b"]["n"] + 1),
    "a list": lambda v, off: v.update(c=[1.5, 2.5 * (1 + off)]),
    "a text": lambda v, off: v.update(d="first\nthird"),
    "renamed": lambda v, off: v.update(z=v.pop("a")),
    "renamed part": lambda v, off: v["b"].update(v=v["b"].pop("w")),
    "renamed text": lambda v, off: v.update(t=v.pop("d")),
    "exchanged": lambda v, off: v.update(a=v["e"], e=v["a"]),
    "missing": lambda v, off: v.pop("e"),
    "unexpected": lambda v, off: v.update(more=1.0),
    "dtype": lambda v, off: v.update(a=v["a"].astype(np.longlong)),
    "shape": lambda v, off: v.update(a=v["a"].reshape(2, 3)),
    "order": lambda v, off: [v.update({name: v.pop(name)}) for name in ("b", "a")],
}
#: what is a difference whatever the tolerance
ALWAYS = {"a whole number", "a text", "renamed", "renamed part", "renamed text", "exchanged", "missing", "unexpected",
          "dtype", "shape"}  # fmt: skip


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("level", ["tensors", "digest"])
@example(change="nothing", off=0.0, kind=np.float32, rtol=None, stored=None)
@example(change="a value", off=1e-3, kind=np.float32, rtol=1e-1, stored="exact")
@example(change="a text", off=1e-3, kind=np.float32, rtol=1e-1, stored=None)
@example(change="renamed", off=0.0, kind=np.float64, rtol=1e-1, stored=None)
@given(
    change=st.sampled_from(sorted(CHANGES)),
    off=st.sampled_from([0.0, 1e-7, 1e-3, 0.5]),
    kind=st.sampled_from([np.float32, np.float64, np.float16]),
    rtol=st.sampled_from([None, 1e-1, 1e-6]),
    stored=st.sampled_from([None, 1e-2, "exact", "default"]),
)
@examples(12, 200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_verdict_of_values(
    gate: pytest.Pytester, level: Any, change: str, off: float, kind: Any, rtol: float | None, stored: Any
) -> None:
    found = values(kind)
    CHANGES[change](found, off)
    with pytest.MonkeyPatch.context() as patched:
        session = Gate(gate, patched)
        golden, out = session.golden, gate.path / "diff"
        write(golden, values(kind), stored, level)
        capture = of_values(found, "net", *RUN[:2])
        tree = gate.path / "tree"
        tree.mkdir(exist_ok=True)
        for module in (check_module, operands):
            patched.setattr(module, "read_tree", lambda *_, **__: capture)
        option = [] if rtol is None else ["--rtol", repr(rtol)]
        by_check = main(["check", str(tree), str(golden), "--run", str(RUN), *option])
        files = f"--json={out}.json", f"--report={out}.html"
        by_diff = main(["diff", f"{golden}::{RUN}", str(tree), *option, *files])
        verdict, ended = session.run(capture, rtol)
        reviewed = in_review(gate.path, golden.parents[1])
        by_call = called(golden, found, rtol)
    assert by_check == by_diff == by_call[1]
    assert by_call[0] == verdict
    assert on_page(gate.path / "diff.html") == on_page(gate.path / "page.html") == (verdict, by_check == HOLDS)
    assert ended == (0 if by_check == HOLDS else 1)
    assert reviewed == (None if by_check == HOLDS else verdict)
    (told,) = json.loads((gate.path / "diff.json").read_bytes())["comparisons"]
    assert told["verdict"] == verdict
    if change in ALWAYS:
        assert by_check == DIFFERS, "a planted difference is taken for none"
    if change in ("nothing", "order") or (not off and change in ("a value", "a part", "a list")):
        assert (verdict, by_check) == ("identical", HOLDS)


def write(golden: Path, given: dict[str, Any], stored: Any, level: Any) -> None:
    """A golden of the test, as a script may have written it."""
    kept = golden.with_name("kept.h5")
    harness.write(kept, given, tolerance=stored)
    with GoldenStore.open(kept) as store:
        run = store.run(*RUN)
        data = RunData(list(run.records()), run.artefacts(), dict(run.attrs), level)
        update(golden, NETWORK, {RUN: data})
    kept.unlink()
    manifest.rebuild(golden.parents[1], {})


def called(golden: Path, found: dict[str, Any], rtol: float | None) -> tuple[str, int]:
    """The verdict and the exit code of ``harness.check``."""
    asked = None if rtol is None else {"default": rtol}
    try:
        judged: Any = harness.check(golden, found, tolerance=asked)
    except harness.DiffersError as error:
        judged = error.judgement
    return judged.verdict, judged.code
