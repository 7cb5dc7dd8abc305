"""Counter-runs: what goes away with weights of another scale or a smaller update was the cause, and then proven."""

from __future__ import annotations

import numpy as np
import pytest

from harness.inspect import Certainty
from harness.inspect.counter import layer_with_gain, smaller_update
from harness.inspect.inspecting import examined
from harness.inspect.training import Training
from harness.testing.sick import make


@pytest.mark.parametrize(
    "kind",
    [
        "weights too large",
        *(
            pytest.param(kind, marks=pytest.mark.long)
            for kind in ("weights too small", "exploding recurrence", "exploding values", "learning rate too large")
        ),
    ],
)
def test_a_counter_run_proves_scale_and_rate(kind: str) -> None:
    report, _ = examined(make(kind, 38).capture())
    assert report.errors[0].certainty is Certainty.PROVEN, report.errors[0]
    assert "with " in report.errors[0].reason


@pytest.mark.long
def test_depth_is_not_proven_by_another_scale() -> None:
    report, _ = examined(make("vanishing gradient", 38).capture())
    assert [(each.kind, each.certainty) for each in report.errors] == [("vanishing gradient", Certainty.SHOWN)]


def test_a_layer_with_gain_one_is_the_product_with_its_scaled_weight() -> None:
    sick = make("weights too large", 4)
    _, run = examined(sick.capture())
    for weight in Training(run).matrices:
        found = layer_with_gain(run, weight)
        x, w = weight.op.inputs[0].load(), weight.first.load() if weight.first is not None else None
        assert found is not None
        assert x is not None
        assert w is not None
        scaled = w / np.sqrt(np.mean(np.square(w, dtype=np.float64))) / np.sqrt(w.shape[1])
        sizes = [np.sqrt(np.mean(np.square(x @ each.T))) / np.sqrt(np.mean(np.square(x))) for each in (w, scaled)]
        np.testing.assert_allclose(found, sizes, rtol=1e-4)


def test_a_part_of_an_update_is_that_part_of_every_parameter() -> None:
    _, run = examined(make("learning rate too large", 2).capture())
    training = Training(run)
    losses = training.losses[0]
    whole = smaller_update(run, training, 0, 1.0)
    none = smaller_update(run, training, 0, 0.0)
    assert whole is not None
    assert none is not None
    assert whole[1] == losses[1][1]
    np.testing.assert_allclose(whole[2], losses[1][1], rtol=1e-3)
    assert none[0] == none[2]
