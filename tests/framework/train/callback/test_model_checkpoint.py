"""``ModelCheckpoint`` and ``CheckpointConfig``: which files are there after a training."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import context, nn
from harness.framework.runtime import session
from harness.framework.train import CheckpointConfig, LossMonitor, ModelCheckpoint, load_checkpoint, load_param_into_net
from harness.graph import pb
from tests.framework.train.model.test_train import Notes
from tests.framework.train.reference import dataset, model


@pytest.fixture(autouse=True)
def _graph_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    with session.fresh(hooked=False):
        yield
    context.set_context(mode=before)


def left(config: CheckpointConfig | None = None, epochs: int = 2, **more: Any) -> list[str]:
    """Names of checkpoints after a training of so many epochs of three steps, less their common part."""
    model().train(epochs, dataset(), ModelCheckpoint("P", "out", config, **more))
    return sorted(name for name in os.listdir("out") if not name.endswith(".meta"))


CASES = {
    "steps 1": ({}, "1_2 1_3 2_1 2_2 2_3"),
    "steps 2": ({"save_checkpoint_steps": 2}, "1_2 2_1 2_3"),
    "steps 4": ({"save_checkpoint_steps": 4}, "2_1 2_3"),
    "steps 100": ({"save_checkpoint_steps": 100}, "2_3"),
    "keep 2": ({"keep_checkpoint_max": 2}, "2_2 2_3"),
    "never": ({"save_checkpoint_steps": 0, "save_checkpoint_seconds": 0}, ""),
    "seconds": ({"save_checkpoint_steps": None, "save_checkpoint_seconds": 100}, "2_3"),
    "minutes": ({"keep_checkpoint_max": 0, "keep_checkpoint_per_n_minutes": 1}, "1_1 2_3"),
    "keep nothing else": ({"keep_checkpoint_max": 0, "keep_checkpoint_per_n_minutes": 0}, "2_3"),
}


@pytest.mark.parametrize("case", CASES)
def test_which_files_are_left(case: str) -> None:
    settings, wanted = CASES[case]
    assert left(CheckpointConfig(**settings)) == [f"P-{each}.ckpt" for each in wanted.split()]


def test_modes_of_what_is_made() -> None:
    left()
    assert Path("out").stat().st_mode & 0o777 == 0o700
    assert {path.suffix: path.stat().st_mode & 0o777 for path in Path("out").iterdir()} == {
        ".ckpt": 0o400,
        ".meta": 0o600,
    }


def test_the_graph_is_saved_in_graph_mode_only() -> None:
    left()
    graph = pb.read(Path("out/P-graph.meta").read_bytes()).graph
    assert any("Momentum" in node.op_type for node in graph.node)
    context.set_context(mode=context.PYNATIVE_MODE)
    model().train(1, dataset(), ModelCheckpoint("Q", "py"))
    assert not list(Path("py").glob("*.meta"))


def test_a_taken_prefix_gets_a_number() -> None:
    for wanted in ("P", "P_1", "P_2"):
        callback = ModelCheckpoint("P", "out", CheckpointConfig(save_checkpoint_steps=100))
        model().train(1, dataset(), callback)
        assert callback.latest_ckpt_file_name == str(Path("out").resolve() / f"{wanted}-1_3.ckpt")
    # A name that only starts alike is another one.
    assert ModelCheckpoint("PX", "out")._prefix == "PX"


def test_the_oldest_is_removed() -> None:
    os.mkdir("out")
    callback = ModelCheckpoint("P", "out", CheckpointConfig(keep_checkpoint_max=2))
    for at, name in enumerate(("P-9_9.ckpt", "P-8_8.ckpt", "P-x.ckpt", "Q-1_1.ckpt")):
        Path("out", name).touch()
        os.utime(Path("out", name), (at + 1, at + 1))
    model().train(1, dataset(batch=12), callback)
    assert sorted(os.listdir("out")) == ["P-1_1.ckpt", "P-8_8.ckpt", "P-graph.meta", "P-x.ckpt", "Q-1_1.ckpt"]


def test_an_instance_goes_on_counting() -> None:
    callback = ModelCheckpoint("P", "out", CheckpointConfig(keep_checkpoint_max=20))
    one = model()
    one.train(2, dataset(), callback)
    for path in Path("out").glob("*.ckpt"):
        path.unlink()
    rows = dataset()
    rows.__model_hash__ = hash(one)
    one.train(3, rows, callback)
    assert sorted(path.stem for path in Path("out").glob("*.ckpt")) == ["P-3_1", "P-3_2", "P-3_3"]


def test_what_is_saved_beside_the_parameters() -> None:
    more = ["epoch_num", "step_num", {"rate": 0.5, "name": "x"}]
    left(CheckpointConfig(save_checkpoint_steps=100, append_info=more))
    found = load_checkpoint("out/P-2_3.ckpt")
    names = ["weight", "bias", "global_step", "learning_rate", "momentum", "moments.weight", "moments.bias"]
    assert list(found) == [*names, "epoch_num", "step_num", "rate", "name"]
    assert (found["epoch_num"].asnumpy(), found["step_num"].asnumpy(), found["name"]) == (2, 6, "x")


def test_another_network_or_format() -> None:
    net = nn.Dense(2, 2)
    left(CheckpointConfig(save_checkpoint_steps=100, saved_network=net, format="safetensors"))
    assert set(load_checkpoint("out/P-2_3.safetensors", format="safetensors")) == {"weight", "bias"}


def test_functions_name_the_file_and_the_directory() -> None:
    callback = ModelCheckpoint(lambda run: f"s{run.cur_step_num}", lambda run: f"e{run.cur_epoch_num}",
                               CheckpointConfig(save_checkpoint_steps=2, keep_checkpoint_max=1))  # fmt: skip
    model().train(2, dataset(), callback)
    assert [sorted(path.stem for path in Path(name).glob("*.ckpt")) for name in ("e1", "e2")] == [["s2"], ["s4", "s6"]]
    with pytest.raises(ValueError, match="prefix"):
        model().train(1, dataset(), ModelCheckpoint(lambda run: "a/b", "out"))


def test_an_exception_saves_where_it_was() -> None:
    def fail(_: Any) -> None:
        raise KeyboardInterrupt

    for prefix in ("P", "P_1"):
        callback = ModelCheckpoint("P", "out", CheckpointConfig(save_checkpoint_steps=100, exception_save=True,
                                                                append_info=["step_num"]))  # fmt: skip
        with pytest.raises(KeyboardInterrupt):
            model().train(2, dataset(), [callback, Notes(acts={("step_end", 5): fail})])
        assert load_checkpoint(f"out/{prefix}-2_2_breakpoint.ckpt")["step_num"].asnumpy() == 2


def test_order_decides_whether_a_bad_step_is_saved() -> None:
    def spoil(run_context: Any) -> None:
        run_context.original_args().net_outputs = float("nan")

    for at, wanted in ((0, ["P-1_1.ckpt"]), (1, [])):
        callbacks: list[Any] = [Notes(acts={("step_end", 1): spoil}), LossMonitor()]
        callbacks.insert(1 + at, ModelCheckpoint("P", f"out{at}"))
        with pytest.raises(ValueError, match="NAN"):
            model().train(1, dataset(), callbacks)
        assert sorted(path.name for path in Path(f"out{at}").glob("*.ckpt")) == wanted


def test_seconds_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    acts = {("step_begin", at): lambda _: now.__setitem__(0, now[0] + 6) for at in range(1, 7)}
    config = CheckpointConfig(save_checkpoint_steps=0, save_checkpoint_seconds=11, keep_checkpoint_max=9)
    model().train(2, dataset(), [Notes(acts=acts), ModelCheckpoint("P", "out", config)])
    assert sorted(path.stem for path in Path("out").glob("*.ckpt")) == ["P-1_2", "P-2_1", "P-2_3"]


def test_an_evaluation_has_nothing_to_save() -> None:
    with pytest.raises(KeyError, match="train_network"):
        model({"loss"}).eval(dataset(), callbacks=ModelCheckpoint("P", "out"))


def test_a_training_goes_on_from_a_checkpoint_to_the_same_bits() -> None:
    whole = model()
    whole.train(4, dataset())
    first = model()
    first.train(2, dataset(), ModelCheckpoint("P", "out", CheckpointConfig(save_checkpoint_steps=100)))
    second = model()
    assert load_param_into_net(second.train_network, load_checkpoint("out/P-2_3.ckpt")) == ([], [])
    second.train(4, dataset(), initial_epoch=2)
    for one, other in zip(whole.train_network.get_parameters(), second.train_network.get_parameters(), strict=True):
        assert one.name == other.name
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


REFUSED = {
    "prefix": (lambda: ModelCheckpoint("a/b"), ValueError), "prefix must": (lambda: ModelCheckpoint(3), ValueError),
    "directory must be": (lambda: ModelCheckpoint("P", 3), TypeError),
    "directory must not": (lambda: ModelCheckpoint("P", " "), ValueError),
    "config": (lambda: ModelCheckpoint("P", "out", {}), TypeError),
    "save_checkpoint_steps": (lambda: CheckpointConfig(save_checkpoint_steps=-1), ValueError),
    "save_checkpoint_seconds": (lambda: CheckpointConfig(save_checkpoint_seconds="1"), TypeError),
    "keep_checkpoint_max": (lambda: CheckpointConfig(keep_checkpoint_max=True), TypeError),
    "above 0": (lambda: CheckpointConfig(0, 0, 0, None), ValueError),
    "saved_network": (lambda: CheckpointConfig(saved_network=3), TypeError),
    "append_info must be a list": (lambda: CheckpointConfig(append_info={}), TypeError),
    "append_info must be one of": (lambda: CheckpointConfig(append_info=["x"]), ValueError),
    "append_info must hold": (lambda: CheckpointConfig(append_info=[3]), TypeError),
    "one dict": (lambda: CheckpointConfig(append_info=[{}, {}]), TypeError),
    "by name": (lambda: CheckpointConfig(append_info=[{"a": []}]), TypeError),
    "async_save": (lambda: CheckpointConfig(async_save="x"), ValueError),
    "safetensors": (lambda: CheckpointConfig(format="safetensors", crc_check=True), ValueError),
    "format must be str": (lambda: CheckpointConfig(format=3), TypeError),
    "exception_save": (lambda: CheckpointConfig(exception_save=1), TypeError),
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_refusals(words: str) -> None:
    call, error = REFUSED[words]
    with pytest.raises(error, match=words):
        call()


def test_what_is_only_found_when_something_is_saved() -> None:
    with pytest.raises(ValueError, match="format"):
        model().train(1, dataset(), ModelCheckpoint("P", "out", CheckpointConfig(format="zip")))
    with pytest.raises(TypeError, match="remove_redundancy"):
        model().train(1, dataset(), ModelCheckpoint("P", "out", CheckpointConfig(remove_redundancy=True)))
