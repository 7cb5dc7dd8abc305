"""Users' own metrics, names, and the alternatives to MindSpore's measured defects."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import nn
from harness.errors import HarnessError
from harness.framework.tensor import Tensor
from harness.framework.train import metrics
from harness.framework.train.metrics.surface import distances, surface


class Largest(metrics.Metric):
    """A user's metric."""

    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self.value = -np.inf

    @metrics.rearrange_inputs
    def update(self, *inputs):
        self.value = max(self.value, *(self._convert_data(each).max() for each in inputs))

    def eval(self):
        return self.value


def test_a_metric_of_ones_own() -> None:
    metric = Largest().set_indexes([1])
    assert metric(Tensor([5.0]), Tensor([2.0])) == 2.0
    metric.update([9.0], np.array([3.0]))
    assert metric.eval() == 3.0


@pytest.mark.parametrize("missing", ["clear", "update", "eval"])
def test_a_metric_defines_all_three(missing: str) -> None:
    methods = {name: lambda self, *_: None for name in ("clear", "update", "eval") if name != missing}
    with pytest.raises(TypeError, match=missing):
        type("Partial", (metrics.Metric,), methods)()


def test_the_document_example_is_two_thirds() -> None:
    metric = metrics.get_metric_fn("accuracy", eval_type="classification")
    x = Tensor(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]))
    y = Tensor(np.array([1, 0, 1]))
    metric.clear()
    metric.update(x, y)
    assert metric.eval() == metric.eval() == 2 / 3
    metric.clear()
    with pytest.raises(RuntimeError, match="Accuracy"):
        metric.eval()


def test_every_error_is_the_harness_s_own() -> None:
    with pytest.raises(HarnessError):
        metrics.Accuracy("other")
    with pytest.raises(HarnessError, match="did you mean"):
        metrics.get_metric_fn("accuracies")


def test_nn_has_the_metrics_too() -> None:
    for name in metrics.__all__:
        if name != "get_metrics":
            assert getattr(nn, name) is getattr(metrics, name)
            assert getattr(importlib.import_module("harness.framework.nn.metrics"), name) is getattr(metrics, name)


def test_corrected_root_mean_square_takes_the_root() -> None:
    one, other = np.zeros((2, 5, 5), int)
    one[1:3, 1:3], other[2:5, 1:4] = 1, 1
    plain, right = metrics.RootMeanSquareDistance(), metrics.RootMeanSquareDistance(corrected=True)
    assert right(one, other, 1) == pytest.approx(np.sqrt(plain(one, other, 1)))


def test_corrected_errors_do_not_wrap_and_count_elements() -> None:
    one, other = np.array([[1, 2]], np.uint8), np.array([[3, 1]], np.uint8)
    assert metrics.MAE(corrected=True)(one, other) == 1.5
    assert metrics.MSE(corrected=True)(one, other) == 2.5
    assert metrics.MSE()(one, other) == pytest.approx(np.power(other - one, 2).sum())


def test_corrected_rates_of_a_batch() -> None:
    prediction = np.array([[[1, 0], [1, 1]], [[1, 1], [0, 0]]])
    label = np.array([[[1, 1], [1, 1]], [[1, 1], [1, 1]]])

    def made(**settings):
        return metrics.ConfusionMatrixMetric(metric_name="tpr", calculation_method=True, **settings)

    assert made(decrease="none", skip_channel=False, corrected=True)(prediction, label).tolist() == [[0.5, 1], [1, 0]]
    assert made(decrease="mean_batch", skip_channel=False, corrected=True)(prediction, label).tolist() == [0.75, 0.5]
    assert made(decrease="mean_batch", skip_channel=True, corrected=True)(prediction, label).tolist() == [0.5]
    with pytest.raises(TypeError, match="corrected=True"):
        made(decrease="mean_batch")(prediction, label)


masks = hnp.arrays(bool, st.tuples(st.integers(1, 6), st.integers(1, 6)))


@given(masks)
def test_a_surface_is_what_erosion_takes_away(mask: np.ndarray) -> None:
    padded = np.pad(mask, 1)
    for at in np.ndindex(*mask.shape):
        row, column = at[0] + 1, at[1] + 1
        around = [padded[row + 1, column], padded[row - 1, column], padded[row, column + 1], padded[row, column - 1]]
        assert surface(mask)[at] == (mask[at] and not all(around))


@given(st.data())
def test_distances_are_the_shortest(data: st.DataObject) -> None:
    one = data.draw(masks)
    other = data.draw(hnp.arrays(bool, one.shape))
    found = distances(one, other, "taxicab")
    points, targets = np.argwhere(one), np.argwhere(other)
    assert len(found) == len(points)
    for point, distance in zip(points, found, strict=True):
        assert distance == min((np.abs(point - target).sum() for target in targets), default=np.inf)


def test_clear_forgets_what_a_refused_update_saw() -> None:
    dice = metrics.Dice()
    with pytest.raises(ValueError, match="one shape"):
        dice.update(np.ones((3, 2)), np.ones(3))
    dice.update(np.ones((1, 2)), np.ones((1, 2)))
    assert dice.eval() == pytest.approx(1, abs=1e-5)


def test_similarity_can_be_read_twice() -> None:
    metric = metrics.CosineSimilarity(reduction="sum")
    metric.update(np.eye(2))
    assert metric.eval().tolist() == metric.eval().tolist() == [0, 0]


def test_a_box_around_masks_loses_thin_surfaces() -> None:
    point = np.zeros((3, 3), int)
    point[1, 1] = 1
    assert metrics.HausdorffDistance()(point, point, 1) == np.inf
    assert metrics.HausdorffDistance(crop=False)(point, point, 1) == 0
