"""A value under another name is a difference, in the gate as in ``msdump diff`` of the two goldens."""

from __future__ import annotations

import json
import random
import shutil
from typing import Any

import pytest

from harness.ci import VARIABLES as CI_VARIABLES
from harness.cli import main

pytest_plugins = ["pytester"]

MODULE = """
    import json, os, pathlib
    import numpy as np, pytest

    CASES = json.loads(pathlib.Path("cases.json").read_text())[os.environ["SIDE"]]

    def made(value):
        if isinstance(value, dict):
            return {name: made(each) for name, each in value.items()}
        if isinstance(value, list):
            return [made(each) for each in value]
        return None if value is None else np.float32(value)

    @pytest.mark.parametrize("case", range(len(CASES)))
    @pytest.mark.msdump%s
    def test_it(msdump, case):
        msdump.check("out", made(CASES[case]))
"""
EDITS = ("nothing", "rename", "move", "swap names", "missing", "unexpected", "shift", "value", "small")


def drawn(draw: random.Random, kind: str) -> tuple[Any, Any]:
    """A value and its changed version."""
    numbers = draw.choice([lambda: draw.choice([1.0, 2.0]), lambda: round(draw.random(), 4) + 1])
    golden: dict[str, Any] = {name: numbers() for name in draw.sample("abcdefgh", draw.randint(2, 5))}
    golden["empty"] = None
    golden["list"] = [None, {"x": numbers()}, {"x": numbers() + 3}]
    run = {**golden, "list": list(golden["list"])}
    name, other = draw.sample([each for each in golden if len(each) == 1], 2)
    if kind == "rename":
        run["z"] = run.pop(name)
    elif kind == "move":
        run["empty"], run[name] = run[name], None
    elif kind == "swap names":
        run[name], run[other] = golden[other], golden[name]
    elif kind == "missing":
        del run[name]
    elif kind == "unexpected":
        run["z"] = numbers()
    elif kind == "shift":
        run["list"] = [run["list"][1], None, run["list"][2]]
    elif kind == "value":
        run[name] += 1
    elif kind == "small":
        run[name] *= 1 + 1e-4
    return golden, run


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("tolerance", ["", "(tolerance=1e-3)"], ids=["by dtype", "1e-3"])
@pytest.mark.parametrize("seed", range(3))
def test_the_gate_and_diff_agree(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, seed: int, tolerance: str
) -> None:
    for name in CI_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    draw = random.Random(f"{seed} {tolerance}")
    kinds = [kind for kind in EDITS for _ in range(3)]
    pairs = [drawn(draw, kind) for kind in kinds]
    sides = {"0": [each[0] for each in pairs], "1": [each[1] for each in pairs]}
    (pytester.path / "cases.json").write_text(json.dumps(sides))
    pytester.makepyfile(test_names=MODULE % tolerance)
    for side in "10":
        monkeypatch.setenv("SIDE", side)
        assert pytester.runpytest_inprocess("--msdump-regen", "-p", "no:cacheprovider").ret == 0
        shutil.copytree(pytester.path / "golden", pytester.path / f"golden{side}")
    monkeypatch.setenv("SIDE", "1")
    ended = pytester.inline_run("--msdump", "-p", "no:cacheprovider")
    passed, _, failed = ended.listoutcomes()
    gate = {int(each.nodeid.partition("@")[0].rstrip("]").rpartition("-")[2]): True for each in passed}
    gate |= {int(each.nodeid.rstrip("]").rpartition("-")[2]): False for each in failed}
    assert len(gate) == len(kinds)
    for at, kind in enumerate(kinds):
        name = f"test_names/test_it@{at}.h5"
        by_diff = main(["diff", str(pytester.path / "golden0" / name), str(pytester.path / "golden1" / name)])
        assert gate[at] is (by_diff == 0), (kind, pairs[at], by_diff)
        same = pairs[at][0] == pairs[at][1]
        small = kind == "small" and bool(tolerance)
        assert gate[at] is (same or small), (kind, pairs[at])
