"""Every cause that is called proven gives the run's bits when another hand applies it to the golden."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from harness.capture import Capture
from harness.explain import Explanation, block
from harness.explain.patterns import Pair, find_pattern
from harness.records import GIVEN_SCOPE, Record, SlotKey
from tests.explain.reapplied import DTYPES, EDITS, FLOATS, SHAPES, Array, edited, given, tensor
from tests.explain.runs import explained

SEEDS = range(8)
EACH = 250


def _pair(seed: int, number: int, several: bool) -> tuple[list[str], Pair]:
    random = np.random.default_rng([seed, number])
    dtype, shape = DTYPES[number % len(DTYPES)], SHAPES[int(random.integers(len(SHAPES)))]
    e = tensor(random, shape, dtype, odd=bool(random.random() < 0.5))
    names, f = edited(random, e, int(random.integers(1, 4)) if several else 1)
    inputs = {f"input.{at}": tensor(random, shape, dtype, odd=False) for at in range(int(random.integers(3)))}
    if inputs and random.random() < 0.1:
        f = inputs["input.0"]
    return names, Pair(e, f, inputs, str(random.choice(["", "Mul", "MatMul", "Dropout"])))


def _is_the_runs(finding_json: str, pair: Pair) -> bool:
    check = json.loads(finding_json)
    made = given(check, pair.expected, pair.inputs)
    return made.dtype == pair.found.dtype and made.tobytes() == pair.found.tobytes()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("several", [False, True], ids=["one edit", "several edits"])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_proven_gives_the_runs_bits(seed: int, several: bool) -> None:
    proven = 0
    for number in range(EACH):
        names, pair = _pair(seed, number, several)
        finding = find_pattern(pair)
        if finding is not None and finding.exact:
            told = json.dumps(finding.check.to_json(), allow_nan=False)
            assert _is_the_runs(told, pair), (names, pair.expected, pair.found, finding)
            proven += 1
    assert proven > EACH / 6


#: edits that alone are always told with their proof, in tensors of different finite numbers
CERTAIN = {*EDITS, *FLOATS} - {"ulp", "one element", "filled", "0", "-0", "plus any", "grid"}


@pytest.mark.parametrize("name", sorted(CERTAIN))
def test_a_single_edit_is_proven(name: str) -> None:
    for seed in range(6):
        random = np.random.default_rng([seed, 77])
        e = tensor(random, (6, 7), np.float32, odd=False)
        with np.errstate(all="ignore"):
            f = np.ascontiguousarray(np.asarray((EDITS | FLOATS)[name](random, e)).astype(e.dtype))
        finding = find_pattern(Pair(e, f, {}, "Mul"))
        assert finding is not None and finding.exact, (name, finding)  # noqa: PT018  (the message needs both)


def _one_value(values: Array) -> Capture:
    from harness import dtypes

    kind = dtypes.from_numpy(values.dtype).name
    key = SlotKey(0, 0, 0, f"{GIVEN_SCOPE}/v", 0, "output", 0)
    record = Record(key, "v", kind, values.shape, values=values)
    return Capture("Net", "cpu", True, [record])


def _explained(e: Array, f: Array) -> Explanation:
    one = _one_value(e)
    return explained(one, replace(one, source=_one_value(f).source))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_whole_explanation_says_only_what_holds(seed: int) -> None:
    for number in range(60):
        names, pair = _pair(seed + 100, number, several=True)
        if pair.expected.tobytes() == pair.found.tobytes():
            continue
        said = _explained(pair.expected, pair.found).to_json()["cause"]
        if said is not None and said["proven"]:
            assert _is_the_runs(json.dumps(said["check"], allow_nan=False), pair), (names, pair, said)


NAN = np.nan


@pytest.mark.parametrize(
    ("golden", "run", "says"),
    [
        pytest.param([1.0, 2, 3, 4], [NAN, 2, 3, 5], "", id="NaN and a wrong value"),
        pytest.param([1, NAN, 3, 4], [NAN, 2, 3, 4], "", id="a NaN gone and another value"),
        pytest.param([1, NAN, 3], [NAN, 1, 3], "it holds the expected values in another order", id="swapped"),
        pytest.param([1.0, 2, NAN], [NAN, 2, 1.0], "back to front along axis 0", id="reversed"),
        pytest.param([1.0, 2, NAN, 4], [4, 1.0, 2, NAN], "moved by 1 along axis 0, around the end", id="shifted"),
        pytest.param([1.0, 2, 3, 4], [NAN, 2, 3, 4], "1 of 4 elements are NaN (first at [0])", id="NaN alone"),
    ],
)
def test_a_nan_is_told_where_it_is_all(golden: list[float], run: list[float], says: str) -> None:
    explanation = _explained(np.asarray(golden), np.asarray(run))
    assert (explanation.cause is None) if not says else (explanation.cause is not None)
    if explanation.cause is not None:
        assert explanation.cause.text == f"output.0: {says}" or explanation.cause.text.endswith(says)
        assert "proven bit for bit" in block(explanation)
