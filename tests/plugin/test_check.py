"""``msdump.check``: arrays and what holds them, held against a golden like a network's tensors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness.store import GoldenStore
from tests.plugin.stand_in_mindspore import HEAD, indented

pytest_plugins = ["pytester"]

ARRAYS = """
import dataclasses
import os
import ml_dtypes
import numpy as np
import pytest

FAULT = os.environ.get("FAULT", "")

@pytest.mark.msdump
def test_arrays(msdump):
    array = np.linspace(0, 1, 12).reshape(3, 4).astype(np.float32)
    array[1, 2] += {"tiny": 1e-7, "value": 0.5}.get(FAULT, 0)
    msdump.check("a", array)
    small = array.astype(np.float64 if FAULT == "dtype" else ml_dtypes.bfloat16)
    parts = {"small": small, "many": [array[:2] if FAULT == "shape" else array, 1]}
    if FAULT == "more":
        parts["more"] = 2
    msdump.check("out", parts)
    msdump.check("said", "one\\ntwo" + ("!" if FAULT == "text" else ""))

def test_mixed(msdump):
    from harness import Tensor, nn
    network = nn.Dense(2, 2)
    result = msdump.run(network, Tensor(np.ones((1, 2), np.float32)))
    msdump.check("weight", network.weight)
    msdump.check("result", result.asnumpy() + {"tiny": 1e-7, "value": 1}.get(FAULT, 0))
"""


@pytest.fixture
def arrays(gate: pytest.Pytester) -> pytest.Pytester:
    gate.makepyfile(test_arrays=ARRAYS)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
    return gate


@pytest.mark.parametrize("fault", ["", "tiny"])
def test_what_holds(arrays: pytest.Pytester, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULT", fault)
    arrays.runpytest("--msdump").assert_outcomes(passed=2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("fault", "told", "failed"),
    [
        ("value", ["*First divergence: *check/a*", "*test_arrays.py:1?*", "*expected 0.545*, found 1.045*"], 2),
        ("dtype", ["*check/out.small*", "*dtype*Float64*"], 1),
        ("shape", ["*check/out.many[[]0[]]*", "*shape*"], 1),
        ("more", ["*1 unexpected*", "*check/out.more*"], 1),
        ("text", ["*check/said.txt*"], 1),
    ],
)
def test_a_fault_is_named(
    arrays: pytest.Pytester, fault: str, told: list[str], failed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAULT", fault)
    result = arrays.runpytest("--msdump")
    result.assert_outcomes(passed=2 - failed, failed=failed)
    for line in told:
        result.stdout.fnmatch_lines([line])


@pytest.mark.long
def test_workers_write_the_same_bytes(arrays: pytest.Pytester, files: Callable[..., dict[str, bytes]]) -> None:
    one = {name: content for name, content in files(arrays).items() if name.endswith(".h5")}
    arrays.runpytest_subprocess("--msdump-regen", "--msdump-golden=two", "-n2").assert_outcomes(passed=2)
    two = {name: content for name, content in files(arrays, "two").items() if name.endswith(".h5")}
    assert one == two


LARGE = """
import os
import numpy as np

def test_large(msdump):
    array = np.arange(20000.0)
    msdump.check("large", array)
    array[:] = 0
    msdump.check("small", int(os.environ.get("FAULT", "0")))
"""


def test_what_is_in_the_golden_is_not_copied_and_still_in_the_candidate(
    gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.makepyfile(test_large=LARGE)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    gate.runpytest("--msdump").assert_outcomes(passed=1)
    monkeypatch.setenv("FAULT", "1")
    gate.runpytest("--msdump").assert_outcomes(failed=1)
    (candidate,) = (gate.path / ".msdump" / "candidates").rglob("*.h5")
    with GoldenStore.open(candidate) as store:
        large, small = (np.asarray(record.load()) for record in store.run("cpu", "tensor").records())
    assert np.array_equal(large, np.arange(20000.0))
    assert np.array_equal(small, 1)


NETWORK = """
import gc, os, weakref
import numpy as np, pytest
from harness import Tensor, float32, nn

