"""``harness.check`` and ``harness.write``: the gate's judgement and the gate's words, without pytest."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import tracemalloc
import unittest
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import harness
from harness.cli import main
from harness.errors import HarnessError, SettingError, SettingTypeError, StoreError, StoreWriteError, ToleranceError
from harness.gate.checking import RUN
from harness.store import GoldenStore, RunData, update
from harness.store.manifest import environment_of
from tests.architecture.source import ROOT
from tests.testing.suites.own import Emulated


@dataclasses.dataclass
class Step:
    """A nested value."""

    loss: float
    grads: dict[str, Any]


def values(off: float = 0.0) -> dict[str, Any]:
    return {
        "step": Step(0.25 + off, {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "b": [1.0, 2.0]}),
        "half": np.ones(3, ml_dtypes.bfloat16),
        "name": "first",
        "nothing": [],
        "flag": True,
    }


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    given = values()
    given.pop("nothing")
    harness.write(tmp_path / "golden" / "step.h5", given)
    return tmp_path / "golden" / "step.h5"


def without_nothing(off: float = 0.0) -> dict[str, Any]:
    found = values(off)
    found.pop("nothing")
    return found


def test_what_was_kept_holds_and_what_differs_is_an_assertion_error(golden: Path) -> None:
    held = harness.check(golden, without_nothing())
    assert (held.holds, held.verdict, held.comparison.total) == (True, "identical", 5)
    with pytest.raises(harness.DiffersError, match=r"check/step\.loss") as caught:
        harness.check(golden, without_nothing(0.01))
    assert isinstance(caught.value, AssertionError)
    assert isinstance(caught.value, HarnessError)
    assert caught.value.judgement is not None
    assert not caught.value.judgement.holds
    assert str(caught.value).count("\n") < 25
    assert harness.check(golden, without_nothing(0.01), tolerance=0.1).verdict == "within tolerance"


def test_without_a_golden_it_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(
        harness.DiffersError, match=r"no golden for these values(.|\n)*make it: harness\.write\("
    ) as caught:
        harness.check(tmp_path / "none.h5", {"a": 1.0})
    assert caught.value.judgement is None
    assert not (tmp_path / "none.h5").exists()


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({}, SettingError, "nothing to compare"),
        ({"a": None}, SettingError, "'a' holds nothing"),
        ({3: 1.0}, SettingTypeError, "names are texts, got 3"),
        ({"a": object()}, SettingTypeError, "'a' is of type object; accepted are"),
        ({"a": {"b": 1}, "a.b": 2}, SettingError, "'a.b' was handed over before"),
        (object(), SettingTypeError, "'value' is of type object"),
        ({"a": np.zeros(2, [("x", "f4")])}, SettingTypeError, "hand over its fields"),
    ],
)
def test_what_cannot_be_kept_is_one_clear_error(tmp_path: Path, given: Any, error: type, told: str) -> None:
    for act in (harness.write, harness.check):
        with pytest.raises(error) as caught:
            act(tmp_path / "x.h5", given)
        assert told in str(caught.value)
        assert str(caught.value).startswith(f"harness.{act.__name__}: ")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_golden_and_a_wrong_tolerance_are_errors(golden: Path, tmp_path: Path) -> None:
    (tmp_path / "odd.h5").write_bytes(b"nothing of the kind")
    with pytest.raises(StoreError):
        harness.check(tmp_path / "odd.h5", {"a": 1})
    with pytest.raises(StoreError):
        harness.write(tmp_path / "odd.h5", {"a": 1})
    assert (tmp_path / "odd.h5").read_bytes() == b"nothing of the kind"
    for act in (harness.check, harness.write):
        with pytest.raises(ToleranceError):
            act(golden, {"a": 1.0}, tolerance="much")


@pytest.mark.parametrize(
    ("path", "error", "told"),
    [
        (None, SettingTypeError, "the path of a golden is a text or a path object; got NoneType"),
        (b"x.h5", SettingTypeError, "got bytes"),
        ({"a": 1.0}, SettingTypeError, "got dict: harness."),
        ("", StoreError, "the name of a golden ends in .h5, got ''"),
        ("golden/x", StoreError, "ends in .h5, got 'golden/x'"),
        (Path("x.npz"), StoreError, "ends in .h5, got 'x.npz'"),
        ("folder", StoreError, "folder: this is a directory"),
        ("folder.h5", StoreError, "folder.h5: this is a directory"),
    ],
)
def test_what_is_no_path_of_a_golden_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: Any, error: type, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("folder", "folder.h5"):
        Path(name).mkdir()
    for act in (harness.write, harness.check):
        with pytest.raises(error) as caught:
            act(path, {"a": 1.0})
        assert told in str(caught.value)
        assert "\n" not in str(caught.value)
    harness.write("golden/x.h5", {"a": 1.0})
    harness.check("golden/x.h5", {"a": 1.0})
    for below in ("golden/x.h5/y.h5", "golden/x.h5/folder/y.h5"):
        with pytest.raises(StoreWriteError, match=r"this directory cannot be made \(a file has its name"):
            harness.write(below, {"a": 1.0})


def test_the_golden_of_a_test_that_runs_operators_stays(tmp_path: Path) -> None:
    _, records = Emulated()._run()
    path = tmp_path / "net.h5"
    update(path, "net", {RUN: RunData(records, {}, {"emulated": True, "rules": {}})})
    before = path.read_bytes()
    for act in (harness.write, harness.check):
        with pytest.raises(StoreError, match=r"the golden of a test that runs operators \(\d+ slots, the first is D"):
            act(path, {"a": 1.0})
    assert path.read_bytes() == before


def test_writing_again_changes_nothing_and_keeps_where_it_is_from(golden: Path) -> None:
    before = golden.read_bytes(), golden.with_name("step.manifest.json").read_bytes()
    assert not harness.write(golden, without_nothing()).changed
    assert (golden.read_bytes(), golden.with_name("step.manifest.json").read_bytes()) == before
    assert environment_of(golden.parent, golden.name, RUN)["python"]
    with GoldenStore.open(golden) as store:
        assert store.network == "step"


def test_the_golden_keeps_its_tolerance(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    harness.write(path, {"a": 1.0, "b": 2.0}, tolerance={"a": 0.1, "default": "exact"})
    assert harness.check(path, {"a": 1.05, "b": 2.0}).verdict == "within tolerance"
    with pytest.raises(harness.DiffersError, match="check/b"):
        harness.check(path, {"a": 1.05, "b": 2.0000001})
    with pytest.raises(harness.DiffersError, match="check/a"):
        harness.check(path, {"a": 1.05, "b": 2.0}, tolerance="exact")


_SHAPES = hnp.array_shapes(min_side=0, max_dims=3, max_side=4)
_LEAVES = st.one_of(
    st.floats(allow_nan=True),
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.text(max_size=8).filter(str.isprintable),
    hnp.arrays(st.sampled_from(["f2", "f4", "f8", "i4", "u1", "c8", "?"]), _SHAPES),
)
_NAMES = st.text("abcdefgh_", min_size=1, max_size=5)
_NESTED = st.dictionaries(
    _NAMES, st.one_of(_LEAVES, st.dictionaries(_NAMES, _LEAVES, min_size=1), st.lists(_LEAVES, min_size=1)), min_size=1
)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(_NESTED)
def test_any_nested_value_holds_against_itself(tmp_path: Path, found: dict[str, Any]) -> None:
    path = tmp_path / "any.h5"
    path.unlink(missing_ok=True)
    harness.write(path, found)
    assert harness.check(path, found, tolerance="exact").verdict == "identical"
    name = sorted(found)[0]
    with pytest.raises(harness.DiffersError):
        harness.check(path, {**{k: v for k, v in found.items() if k != name}, name + "x": found[name]})


def test_unittest_counts_a_failure(golden: Path) -> None:
    class Case(unittest.TestCase):
        def test_it(self) -> None:
            harness.check(golden, without_nothing(0.5))

    result = unittest.TestResult()
    Case("test_it").run(result)
    assert (len(result.failures), len(result.errors)) == (1, 0)
    assert "check/step.loss" in result.failures[0][1]


def outcome(path: Path, off: float) -> str:
    try:
        return harness.check(path, without_nothing(off)).verdict
    except harness.DiffersError as error:
        return str(error).splitlines()[1]


def test_threads_and_tasks_agree(golden: Path) -> None:
    expected = [outcome(golden, off) for off in (0.0, 0.5)] * 8
    found: list[str] = [""] * 16

    def ask(at: int) -> None:
        found[at] = outcome(golden, 0.5 * (at % 2))

    threads = [threading.Thread(target=ask, args=(at,)) for at in range(16)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == expected

    async def all_of_them() -> list[str]:
        return list(await asyncio.gather(*(asyncio.to_thread(outcome, golden, 0.5 * (at % 2)) for at in range(8))))

    assert asyncio.run(all_of_them()) == expected[:8]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
def test_forked_processes_agree(golden: Path) -> None:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.starmap(outcome, [(golden, 0.0), (golden, 0.5)] * 2)
    assert found == [outcome(golden, 0.0), outcome(golden, 0.5)] * 2


SERVICE = """
import multiprocessing, sys, warnings
import numpy as np
import harness

