"""``SummaryCollector``: which files and records a training leaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import context
from harness.framework.runtime import session
from harness.framework.train import SummaryCollector, load_checkpoint
from harness.framework.train.summary.messages import EVENTS, LINEAGE
from harness.framework.train.summary.records import read
from harness.graph import pb
from tests.framework.train.reference import FACTS, dataset, model


@pytest.fixture(autouse=True)
def _graph_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    with session.fresh(hooked=False):
        yield
    context.set_context(mode=before)


def records(kind: str, folder: str = "s") -> list[Any]:
    (path,) = Path(folder).glob(f"events.out.events.summary.*_{kind}")
    message = EVENTS["Event"] if kind == "MS" else LINEAGE["LineageEvent"]
    return [message.FromString(each) for each in read(path.read_bytes(), str(path))]


@pytest.mark.parametrize(("freq", "steps"), [(1, [1, 2, 3, 3, 4, 5, 6, 6]), (2, [1, 2, 4, 6, 6]), (10, [1])])
def test_when_is_collected(freq: int, steps: list[int]) -> None:
    model().train(2, dataset(), SummaryCollector("s", collect_freq=freq))
    version, graph, *values = records("MS")
    assert version.version == "MindSpore.Event:1"
    assert b"MatMul" in graph.graph_def
    assert [event.step for event in values] == steps
    for event in values:
        loss, *histograms = event.summary.value
        assert (loss.tag, [each.tag for each in histograms]) == ("loss/auto", ["weight/auto", "bias/auto"])
        assert loss.scalar_value == pytest.approx(FACTS["ms_losses_epoch1_2"][event.step - 1], abs=1e-6)
        assert [each.histogram.count for each in histograms] == [6, 2]


def test_lineage() -> None:
    one = model({"accuracy", "precision"})
    one.train(2, dataset(), SummaryCollector("s", custom_lineage_data={"a": 1, "b": 0.5, "c": "x"}))
    data, user, train = records("lineage")
    assert data.dataset_graph.parameter.mapStr[0].value == "Batch"
    assert data.dataset_graph.children[0].parameter.mapStr[0].value == "GeneratorDataset"
    entries = [each.ListFields()[0][1][0] for each in user.user_defined_info.user_info]
    assert [(each.key, each.value) for each in entries] == [("a", 1), ("b", 0.5), ("c", "x")]
    hyper = train.train_lineage.hyper_parameters
    assert (hyper.optimizer, hyper.epoch, hyper.batch_size) == ("Momentum", 2, 4)
    assert (train.train_lineage.algorithm.network, train.train_lineage.train_dataset.train_dataset_size) == (
        "Dense",
        12,
    )
    one.eval(dataset(), callbacks=SummaryCollector("e"))
    (found,) = records("lineage", "e")
    assert json.loads(found.evaluation_lineage.metric).keys() == {"accuracy", "precision"}
    assert not list(Path("e").glob("*_MS"))


def test_parameters_for_landscapes() -> None:
    model().train(2, dataset(), SummaryCollector("s"))
    described = json.loads(Path("s/ckpt_dir/train_metadata.json").read_text())
    assert list(described["model_params_file_map"]) == ["1", "2", "3", "4", "5", "6"]
    assert (described["step_per_epoch"], described["epoch_group"]["1"][0]) == (3, 10)
    assert set(load_checkpoint("s/ckpt_dir/Dense_6_step.ckpt")) == {"weight", "bias"}


def test_only_what_is_wanted() -> None:
    wanted = {"collect_metric": True, "histogram_regular": "^b"}
    model().train(1, dataset(), SummaryCollector("s", 1, collect_specified_data=wanted, keep_default_action=False))
    _, *values = records("MS")
    assert [[each.tag for each in event.summary.value] for event in values] == [["loss/auto", "bias/auto"]] * 4
    assert not list(Path("s").glob("*_lineage"))
    assert not Path("s/ckpt_dir").exists()


def test_the_graph_is_the_one_that_runs() -> None:
    model().train(1, dataset(), SummaryCollector("s"))
    graph = pb.CLASSES["GraphProto"].FromString(records("MS")[1].graph_def)
    assert "ApplyMomentum" in {node.op_type for node in graph.node}


def test_one_at_a_time() -> None:
    with SummaryCollector("a"), pytest.raises(RuntimeError, match="another one is open"):
        model().train(1, dataset(), SummaryCollector("b"))
    model().train(1, dataset(), SummaryCollector("b"))


REFUSED = {
    "collect_freq must be at least": (lambda: SummaryCollector("s", 0), ValueError),
    "collect_freq must be an int": (lambda: SummaryCollector("s", None), TypeError),
    "summary_dir must be a str": (lambda: SummaryCollector(5), TypeError),
    "summary_dir must not": (lambda: SummaryCollector(""), ValueError),
    "a name of": (lambda: SummaryCollector("s", collect_specified_data={"x": True}), ValueError),
    "histogram_regular": (lambda: SummaryCollector("s", collect_specified_data={"histogram_regular": "["}), ValueError),
    "collect_graph": (lambda: SummaryCollector("s", collect_specified_data={"collect_graph": 1}), TypeError),
    "keep_default_action": (lambda: SummaryCollector("s", keep_default_action=1), TypeError),
    "max_file_size": (lambda: SummaryCollector("s", max_file_size=10), NotImplementedError),
    "custom_lineage_data": (lambda: SummaryCollector("s", custom_lineage_data={"a": []}), ValueError),
    "intervals": (
        lambda: SummaryCollector("s", collect_specified_data={"collect_landscape": {"intervals": [[1]]}}), ValueError,
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_refusals(words: str) -> None:
    call, error = REFUSED[words]
    with pytest.raises(error, match=words):
        call()


def test_a_loss_that_is_no_number_of_one() -> None:
    collector = SummaryCollector("s", 1, collect_specified_data={"collect_metric": True}, keep_default_action=False)

    class Spoil(SummaryCollector):
        """Another class of the same kind may stand beside."""

        def __init__(self) -> None:
            pass

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *error: Any) -> None:
            """Nothing."""

        def begin(self, run_context: Any) -> None:
            """Nothing."""

        def step_end(self, run_context: Any) -> None:
            run_context.original_args().net_outputs = np.float32(1)

        epoch_end = end = begin

    model().train(1, dataset(), [Spoil(), collector])
    assert not list(Path("s").glob("*_MS"))
