"""Callbacks that come with the harness, one by one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from harness import nn
from harness.framework.tensor import Tensor
from harness.framework.train import (
    Callback,
    EarlyStopping,
    LambdaCallback,
    LearningRateScheduler,
    LossMonitor,
    ReduceLROnPlateau,
    RunContext,
    TimeMonitor,
)
from harness.framework.train.callback.base import InternalCallbackParam
from tests.framework.train.reference import FACTS, dataset, model


def printed(callback: Callback, capsys: pytest.CaptureFixture[str], epochs: int = 2, **more: Any) -> list[str]:
    model().train(epochs, dataset(), callback, **more)
    return capsys.readouterr().out.splitlines()


def run(**args: Any) -> RunContext:
    return RunContext(InternalCallbackParam(**args))


def test_a_context_takes_a_dict_and_stops_once_asked() -> None:
    with pytest.raises(TypeError, match="dict"):
        RunContext([])  # type: ignore[arg-type]
    context = run()
    assert context.get_stop_requested() is False
    context.request_stop()
    context.request_stop()
    assert context.get_stop_requested() is True


def test_loss_lines(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(LossMonitor(), capsys)
    wanted = [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]
    for line, (epoch, step), loss in zip(lines, wanted, FACTS["ms_losses_epoch1_2"], strict=True):
        head, _, value = line.partition(" is ")
        assert head == f"epoch: {epoch} step: {step}, loss"
        assert float(value) == pytest.approx(loss, abs=4e-7)
        assert value == repr(float(np.float32(value)))


STEPS = {1: "111213212223", 2: "122123", 4: "21", 5: "22", 100: "", 0: ""}


@pytest.mark.parametrize("each", STEPS)
def test_loss_lines_come_every_so_many_steps(each: int, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(LossMonitor(each), capsys)
    assert "".join(re.sub(r"epoch: (\d) step: (\d).*", r"\1\2", line) for line in lines) == STEPS[each]


def test_a_monitor_starts_over_in_another_training(capsys: pytest.CaptureFixture[str]) -> None:
    monitor = LossMonitor(2)
    heads = [[line.partition(",")[0] for line in printed(monitor, capsys)] for _ in range(2)]
    assert heads[0] == heads[1] == ["epoch: 1 step: 2", "epoch: 2 step: 1", "epoch: 2 step: 3"]


@pytest.mark.parametrize(("wrong", "error"), [(-1, ValueError), (1.5, TypeError), ("1", TypeError), (True, TypeError),
                                              (None, TypeError)])  # fmt: skip
def test_what_a_loss_monitor_refuses(wrong: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="per_print_times"):
        LossMonitor(wrong)


@pytest.mark.parametrize(("output", "shown"), [
    (Tensor(np.float32([1, 2])), "1.5"), ((Tensor(np.float32(0.6801462)), 3), "0.6801462"), (0.25, "0.25"),
    (np.float64(0.5), str(np.float64(0.5))), (None, "None"), ((float("nan"),), "(nan,)"),
    (np.float32("nan"), "nan"), ([Tensor(np.float32("nan"))], "nan"),
])  # fmt: skip
def test_what_a_network_may_give(output: Any, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    LossMonitor().step_end(run(net_outputs=output, cur_step_num=1, batch_num=3, dataset_sink_mode=False))
    assert capsys.readouterr().out == f"epoch: 1 step: 1, loss is {shown}\n"


TIME = re.compile(
    r"(Train|Eval) epoch time: +\d+\.\d{3} ms, per step time: +\d+\.\d{3} ms( \(data time: +\d+\.\d{3} ms\))?"
)


@pytest.mark.parametrize("data_time", [False, True])
def test_time_lines(data_time: bool, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(TimeMonitor(data_time=data_time), capsys)
    assert len(lines) == 2
    for line in lines:
        found = TIME.fullmatch(line)
        assert found
        assert (found[2] is not None) == data_time
        spent, per_step = map(float, re.findall(r"\d+\.\d{3}", line)[:2])
        assert per_step == pytest.approx(spent / 3, abs=2e-3)


def test_time_falls_back_on_the_size_given(capsys: pytest.CaptureFixture[str]) -> None:
    for size, error in ((None, TypeError), (0, ValueError)):
        with pytest.raises(error, match="data_size"):
            TimeMonitor(size).epoch_end(run(mode="train"))
    TimeMonitor(2).epoch_end(run(mode="eval", batch_num="3"))
    assert TIME.fullmatch(capsys.readouterr().out.strip())
    with pytest.raises(TypeError, match="data_time"):
        TimeMonitor(data_time=1)  # type: ignore[arg-type]


def test_functions_as_hooks() -> None:
    calls: list[str] = []
    model().train(1, dataset(), LambdaCallback(on_train_begin=lambda _: calls.append("begin"),
                                               on_train_step_end=lambda _: calls.append("step")))  # fmt: skip
    assert calls == ["begin", "step", "step", "step"]


def test_the_rate_follows_a_function() -> None:
    asked: list[Any] = []

    def rate(before: float, step: int) -> float:
        asked.append((before, step))
        return before / 2

    one = model()
    one.train(1, dataset(), LearningRateScheduler(rate))
    assert asked == [(0.1, 1), (0.05, 2), (0.025, 3)]
    assert one._optimizer.learning_rate.asnumpy() == np.float32(0.0125)


def epochs(callback: Any, values: list[Any], optimizer: Any = None) -> list[bool]:
    """Whether the callback asks to stop after each epoch in which ``score`` has these values."""
    network = nn.Dense(2, 1)
    begin = run(optimizer=optimizer)
    callback.on_train_begin(begin)
    asked = []
    for at, value in enumerate(values, 1):
        context = run(cur_epoch_num=at, train_network=network, net_outputs=Tensor(np.float32(1)), optimizer=optimizer)
        if value is not None:
            context.original_args().eval_results = {"score": value}
        callback.on_train_epoch_end(context)
        asked.append(context.get_stop_requested())
    callback.on_train_end(begin)
    return asked


def test_early_stopping_waits_before_it_judges(capsys: pytest.CaptureFixture[str]) -> None:
    assert epochs(EarlyStopping("score", verbose=True), [1.0]) == [True]
    assert capsys.readouterr().out == "Epoch 00001: early stopping\n"
    assert epochs(EarlyStopping("score", patience=2), [1.0, 2.0, 1.5, 1.9]) == [False, False, False, True]
    assert epochs(EarlyStopping("score", patience=2, mode="min"), [1.0, 2.0, 1.5]) == [False, False, True]
    assert epochs(EarlyStopping("score", patience=1, min_delta=0.5), [1.0, 1.4]) == [False, True]
    # Nothing to judge by, and a value of exactly 0, change nothing.
    assert epochs(EarlyStopping("score"), [None, 0.0]) == [False, False]


def test_early_stopping_puts_back_the_best_weights() -> None:
    stop = EarlyStopping("score", patience=1, restore_best_weights=True)
    network = nn.Dense(2, 1)
    for at, value in enumerate([1.0, 0.5], 1):
        network.weight.set_data(Tensor(np.full((1, 2), at, np.float32)))
        context = run(cur_epoch_num=at, train_network=network, eval_results={"score": value})
        stop.on_train_epoch_end(context)
    assert context.get_stop_requested()
    assert network.weight.asnumpy().tolist() == [[1, 1]]


def test_the_rate_falls_where_nothing_gets_better(capsys: pytest.CaptureFixture[str]) -> None:
    def optimizer() -> Any:
        return nn.SGD(nn.Dense(2, 1).trainable_params(), 0.1)

    falls = optimizer()
    epochs(ReduceLROnPlateau("score", 0.5, patience=1, verbose=True, mode="max"), [1.0, 1.0, 1.0], falls)
    assert falls.learning_rate.asnumpy() == pytest.approx(0.025)
    assert capsys.readouterr().out.splitlines() == [
        "Epoch 00002: ReduceLROnPlateau reducing learning rate to 0.05.",
        "Epoch 00003: ReduceLROnPlateau reducing learning rate to 0.025.",
    ]
    low = optimizer()
    epochs(ReduceLROnPlateau("score", 0.5, patience=1, mode="max", min_lr=0.06, cooldown=1), [1.0, 1.0, 1.0], low)
    assert low.learning_rate.asnumpy() == pytest.approx(0.06)
    with pytest.raises(ValueError, match="learning rate must be one number"):
        epochs(ReduceLROnPlateau("score"), [1.0], nn.SGD(nn.Dense(2, 1).trainable_params(), [0.1, 0.2]))


@pytest.mark.parametrize(("kind", "wrong", "error"), [
    (EarlyStopping, {"mode": "up"}, ValueError), (EarlyStopping, {"monitor": 3}, TypeError),
    (EarlyStopping, {"patience": -1}, ValueError), (EarlyStopping, {"verbose": 1}, TypeError),
    (EarlyStopping, {"min_delta": "1"}, TypeError), (ReduceLROnPlateau, {"factor": 1.0}, ValueError),
    (ReduceLROnPlateau, {"factor": 0.0}, ValueError), (ReduceLROnPlateau, {"cooldown": -1}, ValueError),
])  # fmt: skip
def test_what_watching_callbacks_refuse(kind: Any, wrong: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(wrong))):
        kind(**wrong)


def test_an_array_cannot_be_watched() -> None:
    with pytest.raises(ValueError, match="one number"):
        epochs(EarlyStopping("score"), [np.ones(2)])
