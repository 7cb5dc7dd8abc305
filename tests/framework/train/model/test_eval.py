"""``Model.eval`` and ``Model.fit``: results, hooks, what callbacks see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness import log, nn
from harness.framework.train import Accuracy, Callback, EarlyStopping, History, LossMonitor, Model, TimeMonitor
from tests.framework.train import reference
from tests.framework.train.model.test_train import HOOKS
from tests.framework.train.reference import FACTS, dataset, model


class Notes(Callback):
    """Notes every hook, old and new, with the arguments it sees."""

    def __init__(self, acts: dict[str, Any] | None = None) -> None:
        self.trace: list[str] = []
        self.args: dict[str, dict[str, Any]] = {}
        self.acts = acts or {}


for _name in (f"on_{mode}_{hook}" for mode in ("train", "eval") for hook in HOOKS):

    def _hook(self: Notes, context: Any, name: str = _name) -> None:
        self.trace.append(name)
        self.args[name] = dict(context.original_args())
        self.acts.get(name, lambda _: None)(context)

    setattr(Notes, _name, _hook)


def test_results_are_the_recorded_ones_and_the_same_again() -> None:
    wanted = FACTS["ms_eval_initial"]
    one = model({"accuracy", "loss", "precision", "recall", "F1"})
    first, again = one.eval(dataset()), one.eval(dataset())
    assert first.keys() == {"accuracy", "loss", "precision", "recall", "F1"}
    for name, value in first.items():
        np.testing.assert_allclose(value, wanted[name.lower()], rtol=1e-6)
        np.testing.assert_array_equal(value, again[name])


def test_results_have_the_names_given() -> None:
    assert set(model({"mine": Accuracy(), "loss": nn.Loss()}).eval(dataset())) == {"mine", "loss"}


def test_hooks_and_arguments_of_an_evaluation() -> None:
    notes = Notes()
    model({"accuracy"}).eval(dataset(), callbacks=notes)
    steps = ["on_eval_step_begin", "on_eval_step_end"] * 3
    assert notes.trace == ["on_eval_begin", "on_eval_epoch_begin", *steps, "on_eval_epoch_end", "on_eval_end"]
    assert list(notes.args["on_eval_begin"]) == [
        "eval_network", "valid_dataset", "batch_num", "mode", "cur_step_num", "list_callback", "network",
        "dataset_sink_mode",
    ]  # fmt: skip
    assert notes.args["on_eval_begin"]["list_callback"] == [notes]
    assert "metrics" not in notes.args["on_eval_epoch_end"]
    assert notes.args["on_eval_end"]["metrics"].keys() == {"accuracy"}
    assert len(notes.args["on_eval_step_end"]["net_outputs"]) == 3


def test_a_stop_ends_the_evaluation_after_its_step() -> None:
    notes = Notes({"on_eval_step_begin": lambda c: c.request_stop()})
    found = model({"loss"}).eval(dataset(), callbacks=[notes])
    assert found["loss"] == pytest.approx(FACTS["ms_eval_initial"]["per_batch_loss"][0], abs=1e-6)
    assert notes.trace[-2:] == ["on_eval_epoch_end", "on_eval_end"]


def test_old_hooks_run_in_both_and_new_ones_win() -> None:
    class Old(Callback):
        def __init__(self) -> None:
            self.calls: list[str] = []

        def step_end(self, run_context: Any) -> None:
            self.calls.append(run_context.original_args().mode)

        def begin(self, run_context: Any) -> None:
            self.calls.append("never")

        def on_train_begin(self, run_context: Any) -> None:
            self.calls.append("new")

        def on_eval_begin(self, run_context: Any) -> None:
            super().on_eval_begin(run_context)

    old, one = Old(), model({"loss"})
    one.train(1, dataset(), old)
    assert old.calls == ["new", "train", "train", "train"]
    old.calls.clear()
    one.eval(dataset(), callbacks=old)
    assert old.calls == ["never", "eval", "eval", "eval"]
    with pytest.raises(ValueError, match="Old defines begin, step_end"):
        one.fit(1, dataset(), dataset(), callbacks=old)


def test_old_hooks_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    class Old(Callback):
        def end(self, run_context: Any) -> None:
            """Nothing."""

    class Heir(Old):
        """Inherits one."""

    log.get("train")
    model().train(1, dataset(), [Old(), Heir(), LossMonitor()])
    assert [record.message for record in caplog.records if "defines" in record.message] == [
        "Model.train: callback Old defines end; use on_train_... or on_eval_... instead"
    ]


@pytest.mark.parametrize("metrics", [None, {}])
def test_without_metrics_there_is_no_evaluation(metrics: Any) -> None:
    with pytest.raises(ValueError, match="metrics"):
        model(metrics).eval(dataset())
    with pytest.raises(ValueError, match="metrics"):
        model(metrics).fit(1, dataset(), dataset())


def test_an_evaluation_takes_a_list_only() -> None:
    with pytest.raises(TypeError, match="list"):
        model({"loss"}).eval(dataset(), callbacks=(LossMonitor(),))


def test_fit_evaluates_between_epochs(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[Any] = []

    class Ends(Callback):
        def on_train_epoch_end(self, run_context: Any) -> None:
            args = run_context.original_args()
            seen.append((args.mode, args.cur_step_num, args.batch_num, args.get("metrics"), args.get("eval_results")))

    notes, history = Notes(), History()
    model({"loss"}).fit(3, dataset(), dataset(2), 2, [Ends(), notes, history, LossMonitor(0), TimeMonitor()])
    assert [entry[:3] for entry in seen] == [("train", 3, 3), ("train", 6, 3), ("train", 9, 3)]
    assert [None if entry[3] is None else set(entry[4]) for entry in seen] == [None, {"loss", "eval_loss"}, None]
    assert notes.trace.count("on_eval_step_end") == 6
    assert notes.trace[notes.trace.index("on_eval_end") + 1] == "on_train_epoch_end"
    assert (history.epoch, len(history.history["loss"])) == ({"epoch": [1, 2, 3]}, 1)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if "time" in line] == ["Train", "Eval", "Train", "Train"]
    assert [line[:32] for line in lines if "metrics" in line] == ["Eval result: epoch 2, metrics: {"]


def test_eval_loss_is_that_of_the_last_batch() -> None:
    found: list[Any] = []

    class Ends(Callback):
        def on_train_epoch_end(self, run_context: Any) -> None:
            found.append(run_context.original_args().eval_results["eval_loss"])

    one = model({"loss"})
    one.fit(1, dataset(), dataset(), callbacks=Ends())
    last = one.eval_network(*list(dataset())[-1])[0]
    assert found == [pytest.approx(float(last.asnumpy()), rel=1e-6)]


def test_fit_at_the_epochs_of_a_list() -> None:
    notes = Notes()
    model({"loss"}).fit(3, dataset(), dataset(), [1, 3], notes)
    assert notes.trace.count("on_eval_begin") == 2
    with pytest.raises(TypeError, match="valid_frequency"):
        model({"loss"}).fit(1, dataset(), dataset(), "1")


def test_an_eval_network_of_ones_own() -> None:
    class Three(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.net = reference.network()

        def construct(self, data: Any, label: Any) -> Any:
            return label, self.net(data), data

    given = Model(reference.network(), metrics={"accuracy": Accuracy()}, eval_network=Three(), eval_indexes=[2, 1, 0])
    assert given.eval(dataset())["accuracy"] == FACTS["ms_eval_initial"]["accuracy"]
    with pytest.raises(ValueError, match="eval_indexes"):
        Model(reference.network(), metrics={"loss"}, eval_network=Three(), eval_indexes=[1])


def test_early_stopping_watches_what_fit_found(capsys: pytest.CaptureFixture[str]) -> None:
    history = History()
    stop = EarlyStopping(verbose=True, restore_best_weights=True)
    model({"loss"}).fit(4, dataset(), dataset(), callbacks=[history, stop])
    # It waits before it judges: with no patience an epoch is enough, if it is not an improvement.
    assert history.epoch == {"epoch": [1, 2, 3, 4][: stop.stopped_epoch or 4]}
    assert ("early stopping" in capsys.readouterr().out) == (stop.stopped_epoch > 0)
