"""What a third generator, of another hand, found missed or wrongly told: each as a rule over drawn values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import nn
from harness.backends import get
from harness.framework.tensor import Tensor
from harness.inspect import Certainty, Report, inspect
from tests.framework.compile.build import graph_mode
from tests.inspect.made import Made

_RNG = st.integers(0, 2**32 - 1).map(np.random.default_rng)
_FEW = settings(max_examples=3, deadline=None)


def _kinds(report: Report) -> set[tuple[str, str]]:
    return {(each.kind, each.operator) for each in report.errors}


@given(_RNG)
@_FEW
def test_a_quotient_that_is_added_is_told_as_one(rng: np.random.Generator) -> None:
    run, shape, at = Made(), (3, 4), tuple(map(int, rng.integers(0, (3, 4))))
    weight, above, below = (rng.uniform(1, 2, shape) for _ in range(3))
    above[at] = below[at] = 0
    with np.errstate(all="ignore"):
        after = weight - above / below
    run.op("Default/optimizer-Adam/addcdiv_-op0", "addcdiv_", [weight, above, below], [after])
    run.parameter("fc.weight", after)
    found = inspect(run.capture(), ["nonfinite"]).errors
    assert [(each.kind, each.certainty) for each in found] == [("zero divided by zero", Certainty.PROVEN)]
    assert found[0].elements == (f"input.1{list(at)} = 0", f"input.2{list(at)} = 0")


@pytest.mark.parametrize("overflow", ["square", "exponential"])
@given(_RNG)
@_FEW
def test_what_is_divided_by_an_overflow_is_lost_unless_it_is_an_exponential(
    overflow: str, rng: np.random.Generator
) -> None:
    run, x = Made(), rng.uniform(300, 900, (4, 3)).astype(np.float16)
    with np.errstate(all="ignore"):
        if overflow == "square":
            large = run.op("Default/mul-op0", "mul", [x, x], [x * x])
        else:
            large = run.op("Default/exp-op0", "exp", [x], [np.exp(x)])
        ratio = run.op("Default/div-op0", "div", [x, large], [x / large])
    run.op("Default/sum-op0", "sum", [ratio], [ratio.sum()])
    found = inspect(run.capture(), ["nonfinite"])
    lost = [each for each in found.errors if "Default/div-op0 makes 0 of it" in each.text]
    assert bool(lost) == (overflow == "square"), found.findings


@pytest.mark.parametrize("fill", [-1.0, 0.0, -1e9, -np.inf])
@given(_RNG)
@_FEW
def test_a_filling_that_is_too_small_leaks(fill: float, rng: np.random.Generator) -> None:
    run, length = Made(), int(rng.integers(3, 7))
    hidden = np.triu(np.ones((length, length), bool), 1)
    scores = rng.normal(size=(2, length, length)).astype(np.float32)
    masked = run.op("Default/fill-op0", "masked_fill", [scores, hidden], [np.where(hidden, np.float32(fill), scores)])
    shares = np.exp(masked - masked.max(-1, keepdims=True))
    run.op("Default/softmax-op0", "softmax", [masked], [shares / shares.sum(-1, keepdims=True)])
    leaks = _kinds(inspect(run.capture(), ["mask"]))
    assert leaks == ({("mask leaks", "Default/softmax-op0")} if fill > -2 else set())


@given(_RNG)
@_FEW
def test_weights_set_to_zero_after_the_softmax_are_told_behind_views(rng: np.random.Generator) -> None:
    run, length = Made(), int(rng.integers(3, 6))
    shares = rng.dirichlet(np.ones(length), (2, length)).astype(np.float32)
    keep = np.tril(np.ones((length, length), bool))
    run.op("Default/softmax-op0", "softmax", [rng.normal(size=shares.shape).astype(np.float32)], [shares])
    kept = run.op("Default/mul-op0", "mul", [shares, keep], [shares * keep])
    seen = run.op("Default/view-op0", "view", [kept], [kept.reshape(-1, length)])
    values = rng.normal(size=(length, 3)).astype(np.float32)
    run.op("Default/mm-op0", "mm", [seen, values], [seen @ values])
    assert _kinds(inspect(run.capture(), ["mask"])) == {("mask leaks", "Default/mul-op0")}


def _trained(rng: np.random.Generator, hidden: Any, steps: int = 2) -> Made:
    """A product of what ``hidden`` makes of the data with a weight, trained."""
    run, weight = Made(), rng.normal(size=(5, 3)).astype(np.float32)
    for run.step in range(steps):
        x = rng.normal(size=(6, 5)).astype(np.float32)
        made = run.op("Default/mean-op0", "mean", [x], [hidden(x)])
        y = run.op("Default/fc-Dense/MatMul-op0", "MatMul", [made, weight], [made @ weight])
        back = rng.normal(size=y.shape).astype(np.float32)
        run.op("Gradients/Default/fc-Dense/MatMul-op0", "MatMul", [made, back], [made.T @ back])
        weight = weight - np.float32(0.1) * (made.T @ back)
        run.parameter("fc.weight", weight)
    return run


@given(_RNG)
@_FEW
def test_what_mixes_the_samples_into_one_is_named(rng: np.random.Generator) -> None:
    def mixed(x: Any) -> Any:
        return np.broadcast_to(x.mean(0, keepdims=True), x.shape).copy()

    assert _kinds(inspect(_trained(rng, mixed).capture(), ["constant-activation"])) == {
        ("constant activation", "Default/mean-op0")
    }
    assert not inspect(_trained(rng, lambda x: x - x.mean(0)).capture(), ["constant-activation"]).findings


@pytest.mark.parametrize("zeroed", [False, True])
@given(_RNG)
@_FEW
def test_gradients_that_go_on_from_step_to_step_add_up(zeroed: bool, rng: np.random.Generator) -> None:
    run, weight = Made(), rng.normal(size=(5, 3)).astype(np.float32)
    kept = np.zeros_like(weight)
    for run.step in range(5):
        x, back = rng.normal(size=(6, 5)).astype(np.float32), rng.normal(size=(6, 3)).astype(np.float32)
        run.op("Default/fc-Linear/mm-op0", "mm", [x, weight], [x @ weight])
        new = run.op("Gradients/Default/fc-Linear/mm-op0", "mm", [x.T.copy(), back], [x.T @ back])
        if run.step:
            old = rng.normal(size=new.shape).astype(np.float32) if zeroed else kept
            kept = run.op("Gradients/Default/fc-Linear/add_-op0", "add_", [old, new], [old + new])
        else:
            kept = new
        after = (weight - np.float32(0.1) * kept).astype(np.float32)
        run.op("Default/optimizer-SGD/add_-op0", "add_", [weight, kept], [after])
        weight = after
        run.parameter("fc.weight", weight)
    found = inspect(run.capture(), ["stale-gradient"])
    assert _kinds(found) == (set() if zeroed else {("gradients add up", "fc.weight")}), found.findings
    assert all(each.iteration == 1 and each.certainty is Certainty.PROVEN for each in found.errors)


@pytest.mark.parametrize("rows", [20, 200])
def test_the_rows_of_a_bag_are_counted(rows: int) -> None:
    run, rng = Made(), np.random.default_rng(rows)
    table = rng.normal(size=(rows, 4)).astype(np.float32)
    for run.step in range(3):
        ids = rng.permutation(20).astype(np.int64)
        run.op(
            "Default/t-EmbeddingBag/_embedding_bag-op0", "_embedding_bag", [table, ids, np.arange(0, 20, 5)],
            [table[ids].reshape(4, 5, 4).mean(1)],
        )  # fmt: skip
        run.parameter("t.weight", table)
    found = {each.kind for each in inspect(run.capture(), ["embedding"]).notes}
    assert found == ({"rows never read"} if rows == 200 else set())


@pytest.mark.parametrize("row", [4, 5, -6])
def test_a_row_beyond_a_table_is_told_whatever_its_width(row: int) -> None:
    run = Made()
    table = np.ones((5, 30), np.float32)
    run.op("Default/tok-Embedding/embedding-op0", "embedding", [table, np.array([0, row, 2])], [])
    found = [each.kind for each in inspect(run.capture(), ["embedding"]).errors]
    assert found == ([] if row == 4 else ["index outside of the embedding"])


@pytest.mark.parametrize(("leap", "kinds"), [(200.0, ["update too large"]), (0.5, [])])
def test_one_step_that_throws_a_weight_far_out_is_told_with_its_step(leap: float, kinds: list[str]) -> None:
    run, rng = Made(), np.random.default_rng(int(leap))
    weight = (rng.normal(size=(5, 3)) / 3).astype(np.float32)
    for run.step in range(8):
        x, back = (rng.normal(size=(6, size)).astype(np.float32) for size in (5, 3))
        run.op("Default/fc-Dense/MatMul-op0", "MatMul", [x, weight], [x @ weight])
        run.op("Gradients/Default/fc-Dense/MatMul-op0", "MatMul", [x.T.copy(), back], [x.T @ back])
        part = leap if run.step == 3 else 0.01
        weight = (weight + part * np.abs(weight).mean() * rng.normal(size=weight.shape)).astype(np.float32)
        run.parameter("fc.weight", weight)
    found = inspect(run.capture(), ["update-ratio"]).errors
    assert [each.kind for each in found] == kinds
    assert all((each.iteration, each.operator) == (3, "fc.weight") for each in found)


def _late(losses: list[float]) -> Report:
    """A ReLU that gives 0 in the last four steps of a training with these losses."""
    run, rng = Made(), np.random.default_rng(len(losses))
    weight = rng.normal(size=(5, 1)).astype(np.float32)
    for run.step, loss in enumerate(losses):
        x = np.abs(rng.normal(size=(6, 5))).astype(np.float32)
        alive = run.step < len(losses) - 4
        h = run.op("Default/relu-op0", "relu", [x if alive else -x], [x if alive else np.zeros_like(x)])
        y = run.op("Default/fc-Dense/MatMul-op0", "MatMul", [h, weight], [h @ weight])
        run.op("Default/mse_loss-op0", "mse_loss", [y, x[:, :1].copy()], [np.float32(loss)])
        run.op("Gradients/Default/fc-Dense/MatMul-op0", "MatMul", [h, y], [h.T @ y])
        weight = weight * np.float32(0.9)
        run.parameter("fc.weight", weight)
    return inspect(run.capture(), ["dead-units"])


def test_a_layer_that_ends_at_zeros_is_an_error_where_the_loss_suffers() -> None:
    fell = [3.0, 2.5, 2.0, 1.6, 1.4, 1.3, 1.25, 1.2, 1.2, 1.2]
    assert [each.kind for each in _late(fell).notes] == ["dead units"]
    assert [each.kind for each in _late([*fell[:6], 2.9, 2.9, 2.9, 2.9]).errors] == ["dead units"]


def test_what_an_operator_was_given_that_failed_is_kept_apart_and_told() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(5, 3)

        def construct(self, ids: Any) -> Any:
            return self.table(ids)

    def program(rows: list[int]) -> None:
        net = Net()
        net(Tensor(np.array([0, 4], np.int32)))
        net(Tensor(np.array(rows, np.int32)))

    with graph_mode(), get("cpu").open(network="Net") as process:
        with pytest.raises(Exception, match="index lies outside"):
            process.execute(lambda: program([1, 7]))
        capture = process.capture()
    with graph_mode():
        whole = get("cpu").run(lambda: program([1, 2]), network="Net")
    names = {record.key.operator for record in capture.failed}
    assert len(names) == 1
    assert "Gather" in names.pop()
    assert not whole.failed
    assert {r.key.iteration for r in capture.failed} == {1}
    report = inspect(capture)
    assert [(each.kind, each.iteration) for each in report.errors] == [("index outside of the embedding", 1)]
    assert any("it failed, or the run was stopped" in line for line in report.untold)
