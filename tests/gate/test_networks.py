"""The gate: every shipped network against its golden, slot by slot (``pytest --msdump tests/gate``)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gate.emulated import BACKENDS, CONVOLVING, HALVES, SAME
from tests.gate.lacking import skip_where_lacking
from tests.gate.networks import (
    alexnet,
    brain,
    constants,
    control,
    half,
    lenet,
    lstm,
    mlp,
    residual,
    transformer,
)
from tests.gate.never_written import AGAINST_REAL

# Each network has a second golden: what the real MindSpore 2.10.0 computed on a CPU (`pytest
# --msdump-regen --msdump-backend mindspore`).
# The other devices are emulated and stand beside the CPU's emulation.
#: operators that none of these networks has: a tolerance for them would be told as one for nothing
ELSEWHERE = ("*/ApplyCenteredRMSProp", "*/ApplyRMSProp", "*/Print")
REAL = {"cpu~mindspore": {key: each for key, each in AGAINST_REAL.items() if not key.startswith(ELSEWHERE)}}
pytestmark = pytest.mark.msdump(backends=BACKENDS, against={**REAL, **SAME}, rdr=True)
convolves = pytest.mark.msdump(against={**REAL, **CONVOLVING})


def test_mlp(msdump: Any) -> None:
    mlp.play(msdump)


@convolves
def test_lenet(msdump: Any) -> None:
    lenet.play(msdump)


@convolves
def test_alexnet(msdump: Any) -> None:
    alexnet.play(msdump)


@convolves
def test_residual(msdump: Any) -> None:
    residual.play(msdump)


def test_transformer(msdump: Any) -> None:
    transformer.play(msdump)


def test_lstm(msdump: Any) -> None:
    skip_where_lacking("lstm", msdump)
    lstm.play(msdump)


@pytest.mark.msdump(against={**REAL, **HALVES})
def test_half(msdump: Any) -> None:
    half.play(msdump)


def test_brain(msdump: Any) -> None:
    skip_where_lacking("brain", msdump)
    brain.play(msdump)


def test_control(msdump: Any) -> None:
    control.play(msdump)


def test_constants(msdump: Any) -> None:
    constants.play(msdump)
