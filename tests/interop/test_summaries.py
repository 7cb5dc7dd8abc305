"""Summary files have the events of the real ones, and are read by MindInsight and by TensorBoard's event reader."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.framework.train.summary.messages import EVENTS, LINEAGE
from harness.framework.train.summary.records import read
from tests.differential.side import Side
from tests.interop.trees import ROOT

pytestmark = pytest.mark.interop

HERE = Path(__file__).parent
Sides = dict[str, Path]


def run(*command: object) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GLOG_v": "4"}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory, both: tuple[Side, Side]) -> Sides:
    """What each side wrote."""
    out = {name: tmp_path_factory.mktemp(name) for name in ("own", "real")}
    for side, folder in zip(both, out.values(), strict=True):
        side.printed(HERE / "summaries.py", tmp_path_factory.mktemp("run"), folder, PYTHONPATH=str(ROOT))
    return out


def messages(folder: Path, kind: str) -> list[Any]:
    message = EVENTS["Event"] if kind == "MS" else LINEAGE["LineageEvent"]
    paths = sorted(folder.rglob(f"*_{kind}"))
    return [message.FromString(each) for path in paths for each in read(path.read_bytes(), str(path))]


def test_events_are_the_real_ones(sides: Sides) -> None:
    own, real = (messages(sides[side], "MS") for side in ("own", "real"))
    assert [(event.step, event.version, bool(event.graph_def)) for event in own] == [
        (event.step, event.version, bool(event.graph_def)) for event in real
    ]
    compared = 0
    for one, other in zip(own, real, strict=True):
        for value, wanted in zip(one.summary.value, other.summary.value, strict=True):
            assert value.tag == wanted.tag
            assert value.scalar_value == pytest.approx(wanted.scalar_value, abs=1e-5)
            histogram, expected = value.histogram, wanted.histogram
            assert [bucket.count for bucket in histogram.buckets] == [bucket.count for bucket in expected.buckets]
            for name in ("max", "min", "sum", "count", "nan_count"):
                assert getattr(histogram, name) == pytest.approx(getattr(expected, name), abs=1e-5)
            compared += 1
    assert compared == 15


def test_lineage_is_the_real_one(sides: Sides) -> None:
    own, real = (messages(sides[side], "lineage") for side in ("own", "real"))
    assert [event.ListFields()[1][0].name for event in own] == [event.ListFields()[1][0].name for event in real]
    for one, other in zip(own, real, strict=True):
        for message in (one, other):
            message.ClearField("wall_time")
            message.ClearField("step")
            message.dataset_graph.ClearField("parameter")  # names settings of the real pipeline, too
            message.ClearField("dataset_graph")
            if message.HasField("train_lineage"):
                message.train_lineage.algorithm.loss = round(message.train_lineage.algorithm.loss, 4)
        assert one == other


def test_the_same_files_are_there(sides: Sides) -> None:
    own, real = (
        sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if "events.out" not in path.name)
        for folder in (sides["own"], sides["real"])
    )
    assert own == real
    described = [json.loads((sides[side] / "ckpt_dir/train_metadata.json").read_text()) for side in ("own", "real")]
    for each in described:
        each["model_params_file_map"] = sorted(each["model_params_file_map"])
    assert described[0] == described[1]


@pytest.fixture(scope="module", params=["0", "1"], ids=["graph", "pynative"])
def recorded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, both: tuple[Side, Side]
) -> Sides:
    """What a ``SummaryRecord`` of each side wrote."""
    out = {name: tmp_path_factory.mktemp(name) for name in ("own", "real")}
    for side, folder in zip(both, out.values(), strict=True):
        place = tmp_path_factory.mktemp("run")
        side.printed(HERE / "summary_record.py", place, folder, request.param, PYTHONPATH=str(ROOT))
    return out


def test_records_are_the_real_ones(recorded: Sides) -> None:
    own, real = (messages(recorded[side], "MS") for side in ("own", "real"))
    assert len(own) == len(real) > 3
    for one, other in zip(own, real, strict=True):
        one.wall_time = other.wall_time = 0
        for event in (one, other):
            for value in event.summary.value:
                # Pillow's compression may differ between releases; width and height stay.
                value.image.encoded_image = value.image.encoded_image[:8]
        assert bool(one.graph_def) == bool(other.graph_def)
        one.graph_def = other.graph_def = b""
        assert one == other


def test_mindinsight_and_tensorboard_read_records_alike(
    recorded: Sides, mindinsight_python: str, tensorboard_python: str
) -> None:
    for python, reader, part in ((mindinsight_python, "mindinsight", "plain"), (tensorboard_python, "tensorboard", "")):
        own, real = (
            json.loads(run(python, HERE / "summaries_view.py", reader, recorded[side] / part).splitlines()[-1])
            for side in ("own", "real")
        )
        assert own == real
        assert len(own) >= 2


def test_mindinsight_reads_both_alike(sides: Sides, mindinsight_python: str) -> None:
    own, real = (
        json.loads(run(mindinsight_python, HERE / "summaries_view.py", "mindinsight", folder).splitlines()[-1])
        for folder in (sides["own"], sides["real"])
    )
    assert own.keys() == real.keys()
    assert len(own) == 4
    for tag, rows in real.items():
        if isinstance(rows, int):
            assert own[tag] == rows
        else:
            assert [row[:1] for row in own[tag]] == [row[:1] for row in rows]
            assert own[tag] == [pytest.approx(row, abs=1e-5) for row in rows]


def test_tensorboard_reads_both_alike(sides: Sides, tensorboard_python: str) -> None:
    own, real = (
        json.loads(run(tensorboard_python, HERE / "summaries_view.py", "tensorboard", folder).splitlines()[-1])
        for folder in (sides["own"], sides["real"])
    )
    assert own == real
    assert own[0] == [0, "MindSpore.Event:1"]
