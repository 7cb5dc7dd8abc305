"""``SummaryRecord``: what a script adds and what summary operators of its network were given, step by step."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import SettingError, SettingTypeError, StateError, TraceError, UnsupportedError
from harness.framework import nn, ops
from harness.framework.context import get_context, set_context
from harness.framework.tensor import Tensor
from harness.framework.train import SummaryRecord
from harness.framework.train.summary.messages import EVENTS
from harness.framework.train.summary.pictures import sheet
from harness.framework.train.summary.records import read

#: a file of MindSpore 2.10.0: a scalar, a tensor and a histogram of step 7
RECORDED = base64.b64decode(
    "HAAAAAAAAADIwZUdCQM4UbhNw9pBGhFNaW5kU3BvcmUuRXZlbnQ6MYRkBrGLAAAAAAAAAIUtPfEJmjJOuE3D2kEQByp+CgsKBGxvc3MdAAAAPwoZ"
    "CgF0QhQIAQgDEAsaDAAAwD8AAADAAABAQApUCgFoSk8KFAkAAAAAAAAAABEAAAAAAADgPxgBChQJAAAAAAAA4D8RAAAAAAAA4D8YARAAGAEgACkA"
    "AAAAAADwPzEAAAAAAAAAADkAAAAAAADwP0ADCYsQMA=="
)


@pytest.fixture(params=[0, 1], ids=["graph", "pynative"], autouse=True)
def mode(request: pytest.FixtureRequest) -> Iterator[int]:
    before = get_context("mode")
    set_context(mode=request.param)
    yield request.param
    set_context(mode=before)


def events(folder: Path) -> list[Any]:
    (path,) = folder.glob("*_MS")
    return [EVENTS["Event"].FromString(each) for each in read(path.read_bytes(), str(path))]


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.scalar, self.histogram, self.tensor = ops.ScalarSummary(), ops.HistogramSummary(), ops.TensorSummary()
        self.image = ops.ImageSummary()

    def construct(self, x: Any) -> Any:
        y = x * 2
        self.scalar("mean", y.mean())
        self.tensor("y", y)
        self.histogram("x", x)
        self.image("picture", x.reshape((1, 1, 2, 3)))
        return y.sum()


def test_networks_and_scripts_values_are_in_the_steps_event(tmp_path: Path, mode: int) -> None:
    pytest.importorskip("PIL")
    network = Net()
    with SummaryRecord(str(tmp_path), network=network) as record:
        for step in range(2):
            x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) + step)
            assert float(network(x).asnumpy()) == x.asnumpy().sum() * 2
            record.add_value("scalar", "rate", Tensor(0.5, x.dtype))
            assert record.record(step)
    first, *rest = events(tmp_path)
    assert first.version == "MindSpore.Event:1"
    assert bool(rest[0].graph_def) == (mode == 0)
    for step, event in enumerate(rest[1:] if mode == 0 else rest):
        values = {value.tag: value for value in event.summary.value}
        assert event.step == step
        assert list(values) == ["rate", "mean", "y", "x", "picture"]
        assert values["mean"].scalar_value == 5 + 2 * step
        assert list(values["y"].tensor.float_data) == [2 * (n + step) for n in range(6)]
        assert list(values["y"].tensor.dims) == [2, 3]
        assert values["x"].histogram.count == 6
        assert values["picture"].image.encoded_image.startswith(b"\x89PNG")


def test_a_file_is_the_real_one_but_for_its_times(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        for kind, tag, values in (
            ("scalar", "loss", 0.5),
            ("tensor", "t", [[1.5, -2, 3]]),
            ("histogram", "h", [0, 1, np.inf]),
        ):
            record.add_value(kind, tag, Tensor(np.float32(values)))
        record.record(7)
    real = list(read(RECORDED, "real"))
    found = events(tmp_path)
    for event, payload in zip(found, real, strict=True):
        event.wall_time = EVENTS["Event"].FromString(payload).wall_time
    assert [event.SerializeToString() for event in found] == real


def test_in_evaluation_the_network_is_not_recorded(tmp_path: Path) -> None:
    network = Net()
    with SummaryRecord(str(tmp_path)) as record:
        record.set_mode("eval")
        network(Tensor(np.ones((2, 3), np.float32)))
        record.add_value("scalar", "accuracy", Tensor(np.float32(0.25)))
        record.record(7, plugin_filter=lambda plugin: plugin == "scalar")
    (_version, event) = events(tmp_path)
    assert [(value.tag, value.scalar_value) for value in event.summary.value] == [("accuracy", 0.25)]


def test_a_sheet_holds_eight_pictures_in_a_row() -> None:
    pictures = np.stack([np.full((1, 2, 3), n / 9) for n in range(9)])
    found = sheet(pictures)
    assert found.shape == (4, 24, 3)
    assert (found[2:, :3] == int(8 / 9 * 255)).all()
    assert (found[2:, 3:] == 0).all()
    assert sheet(np.array([[[[-1.0, 1.0]]]])).tolist() == [[[0] * 3, [170] * 3]]


def test_one_at_a_time_and_wrong_values(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path), "a", "_b") as record:
        assert Path(record.log_dir).name.startswith("a.out.events.summary.")
        assert record.log_dir.endswith("_b")
        with pytest.raises(StateError, match="another one is open"):
            SummaryRecord(str(tmp_path))
        for plugin, name, value, error in (
            ("scalar", "s", 1.0, SettingTypeError),
            ("scalar", "", Tensor(1.0), SettingError),
            ("scalar", "s", Tensor([1.0, 2.0]), SettingError),
            ("image", "i", Tensor([1.0]), SettingError),
            ("film", "f", Tensor([1.0]), SettingError),
            ("train_lineage", "", 1, SettingTypeError),
        ):
            with pytest.raises(error, match=r"^SummaryRecord\.add_value: "):
                record.add_value(plugin, name, value)
        with pytest.raises(SettingError, match="mode must be"):
            record.set_mode("test")
        with pytest.raises(SettingTypeError, match="step must be"):
            record.record("1")  # type: ignore[arg-type]
    assert not record.record(3)
    with pytest.raises(SettingError, match="has been closed"):
        record.__enter__()
    with pytest.raises(UnsupportedError, match="max_file_size"):
        SummaryRecord(str(tmp_path), max_file_size=1)


def test_bad_summaries_of_a_network_are_told(mode: int) -> None:
    class Bad(nn.Cell):
        def construct(self, x: Any) -> Any:
            ops.ScalarSummary()("", x)
            return x

    with pytest.raises(SettingError, match="ScalarSummary: the tag must not be empty"):
        Bad()(Tensor([1.0]))

    class Branch(nn.Cell):
        def construct(self, x: Any) -> Any:
            if x > 0:
                ops.ScalarSummary()("x", x)
                x = x * 2
            return x

    if mode == 0:
        with pytest.raises(TraceError, match="inside control flow"):
            Branch()(Tensor(1.0))
