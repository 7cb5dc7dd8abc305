"""What the gate says of values, ``harness.check`` says of them without pytest."""

from __future__ import annotations

import numpy as np
import pytest

import harness

pytest_plugins = ["pytester"]

GATE = """
import numpy as np, os

def test_step(msdump):
    off = float(os.environ.get("OFF", "0"))
    msdump.check("loss", 0.25 + off)
    msdump.check("grad", np.arange(6, dtype=np.float32).reshape(2, 3) * (1 + off))
    msdump.check("name", "first" if not off else "second")
"""


@pytest.mark.parametrize("off", [0.25, -0.5])
def test_the_text_is_that_of_the_gate(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, off: float) -> None:
    """The golden of a test, checked by the gate and by a script: one text, but for what to run next."""
    gate.makepyfile(GATE)
    assert gate.runpytest_inprocess("-q", "--msdump-regen").ret == 0
    (store,) = (gate.path / "golden").rglob("*.h5")
    monkeypatch.setenv("OFF", str(off))
    lines = gate.runpytest_inprocess("-q", "--msdump").outlines
    found = {
        "loss": 0.25 + off,
        "grad": np.arange(6, dtype=np.float32).reshape(2, 3) * (1 + off),
        "name": "second",
    }
    monkeypatch.chdir(gate.path)  # long paths are shown without their middle
    with pytest.raises(harness.DiffersError) as caught:
        harness.check(store.relative_to(gate.path), found)
    ours = str(caught.value).splitlines()
    own = ("See:", "First divergence:")  # the next commands, and whose line it was
    told = [line for line in ours if not line.startswith(own)]
    assert len(told) >= 5
    assert [line for line in told if line not in lines] == []