class Add(nn.Cell):
    def construct(self, x):
        return x + float(os.environ.get("FAULT", "1"))

TESTS = []

@pytest.mark.msdump
@pytest.mark.parametrize("number", [0, 1])
def test_network(msdump, number):
    gc.disable()
    # A test that is over is freed at once, with its arrays: nothing of it lies in a circle.
    assert not [each() for each in TESTS if each() is not None]
    TESTS.append(weakref.ref(msdump._test.process))
    msdump.run(Add(), Tensor(np.arange(20000.0) + number, float32))
"""


def test_what_a_network_computes_is_not_copied_where_the_golden_has_it(
    gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.makepyfile(test_large=NETWORK)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
    gate.runpytest("--msdump").assert_outcomes(passed=2)
    monkeypatch.setenv("FAULT", "2")
    gate.runpytest("--msdump", "-k", "1-cpu or cpu-tensor-1").assert_outcomes(failed=1, deselected=1)
    (candidate,) = (gate.path / ".msdump" / "candidates").rglob("*.h5")
    with GoldenStore.open(candidate) as store:
        records = [each for each in store.run("cpu", "tensor").records() if "Add" in each.key.operator]
        found = {record.key.slot_name: np.asarray(record.load()) for record in records}
    assert np.array_equal(found["input.0"], np.arange(1.0, 20001.0, dtype=np.float32))
    assert np.array_equal(found["output.0"], np.arange(3.0, 20003.0, dtype=np.float32))


def test_only_digests(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    gate.makepyfile(test_arrays=ARRAYS)
    gate.runpytest("--msdump-regen", "--msdump-level=digest").assert_outcomes(passed=2)
    gate.runpytest("--msdump").assert_outcomes(passed=2)
    monkeypatch.setenv("FAULT", "value")
    gate.runpytest("--msdump").assert_outcomes(failed=2)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('msdump.check("y", 1); msdump.check("y", 2)', "'y' was handed over before in this test"),
        ('msdump.check("y", {"a.b": 1, "a": {"b": 2}})', "two parts of 'y' are called 'y.a.b'; rename one"),
        ('msdump.check("y", "\\ud800")', "'y' is a text with half a character"),
        ('msdump.check("y", 10**30)', "'y' is a number of 100 bits; whole numbers of up to 64"),
        ('msdump.check("", 1)', "the name of a value is a printable text, got ''"),
        ('msdump.check("y", [None, {}])', "'y' holds nothing to compare"),
        ('msdump.check("y", {"a": object()})', "'y.a' is of type object; accepted are numpy arrays"),
    ],
)
def test_what_is_refused(gate: pytest.Pytester, body: str, message: str) -> None:
    gate.makepyfile(f"def test_it(msdump):\n    {body}\n")
    result = gate.runpytest("--msdump")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*{message}*"])


def test_a_tolerance_by_name(arrays: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    path = arrays.path / "test_arrays.py"
    path.write_text(
        path.read_text().replace("@pytest.mark.msdump", '@pytest.mark.msdump(tolerance={"a": 2.0, "out": 2.0})')
    )
    monkeypatch.setenv("FAULT", "value")
    arrays.runpytest("--msdump", "test_arrays.py::test_arrays").assert_outcomes(passed=1)


@pytest.mark.long
def test_in_another_process(gate: pytest.Pytester, python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
    def test_it(msdump):
        msdump.run(Net(), 2)
        added = float(os.environ.get("FAULT", 0))
        msdump.check("out", {"a": [1, 2.5 + added], 3: (1j, None), "text": "x"})
    """
    gate.makepyfile(test_nets=HEAD + indented(text))
    gate.makeini(f"[pytest]\nmsdump_backend = mindspore\nmsdump_mindspore = {python}\n")
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    gate.runpytest("--msdump").assert_outcomes(passed=1)
    monkeypatch.setenv("FAULT", "1")
    result = gate.runpytest("--msdump")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*check/out.a[[]1[]]*"])
