"""The gate holds bit for bit on other processors: other BLAS kernels, fewer CPU features, other thread counts.

The default tolerance of emulated backends is ``exact``, so a gate that passes found every slot identical.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.subprocesses import ROOT, pytest_run

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def dispatched() -> str:
    """CPU features numpy chooses kernels by on this machine; those it was built on cannot be switched off."""
    from numpy._core import _multiarray_umath as core

    return " ".join(name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name))


def widest() -> str:
    """Those of ``dispatched`` for vectors of 512 bits."""
    return " ".join(name for name in dispatched().split() if name.startswith(("AVX512", "X86_V4")))


ENVIRONMENTS = {
    **{f"openblas-{core}": {"OPENBLAS_CORETYPE": core} for core in ("Haswell", "SkylakeX", "Prescott", "Zen")},
    "numpy-no-widest": {"NPY_DISABLE_CPU_FEATURES": widest()},
    "numpy-baseline": {"NPY_DISABLE_CPU_FEATURES": dispatched()},
    "one-thread": dict.fromkeys(THREADS, "1"),
    "two-threads": dict.fromkeys(THREADS, "2"),
}


def gate(environment: dict[str, str], *selected: str) -> None:
    """Fails unless the shipped gate holds in ``environment``."""
    done = pytest_run(("--msdump", "-q", *selected, "tests/gate/test_networks.py"), ROOT, {"CI": "true", **environment})
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.long
def test_gate_holds_on_the_least_processor() -> None:
    least = {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": dispatched(), **ENVIRONMENTS["one-thread"]}
    gate(least, "-k", "(mlp or lenet or lstm or transformer) and (cpu-tensor or ascend-o1-tensor)")


@pytest.mark.deep
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_gate_holds(name: str) -> None:
    environment = ENVIRONMENTS[name]
    if not all(environment.values()):
        pytest.skip(f"this machine has no such CPU features to switch off (numpy {np.__version__})")
    gate(environment)
