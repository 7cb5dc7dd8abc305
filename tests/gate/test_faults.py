"""Faults on purpose: what a run leaves when a kernel fails, or returns what is not a number."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gate.emulated import BACKENDS
from tests.gate.networks import faulty

# Each fault in the mode that keeps everything, and in those that keep it alone.
MODES = ("tensor", "overflow", "exception")
pytestmark = pytest.mark.msdump(
    backends={backend: [mode for mode in MODES if mode in own] for backend, own in BACKENDS.items()},
    level="digest",
    rdr=True,
)


def test_forward_fails(msdump: Any) -> None:
    faulty.fails(msdump, "name-regex(.*outer-Dense/MatMul-op.*)", "error")


def test_backward_has_no_memory(msdump: Any) -> None:
    faulty.fails(msdump, "name-regex(Gradients/.*MatMul.*)", "memory")


def test_optimizer_fails(msdump: Any) -> None:
    faulty.fails(msdump, "ApplyMomentum", "error")


def test_forward_is_no_number(msdump: Any) -> None:
    faulty.is_spoilt(msdump, "name-regex(.*inner-Dense/MatMul-op.*)", "nan")


def test_backward_overflows(msdump: Any) -> None:
    faulty.is_spoilt(msdump, "BiasAddGrad", "inf")


def test_optimizer_overflows(msdump: Any) -> None:
    faulty.is_spoilt(msdump, "ApplyMomentum", "-inf")


def test_loop_fails(msdump: Any) -> None:
    faulty.fails_in_a_loop(msdump, "Sin")