def work(path):
    try:
        harness.check(path, {"a": np.float32([1, 3])})
    except harness.DiffersError as error:
        return type(error).__name__, harness.check(path, {"a": np.float32([1, 2])}).verdict

if __name__ == "__main__":
    before = set(warnings.filters), np.geterr()
    harness.write("service.h5", {"a": np.float32([1, 2])})
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(*pool.apply(work, ("service.h5",)), *work("service.h5"))
    assert "pytest" not in sys.modules and "harness.framework" not in sys.modules, "neither is needed"
    if (set(warnings.filters), np.geterr()) != before:
        raise SystemExit("a setting of the process changed")
"""


@pytest.mark.long
def test_optimised_with_warnings_as_errors_and_in_a_spawned_process(tmp_path: Path) -> None:
    (tmp_path / "service.py").write_text(SERVICE)
    done = subprocess.run(
        [sys.executable, "-O", "-W", "error", "service.py"],
        cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120,
    )  # fmt: skip
    assert done.stdout == "DiffersError identical DiffersError identical\n", done.stderr
    assert done.stderr == ""


def kept() -> dict[str, Any]:
    return {"loss": 0.25, "grad": np.ones(8, np.float32), "more": {"a": 1, "b": 2.0, "c": "three"}}


def check_many(path: Path, count: int) -> None:
    found = kept()
    off = {**found, "grad": np.full(8, 2, np.float32)}
    for at in range(count):
        if at % 20:
            harness.check(path, found)
        else:
            with pytest.raises(harness.DiffersError):
                harness.check(path, off)


@pytest.mark.parametrize("count", [120, pytest.param(2000, marks=pytest.mark.long)])
def test_a_service_keeps_its_memory(tmp_path: Path, count: int) -> None:
    """Of ``count`` checks of five values each; every twentieth fails. The second half takes no more than the first."""
    path = tmp_path / "many.h5"
    harness.write(path, kept())
    check_many(path, 60)  # what is made once
    descriptors = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    tracemalloc.start()
    try:
        check_many(path, count // 2)
        gc.collect()
        first = tracemalloc.get_traced_memory()[0]
        check_many(path, count // 2)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - first
    finally:
        tracemalloc.stop()
    assert grown < 20_000, f"{grown} bytes for {count // 2} checks"
    if descriptors:
        assert len(os.listdir("/proc/self/fd")) <= descriptors


def test_one_verdict_of_check_diff_and_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn changes near the edge of a tolerance, and texts that come and go."""
    monkeypatch.chdir(tmp_path)
    for seed in range(12):
        made = np.random.default_rng([20263, seed])
        one = {"x": (made.normal(size=323) * 40).astype(np.float16), "n": np.arange(3)}
        two: dict[str, Any] = {**one, "x": one["x"].astype(ml_dtypes.bfloat16).astype(np.float16)}
        if seed % 3 == 0:
            (one if seed % 2 else two)["told"] = "text"
        harness.write("a.h5", one)
        harness.write("b.h5", two)
        try:
            checked = harness.check("a.h5", two, tolerance="default").code
        except harness.DiffersError:
            checked = 1
        assert main(["-q", "diff", "a.h5", "b.h5", "--tolerance", "default", "--json", "d.json"]) == checked, seed
        assert main(["-q", "judge", "d.json"]) == checked, seed
