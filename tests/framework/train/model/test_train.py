"""``Model.train``: what hooks see, where a training stops, what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from harness import nn
from harness.framework.tensor import Tensor
from harness.framework.train import Callback, History, LossMonitor, Model, RunContext
from tests.framework.train import reference
from tests.framework.train.reference import FACTS, dataset, model

HOOKS = ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")


class Notes(Callback):
    """Notes hooks, and does what it is told at some of them: ``acts[hook, call]`` is called with the context."""

    def __init__(self, name: str = "", trace: list[Any] | None = None, acts: dict[Any, Any] | None = None) -> None:
        self.name, self.trace, self.acts = name, [] if trace is None else trace, acts or {}
        self.calls: dict[str, int] = {}

    def _note(self, hook: str, context: RunContext) -> None:
        args = context.original_args()
        output = args.get("net_outputs")
        self.trace.append((
            self.name + hook, args.get("cur_epoch_num"), args.cur_step_num,
            None if output is None else round(float(np.mean(output.asnumpy())), 5),
        ))  # fmt: skip
        self.calls[hook] = self.calls.get(hook, 0) + 1
        self.acts.get((hook, self.calls[hook]), lambda _: None)(context)

    def __enter__(self) -> Notes:
        self.trace.append(self.name + "enter")
        return self

    def __exit__(self, *error: Any) -> Any:
        self.trace.append((self.name + "exit", error[0]))
        return self.acts.get("swallow")


for _hook in HOOKS:
    setattr(Notes, f"on_train_{_hook}", lambda self, context, _hook=_hook: self._note(_hook, context))

LOSSES = [round(value, 5) for value in FACTS["ms_losses_epoch1_2"]]


def test_two_epochs_of_three_steps_are_the_recorded_trace() -> None:
    notes = Notes()
    assert model().train(2, dataset(), notes) is None
    wanted: list[Any] = ["enter", ("begin", None, 0, None)]
    step, last = 0, None
    for epoch in (1, 2):
        wanted.append(("epoch_begin", epoch, step, last))
        for _ in range(3):
            step += 1
            wanted.append(("step_begin", epoch, step, last))
            last = LOSSES[step - 1]
            wanted.append(("step_end", epoch, step, last))
        wanted.append(("epoch_end", epoch, step, last))
    assert notes.trace == [*wanted, ("end", 2, 6, last), ("exit", None)]


def test_losses_are_the_recorded_ones() -> None:
    losses: list[float] = []
    keep = Notes(acts={("step_end", at): lambda c: losses.append(c.original_args().net_outputs.asnumpy().item())
                       for at in range(1, 7)})  # fmt: skip
    model().train(2, dataset(), keep)
    assert losses == pytest.approx(FACTS["ms_losses_epoch1_2"], abs=4e-7)


def test_arguments_at_begin_in_their_order(mode: str) -> None:
    seen: list[Any] = []
    trained = model()
    given = Notes(acts={("begin", 1): lambda c: seen.append(dict(c.original_args())),
                        ("step_end", 1): lambda c: seen.append(dict(c.original_args()))})  # fmt: skip
    trained.train(2, dataset(), [given])
    begin, step = seen
    assert list(begin) == [
        "cur_step_num", "train_network", "epoch_num", "batch_num", "mode", "loss_fn", "optimizer", "parallel_mode",
        "device_number", "train_dataset", "list_callback", "train_dataset_element", "network", "last_save_ckpt_step",
        "latest_ckpt_file", "loss_scale_mananger", "initial_step", "dataset_sink_mode",
    ]  # fmt: skip
    assert (begin["epoch_num"], begin["batch_num"], begin["parallel_mode"]) == (2, 3, "stand_alone")
    assert isinstance(begin["train_network"], nn.TrainOneStepCell)
    assert isinstance(begin["network"], nn.Dense)
    assert [type(each).__name__ for each in begin["list_callback"]][-2:] == ["_FrameworkProfilerCallback", "Notes"]
    assert len(begin["list_callback"]) == (2 if mode == "graph" else 3)
    assert list(step)[-2:] == ["cur_epoch_num", "net_outputs"]
    assert isinstance(step["train_dataset_element"], list)
    assert step["net_outputs"].shape == ()


def test_initial_epoch_counts_on() -> None:
    notes = Notes()
    model().train(3, dataset(), notes, initial_epoch=1)
    epochs = [entry[1] for entry in notes.trace if entry[0] == "epoch_begin"]
    steps = [entry[2] for entry in notes.trace if entry[0] == "step_end"]
    assert (epochs, steps) == ([2, 3], [1, 2, 3, 4, 5, 6])


def test_a_missing_argument_is_a_key_error_and_attributes_are_items() -> None:
    def look(context: RunContext) -> None:
        args = context.original_args()
        with pytest.raises(KeyError):
            args.nothing  # noqa: B018
        with pytest.raises(KeyError):
            hasattr(args, "nothing")
        args.own = 3
        assert (args["own"], args.get("other"), context.original_args() is args) == (3, None, True)

    later: list[int] = []
    model().train(1, dataset(), [Notes(acts={("begin", 1): look}),
                                 Notes(acts={("end", 1): lambda c: later.append(c.original_args().own)})])  # fmt: skip
    assert later == [3]


def test_what_a_hook_sets_stays() -> None:
    notes = Notes(acts={("step_end", 1): lambda c: c.original_args().update(cur_step_num=100)})
    model().train(1, dataset(), notes)
    assert [entry[2] for entry in notes.trace if entry[0] == "step_begin"] == [1, 101, 102]


STOPS = {
    ("begin", 1): (1, 1), ("epoch_begin", 1): (1, 1), ("epoch_begin", 2): (4, 2), ("step_begin", 2): (2, 1),
    ("step_end", 2): (2, 1), ("epoch_end", 1): (3, 1), ("end", 1): (9, 3),
}  # fmt: skip


@pytest.mark.parametrize("where", STOPS)
def test_a_stop_is_seen_after_step_end_and_epoch_end(where: Any) -> None:
    steps, epochs = STOPS[where]
    notes, other = Notes(acts={where: RunContext.request_stop}), Notes()
    assert model().train(3, dataset(), [notes, other]) is None
    for each in (notes, other):
        assert (each.calls["step_end"], each.calls["epoch_end"], each.calls["end"]) == (steps, epochs, 1)


@pytest.mark.parametrize("error", [ValueError("why"), KeyboardInterrupt(), LookupError("a\nb")])
@pytest.mark.parametrize("hook", HOOKS)
def test_an_error_in_a_hook_goes_through(hook: str, error: BaseException) -> None:
    def fail(_: RunContext) -> None:
        raise error

    trace: list[Any] = []
    first, second, third = Notes("1", trace), Notes("2", trace, {(hook, 1): fail}), Notes("3", trace)
    with pytest.raises(type(error)) as raised:
        model().train(1, dataset(), [first, second, third])
    assert raised.value is error
    assert trace[-3:] == [(f"{name}exit", type(error)) for name in "321"]
    assert hook not in third.calls
    assert hook == "end" or "end" not in first.calls


def test_a_true_exit_swallows_the_error() -> None:
    def fail(_: RunContext) -> None:
        raise ValueError

    trace: list[Any] = []
    callbacks = [Notes("1", trace), Notes("2", trace, {"swallow": True}), Notes("3", trace, {("step_end", 1): fail})]
    assert model().train(1, dataset(), callbacks) is None
    assert trace[-3:] == [("3exit", ValueError), ("2exit", ValueError), ("1exit", None)]


def test_callbacks_run_in_order_once_for_each_place() -> None:
    trace: list[Any] = []
    one, two = Notes("1", trace), Notes("2", trace)
    given = [one, two, one]
    model().train(1, dataset(), given)
    assert [each for each in trace if isinstance(each, str)] == ["1enter", "2enter", "1enter"]
    assert [entry[0] for entry in trace if entry[0] in ("1begin", "2begin")] == ["1begin", "2begin", "1begin"]
    assert [entry[0] for entry in trace if entry[0][1:] == "exit"] == ["1exit", "2exit", "1exit"]
    assert given == [one, two, one]


def test_enter_may_give_another_callback() -> None:
    trace: list[Any] = []

    class Other(Notes):
        def __enter__(self) -> Any:
            return Notes("new ", trace)

    class Odd(Notes):
        def __enter__(self) -> Any:
            return 5

    model().train(1, dataset(), [Other("old ", trace), Odd("odd ", trace)])
    names = {entry[0] for entry in trace}
    assert {"new begin", "old exit", "odd begin", "odd exit"} <= names
    assert not names & {"old begin", "new exit"}


@pytest.mark.parametrize("make", [list, tuple, set, iter, lambda each: (one for one in each)])
def test_callbacks_may_be_any_iterable(make: Any) -> None:
    notes = Notes()
    model().train(1, dataset(), make([notes]))
    assert notes.calls["end"] == 1


@pytest.mark.parametrize("wrong", [[None], [3], [LossMonitor], [[LossMonitor()]], 5])
def test_other_callbacks_are_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="Callback"):
        model().train(1, dataset(), wrong)


@pytest.mark.parametrize(("wrong", "error"), [
    ({"epoch": 0}, ValueError), ({"epoch": -1}, ValueError), ({"epoch": 1.0}, TypeError), ({"epoch": "1"}, TypeError),
    ({"epoch": None}, TypeError), ({"epoch": True}, TypeError), ({"dataset_sink_mode": 1}, TypeError),
    ({"sink_size": 0}, ValueError), ({"sink_size": -2}, ValueError), ({"sink_size": 1.5}, TypeError),
    ({"initial_epoch": 1}, ValueError), ({"initial_epoch": -1}, ValueError),
])  # fmt: skip
@pytest.mark.parametrize("method", ["train", "fit"])
def test_arguments_that_are_refused(method: str, wrong: dict[str, Any], error: type[Exception]) -> None:
    notes = Notes()
    with pytest.raises(error, match=next(iter(wrong))):
        getattr(model(), method)(**{"epoch": 1, "train_dataset": dataset(), "callbacks": notes, **wrong})
    assert notes.trace == []


def test_datasets_that_are_refused() -> None:
    notes = Notes()
    with pytest.raises(ValueError, match="empty"):
        model().train(1, dataset(rows=0), notes)
    with pytest.raises(AttributeError, match="get_dataset_size"):
        model().train(1, [(1, 2)], notes)
    assert notes.trace == []
    with pytest.raises(ValueError, match="got 1 columns"):
        model().train(1, dataset().project("data"), notes)
    used = dataset()
    model().train(1, used)
    with pytest.raises(RuntimeError, match="another model"):
        model().train(1, used)


def test_a_dataset_of_ones_own() -> None:
    class Rows:
        __slots__ = ()

        def get_dataset_size(self) -> int:
            return 3

        def create_dict_iterator(self, num_epochs: int = -1) -> Any:
            yield from dataset().create_dict_iterator(num_epochs=1, output_numpy=True)

    notes = Notes()
    model().train(2, Rows(), notes)
    assert [entry[3] for entry in notes.trace if entry[0] == "step_end"] == LOSSES


def test_a_sink_changes_the_batch_number_only() -> None:
    notes, seen = Notes(), []
    notes.acts[("step_end", 1)] = lambda c: seen.append(
        (c.original_args().batch_num, c.original_args().dataset_sink_mode)
    )
    model().train(2, dataset(), notes, dataset_sink_mode=True, sink_size=2)
    assert notes.calls["step_end"] == 6
    assert seen == [(2, False)]


def test_models_without_loss_or_optimizer_and_what_they_refuse() -> None:
    net = reference.network()
    with pytest.raises(TypeError, match="network must be a Cell"):
        Model(3)
    with pytest.raises(ValueError, match="loss_fn"):
        Model(net, metrics={"accuracy"})
    for wrong, error in (["accuracy"], TypeError), ("accuracy", TypeError), ({"a": 3}, TypeError), ({"no"}, KeyError):
        with pytest.raises(error):
            Model(net, nn.MSELoss(), metrics=wrong)
    with pytest.raises(ValueError, match=r"level"):
        Model(net, amp_level="O9")
    with pytest.raises(ValueError, match="no_such"):
        Model(net, no_such=1)
    history = History()
    Model(net).train(1, dataset().project("data"), history)
    assert len(history.history["net_output"]) == 1


def test_predict_runs_the_network_as_it_is_evaluated() -> None:
    net = nn.SequentialCell(reference.network(), nn.Dropout(p=0.5))
    one = Model(net)
    x = Tensor(np.ones((2, 3), np.float32))
    assert np.array_equal(one.predict(x).asnumpy(), reference.network()(x).asnumpy())
    with pytest.raises(TypeError, match="input must be"):
        one.predict([1])
    with pytest.raises(ValueError, match="empty"):
        one.predict(Tensor(np.zeros((0, 3), np.float32)))


def test_a_loss_that_is_no_number_stops_the_training(capsys: pytest.CaptureFixture[str]) -> None:
    for bad in (math.nan, math.inf, -math.inf):
        for each in (1, 0):
            notes = Notes(acts={("step_end", 2): lambda c, bad=bad: c.original_args().update(net_outputs=Tensor(bad))})
            with pytest.raises(ValueError, match=r"epoch: 1 step: 2, loss is NAN or INF"):
                model().train(2, dataset(), [notes, LossMonitor(each)])
            assert "step: 2" not in capsys.readouterr().out
            assert "end" not in notes.calls
