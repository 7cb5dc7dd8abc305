"""Random programs of callbacks give the same trace, printed lines, outcome and weights as under the real MindSpore."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.differential.side import Side
from tests.interop.trees import ROOT

pytestmark = pytest.mark.interop

PLAYER = Path(__file__).with_name("train_programs.py")
HOOKS = ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")
NAMES = [*HOOKS, *(f"on_{mode}_{name}" for mode in ("train", "eval") for name in HOOKS)]

actions = st.builds(
    lambda hook, call, rest: {"hook": hook, "call": call, **rest},
    st.sampled_from(NAMES),
    st.integers(1, 4),
    st.one_of(
        st.just({"do": "stop"}),
        st.builds(
            lambda error, text: {"do": "raise", "error": error, "text": text},
            st.sampled_from(["ValueError", "KeyError", "KeyboardInterrupt", "Custom"]),
            st.sampled_from(["", "why", "two\nlines"]),
        ),
        st.builds(lambda value: {"do": "step", "value": value}, st.integers(0, 100)),
        st.builds(lambda value: {"do": "epoch", "value": value}, st.integers(0, 9)),
        st.just({"do": "note", "value": 7}),
    ),
)
callbacks = st.fixed_dictionaries({
    "hooks": st.lists(st.sampled_from(["old", "train", "eval"]), min_size=1, max_size=3, unique=True),
    "actions": st.lists(actions, max_size=3),
    "enter": st.sampled_from(["self"] * 6 + ["other", "nothing", "raise"]),
    "exit": st.sampled_from(["pass"] * 6 + ["swallow", "raise"]),
})  # fmt: skip
programs = st.fixed_dictionaries({
    "mode": st.sampled_from([0, 1]),
    "run": st.sampled_from(["train", "train", "fit", "eval"]),
    "epochs": st.integers(0, 4),
    "initial": st.sampled_from([0, 0, 0, 1, 2]),
    "sink": st.sampled_from([-1, -1, -1, 0, 2, 3]),
    "frequency": st.sampled_from([1, 2, [2]]),
    "callbacks": st.lists(callbacks, max_size=3),
    "twice": st.booleans(),
    "tuple": st.sampled_from([False, False, False, True]),
    "monitor": st.sampled_from([0, 1, 2]),
})  # fmt: skip


def results(side: Side, batch: list[dict[str, Any]], out: Path) -> tuple[list[Any], list[str]]:
    """Traces and printed lines of a batch."""
    given, found = out / "programs.json", out / "traces.json"
    given.write_text(json.dumps(batch))
    printed = side.printed(PLAYER, out, given, found, PYTHONPATH=str(ROOT))
    return json.loads(found.read_text()), printed.splitlines()


# What MindSpore fails to return where a callback swallowed the error of an evaluation.
def comparable(outcome: list[Any]) -> list[Any]:
    return ["swallowed"] if outcome[:2] == ["raised", "UnboundLocalError"] or outcome == ["returned", []] else outcome


#: how programs ended, and how many hooks were compared
SEEN: Counter[str] = Counter()


@settings(max_examples=4, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(batch=st.lists(programs, min_size=40, max_size=40))
def test_random_programs(batch: list[dict[str, Any]], both: tuple[Side, Side], tmp_path: Path) -> None:
    (own, own_lines), (real, real_lines) = (results(side, batch, tmp_path) for side in both)
    SEEN.update(one["outcome"][0] for one in real)
    SEEN["hooks"] += sum(len(one["trace"]) for one in real)
    for program, one, other in zip(batch, real, own, strict=True):
        assert other["trace"] == one["trace"], program
        assert comparable(other["outcome"]) == comparable(one["outcome"]), program
        np.testing.assert_allclose(other["weights"], one["weights"], rtol=1e-5, atol=1e-6, err_msg=str(program))
    assert [without_numbers(line) for line in own_lines] == [without_numbers(line) for line in real_lines]


def without_numbers(line: str) -> str:
    """A printed line up to its values, which differ in the last place and by numpy's version."""
    return line.partition(", loss is ")[0].partition(", metrics: ")[0]


def test_programs_were_of_every_kind() -> None:
    if not SEEN:
        pytest.skip("the programs did not run in this session")
    assert SEEN["returned"] > 10
    assert SEEN["raised"] > 10
    assert SEEN["hooks"] > 500
