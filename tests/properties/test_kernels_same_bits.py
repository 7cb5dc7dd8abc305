"""Operators and gradients in every floating dtype give the same bits on other processors and libraries.

float64 too here: its functions are evaluated in the C library's long double, which is wider on x86. Where long double
is no wider than float64, or is another type (ARM), float64 results state a tolerance of their own; results of the
narrower dtypes are the same there as well but for the middle of two neighbours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.properties.test_same_bits import THREADS, dispatched, widest

pytestmark = pytest.mark.long
SCRIPT = Path(__file__).parent / "kernels.py"
ENVIRONMENTS = {
    "prescott": {
        "OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": dispatched(), **dict.fromkeys(THREADS, "1"),
    },
    "haswell": {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": widest(), **dict.fromkeys(THREADS, "2")},
    "libc-without-fma": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F", "OPENBLAS_CORETYPE": "Zen"},
}  # fmt: skip


def digests(environment: dict[str, str]) -> dict[str, list[str]]:
    """What ``kernels.py`` prints in a process with ``environment``."""
    given = {key: value for key, value in environment.items() if value}
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], cwd=ROOT, env={**kept, "PYTHONPATH": str(ROOT), **given},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def here() -> dict[str, list[str]]:
    """Digests in this environment."""
    return digests({})


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_same_bits(name: str, here: dict[str, list[str]]) -> None:
    other = digests(ENVIRONMENTS[name])
    assert len(here) > 500
    assert [case for case in here if here[case] != other[case]] == []


def test_every_case_ran(here: dict[str, list[str]]) -> None:
    """In Float32 each; of the other dtypes an operator may refuse one."""
    refused = {case: found for case, found in here.items() if not all(len(d) == 32 for d in found)}
    assert [case for case in refused if case.endswith(" Float32")] == []
    assert {error for found in refused.values() for error in found} <= {"DtypeError", "KernelError"}
    assert len(refused) < len(here) / 50
