"""What a gate session asks of the C library's allocator, and of Python's garbage collector."""

from __future__ import annotations

import gc
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from pytest_msdump import garbage
from pytest_msdump.garbage import Garbage

# Page faults of tests that make and free arrays as networks do, before and after.
SCRIPT = """
import resource
import numpy as np
from harness.freed import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        arrays = [np.ones(131072, np.float32) for _ in range(8)]
        del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
without = faults()
keep_freed_memory()
faults()
print(without, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have rules of their own")
def test_freed_memory_is_used_again() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    without, kept = map(int, done.stdout.split())
    assert kept < without / 4


@pytest.fixture(name="thresholds")
def kept_thresholds() -> Iterator[None]:
    """Leaves the collector as it was, whatever a test does to it."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def protocol(of: Garbage) -> None:
    """One test of pytest's: the hook around it, to its end."""
    running = of.pytest_runtest_protocol(SimpleNamespace())  # type: ignore[arg-type]
    next(running)
    with pytest.raises(StopIteration):
        running.send(True)


@pytest.mark.usefixtures("thresholds")
def test_the_collector_is_as_before_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, calls = [False], []
    monkeypatch.setattr(garbage, "is_gate_test", lambda item: gate[0])
    for name in ("freeze", "unfreeze"):
        monkeypatch.setattr(gc, name, lambda name=name: calls.append(name))
    gc.set_threshold(700, 10, 10)
    endings: list[Callable[[], None]] = []
    of = Garbage(SimpleNamespace(add_cleanup=endings.append))  # type: ignore[arg-type]
    assert gc.get_threshold() == (garbage.BETWEEN, 10, 10)
    protocol(of)
    assert calls == [], "a test that is none of the gate's imports nothing"
    gate[0] = True
    protocol(of)
    protocol(of)
    assert calls == ["freeze"], "once"
    endings.pop()()
    assert gc.get_threshold() == (700, 10, 10)
    assert calls == ["freeze", "unfreeze"]


@pytest.mark.usefixtures("thresholds")
@pytest.mark.parametrize("threshold", [0, 1_000_000])
def test_a_collector_that_is_off_or_looks_less_often_stays_so(threshold: int) -> None:
    gc.set_threshold(threshold, 5, 5)
    Garbage(SimpleNamespace(add_cleanup=lambda ending: None))  # type: ignore[arg-type]
    assert gc.get_threshold()[:2] == (threshold, 5)
