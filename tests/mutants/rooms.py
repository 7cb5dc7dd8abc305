"""Which modules are mutated and measured, and which tests must notice."""

from __future__ import annotations

from pathlib import Path

import harness

TOP = Path(harness.__file__).parents[1]
#: Modules that read what comes from elsewhere, keep goldens, or say what holds.
MODULES = (
    "harness/atomic.py", "harness/attributes.py", "harness/escape.py", "harness/inflating.py", "harness/reading.py",
    "harness/store/**/*.py", "harness/capture/npy.py", "harness/capture/torch_files/*.py",
    "harness/capture/named_tensors/safetensors.py", "harness/framework/train/checkpoint/safetensors.py",
    "harness/compare/policy.py", "harness/compare/tolerances.py", "harness/compare/tolerance_file.py",
    "harness/compare/verdict.py",
)  # fmt: skip
#: Lines that are no branch of this system, as patterns, each with its reason.
EXCLUDED = (
    "except ImportError:  # Windows",  # it has no flock; locks are files there, which tests/test_lock.py makes so
)
TESTS = (
    "tests/store", "tests/test_reading.py", "tests/test_escape.py", "tests/test_inflating.py", "tests/test_lock.py",
    "tests/faults/test_hostile.py", "tests/faults/test_odd_bundles.py", "tests/faults/test_hostile_values.py",
    "tests/faults/test_findings.py", "tests/faults/test_exchanged.py", "tests/capture/test_npy.py",
    "tests/capture/test_npy_later.py", "tests/capture/torch_files", "tests/capture/named_tensors", "tests/checking",
    "tests/compare", "tests/framework/train/checkpoint", "tests/test_notebook.py", "tests/plugin/test_ruling.py",
    "tests/capture/logs/test_logs.py", "tests/scale/test_reduction.py", "tests/explain/test_settling.py",
)  # fmt: skip


def modules(patterns: tuple[str, ...] = MODULES) -> list[str]:
    """Paths of the modules, relative to the top of the project."""
    return sorted({path.relative_to(TOP).as_posix() for each in patterns for path in TOP.glob(each)})
