"""Whole numbers drawn: dtypes, shapes, ranges, shares, and the same again from the same seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import Parameter, Tensor, dtypes, nn, ops
from harness.errors import SettingError, ShapeError
from harness.framework import jit
from harness.framework.seed import seeded

WEIGHTS = Tensor(np.array([[0.1, 0.0, 0.9], [1.0, 1.0, 0.0]], np.float32))
ALPHAS = Tensor(np.array([0.5, 3.0, 900.0], np.float32))
SHAPE = Tensor(np.array([400], np.int32))
ENDS = Tensor(np.asarray(-2, np.int32)), Tensor(np.asarray(3, np.int32))
TRUE = Tensor(np.array([[0, 3], [7, 1]], np.int64))
CALLS: dict[str, Callable[[], Any]] = {
    "randint": lambda: ops.randint(-2, 3, (40, 5)),
    "randint_like": lambda: ops.randint_like(Tensor(np.zeros((40, 5), np.int32)), -2, 3),
    "randperm": lambda: ops.randperm(50),
    "multinomial": lambda: ops.multinomial(WEIGHTS, 100),
    "random_gamma": lambda: ops.random_gamma(SHAPE, ALPHAS),
    "random_poisson": lambda: ops.random_poisson(SHAPE, ALPHAS),
    "laplace": lambda: ops.laplace((40, 3), ALPHAS, ALPHAS),
    "standard_laplace": lambda: ops.standard_laplace((40, 3)),
    "uniform of Int32": lambda: ops.uniform((40, 3), *ENDS, dtype=dtypes.int32),
    "multinomial, each once": lambda: ops.multinomial(WEIGHTS, 2, False),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_same_seed_draws_the_same_and_the_next_call_another(name: str) -> None:
    with seeded(5):
        first, second = CALLS[name]().asnumpy(), CALLS[name]().asnumpy()
    with seeded(5):
        assert np.array_equal(CALLS[name]().asnumpy(), first)
    assert first.shape == second.shape
    assert name in ("multinomial, each once", "randperm") or not np.array_equal(first, second)


def test_ranges_dtypes_and_shares() -> None:
    drawn = ops.randint(-2, 3, (400,))
    assert (drawn.dtype, drawn.shape) == (dtypes.int64, (400,))
    assert set(drawn.tolist()) == {-2, -1, 0, 1, 2}
    assert ops.randint(0, 2, (3,), dtype=dtypes.int32).dtype is dtypes.int32
    assert sorted(ops.randperm(9).tolist()) == list(range(9))
    assert ops.randperm(4, dtype=dtypes.int32).dtype is dtypes.int32
    chosen = ops.multinomial(WEIGHTS, 1000)
    assert (chosen.dtype, chosen.shape) == (dtypes.int32, (2, 1000))
    counts = [np.bincount(row, minlength=3) for row in chosen.asnumpy()]
    assert counts[0][1] == counts[1][2] == 0
    assert 40 < counts[0][0] < 200
    assert 400 < counts[1][0] < 600
    assert all(len(set(row)) == 2 for row in ops.multinomial(WEIGHTS, 2, False).asnumpy().tolist())


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: ops.randint(3, 3, (2,)), SettingError),
        (lambda: ops.randint(0, 3, [2]), TypeError),
        (lambda: ops.randint_like(WEIGHTS, 0, 3), SettingError),
        (lambda: ops.randperm(0), ShapeError),
        (lambda: ops.multinomial(WEIGHTS, 4, False), SettingError),
        (lambda: ops.multinomial(WEIGHTS, 2.0), TypeError),
        (lambda: ops.bincount(Tensor(np.array([1, 2])), minlength=-1), SettingError),
        (lambda: ops.ctc_loss(WEIGHTS, WEIGHTS, WEIGHTS, WEIGHTS, reduction="most"), SettingError),
        (lambda: ops.cdist(WEIGHTS, WEIGHTS, -1.0), SettingError),
    ],
    ids=[str(at) for at in range(9)],
)
def test_refused(call: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_nonzero_by_axis() -> None:
    for function in (ops.nonzero, jit(lambda x, as_tuple: ops.nonzero(x, as_tuple=as_tuple))):
        rows, columns = function(WEIGHTS, as_tuple=True)
        assert (rows.asnumpy().tolist(), columns.asnumpy().tolist()) == ([0, 0, 1, 1], [0, 2, 0, 1])


SCORES = ops.log_softmax(Tensor((np.arange(40) * 7 % 11 / 8).reshape(5, 2, 4).astype(np.float32)), -1)
LABELS = (Tensor([[1, 3], [3, 3]], dtypes.int32), Tensor([5, 4], dtypes.int32), Tensor([2, 2], dtypes.int32))


def test_losses_of_alignments_are_what_mindspore_gives() -> None:
    """Recorded from MindSpore 2.10.0."""
    for blank, expected in ((0, [3.63941932, 3.53258491]), (2, [3.10386562, 3.92622113])):
        loss = ops.ctc_loss(SCORES, *LABELS, blank, "none")[0]
        np.testing.assert_allclose(loss.asnumpy(), expected, 1e-5)
    np.testing.assert_allclose(float(nn.CTCLoss()(SCORES, *LABELS).asnumpy()), 1.793, 1e-4)
    np.testing.assert_allclose(float(ops.ctc_loss(SCORES, *LABELS, reduction="sum")[0].asnumpy()), 7.172, 1e-4)


def test_the_slope_of_a_loss_of_alignments_is_what_mindspore_gives() -> None:
    """Recorded from MindSpore 2.10.0: of the scores at the first time and at the last."""
    slope = ops.grad(lambda x: ops.ctc_loss(x, *LABELS, 0, "none")[0])(SCORES).asnumpy()
    expected = [[-0.19794503, -0.3947209, 0.17437166, 0.41829586], [0.04368514, 0.15378521, 0.3689116, -0.56638]]
    np.testing.assert_allclose(slope[0], expected, 1e-3, 2e-5)
    assert not slope[4, 1].any()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [[0.3075557053, -1.1924443244, 2.1924440860], [2.8075559139, 0.0575557202, -0.9424442648]]),
        ({"use_nesterov": True}, [[0.3075557053, -1.1924443244, 2.192444086], [2.80755591, 0.05755572, -0.94244426]]),
        ({"weight_decay": 0.1}, [[0.3030628264, -1.1836271286, 2.15581870], [2.74626040, 0.05528083, -0.92395973]]),
    ],
)
def test_adam_with_the_largest_mean_square_steps_as_mindspore_does(settings: Any, expected: Any) -> None:
    """Recorded from MindSpore 2.10.0: three steps, in both modes the same."""
    weight = Parameter(Tensor(np.array([[0.5, -1, 2], [3, 0.25, -0.75]], np.float32)), name="w")
    step = nn.Adam([weight], 0.1, use_amsgrad=True, **settings)
    for factor in (1, -0.5, 2):
        step((Tensor(np.array([[1.5, 2, -1], [0.5, 1.25, 0.75]], np.float32)) * factor,))
    np.testing.assert_allclose(weight.asnumpy(), expected, 1e-5)
    assert [p.name for p in step.get_parameters()][-3:] == ["moment1.w", "moment2.w", "vhat.w"]


def test_a_shuffle_moves_rows_and_each_call_moves_them_otherwise() -> None:
    rows = Tensor(np.arange(200).reshape(100, 2))
    with seeded(5):
        first, second = ops.shuffle(rows).asnumpy(), ops.shuffle(rows).asnumpy()
    assert sorted(first[:, 0]) == list(range(0, 200, 2))
    assert (first[:, 1] == first[:, 0] + 1).all()
    assert (first != second).any()
    assert (first != rows.asnumpy()).any()


def test_bernoulli_draws_ones_as_often_as_it_should() -> None:
    x = Tensor(np.zeros(20000, np.float32))
    with seeded(5):
        first, second = ops.bernoulli(x, 0.3).asnumpy(), ops.bernoulli(x, 0.3).asnumpy()
    assert set(first) == {0, 1}
    assert abs(first.mean() - 0.3) < 0.02  # six standard deviations
    assert (first != second).any()
    assert (ops.bernoulli(x, 0.3, 7).asnumpy() == ops.bernoulli(x, 0.3, 7).asnumpy()).all()


def test_gamma_poisson_and_laplace_have_their_means_and_deviations() -> None:
    alphas = ALPHAS.asnumpy()
    for drawn in (ops.random_gamma(SHAPE, ALPHAS, 3), ops.random_poisson(SHAPE, ALPHAS, 3)):
        assert (drawn.dtype, drawn.shape) == (dtypes.float32, (400, 3))
        values = drawn.asnumpy()
        assert np.all(np.abs(values.mean(0) - alphas) < 5 * np.sqrt(alphas / 400))
        assert np.all(np.abs(values.std(0) / np.sqrt(alphas) - 1) < 0.3)
    assert ops.random_poisson(SHAPE, ALPHAS, 3, dtypes.int64).dtype is dtypes.int64
    wave = ops.standard_laplace((2000,), 3).asnumpy()
    assert abs(wave.mean()) < 0.2
    assert 1.2 < wave.std() < 1.6


def test_categories_have_the_shares_of_softmax() -> None:
    drawn = ops.random_categorical(Tensor(np.log(np.array([[0.25, 0.75]], np.float32))), 1000, 4)
    assert (drawn.dtype, drawn.shape) == (dtypes.int64, (1, 1000))
    assert 650 < drawn.asnumpy().sum() < 850


@pytest.mark.parametrize("sampler", [ops.log_uniform_candidate_sampler, ops.uniform_candidate_sampler])
def test_candidates_and_how_often_they_are_expected(sampler: Callable[..., Any]) -> None:
    """The rule of expectations was seen in results of the real one: a chance times the number of draws, or 1 minus the
    chance that no draw hits, where more draws were needed than classes."""
    found, of_true, of_found = sampler(TRUE, 2, 8, True, 8)
    assert sorted(found.tolist()) == list(range(8))
    assert (of_true.shape, of_found.shape, of_true.dtype) == ((2, 2), (8,), dtypes.float32)
    assert 0 < of_found.asnumpy().min() <= of_found.asnumpy().max() <= 1
    found, of_true, of_found = sampler(TRUE, 2, 50, False, 8)
    chances = of_true.asnumpy() / 50
    assert set(found.tolist()) <= set(range(8))
    assert np.allclose(chances[0, 0], np.log(2) / np.log(9) if "log" in sampler.__name__ else 1 / 8)


def test_accidental_hits_are_not_drawn() -> None:
    found = ops.uniform_candidate_sampler(TRUE, 2, 4, True, 8, 3, True)[0]
    assert set(found.tolist()) == {2, 4, 5, 6}
    assert 7 in ops.uniform_candidate_sampler(TRUE, 2, 40, False, 8, 3, True)[0].tolist()


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "more different classes than there are": (lambda: ops.uniform_candidate_sampler(TRUE, 2, 9, True, 8), ValueError),
    "another number of true classes": (lambda: ops.uniform_candidate_sampler(TRUE, 1, 4, True, 8), ValueError),
    "a dimension of 0": (lambda: ops.standard_laplace((0,)), ValueError),
    "a mean that is no tensor": (lambda: ops.laplace((2,), 1.0, ALPHAS), TypeError),
    "logits of one axis": (lambda: ops.random_categorical(ALPHAS, 3), ValueError),
    "classes that are floats": (lambda: ops.RandomCategorical(dtypes.float32), TypeError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_samplers_refuse(name: str) -> None:
    call, error = REFUSED[name]
    with pytest.raises(error):
        call()
