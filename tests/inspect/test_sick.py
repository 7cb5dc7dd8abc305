"""Sick trainings of the public generator are told with kind, place and step; healthy ones have no error.

Hundreds of them, with fresh seeds, run by hand; these are a sample.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.inspect import inspect
from harness.testing.sick import FAMILIES, KINDS, draw, make

_QUICK = (
    "log of zero", "weights too large", "dead units", "wrong softmax axis", "gradient ascent", "forgotten parameter"
)  # fmt: skip
_MARKED = [kind if kind in _QUICK else pytest.param(kind, marks=pytest.mark.long) for kind in KINDS]


@pytest.mark.parametrize("kind", _MARKED)
def test_a_sick_training_is_told(kind: str) -> None:
    sick = make(kind, 20261129)
    report = inspect(sick.capture())
    assert sick.right(report), [(each.kind, each.operator, each.iteration) for each in report.findings]
    assert len(report.errors) <= 2, [each.kind for each in report.errors]
    assert json.loads(report.as_json())["code"] == 1


@pytest.mark.parametrize("family", FAMILIES)
def test_a_healthy_training_has_no_error(family: str) -> None:
    report = inspect(draw(np.random.default_rng(len(family)), family).capture())
    assert report.slots > 500
    assert report.code == 0, [(each.kind, each.text) for each in report.errors]
