"""The modes of the kernel-by-kernel dump, and what each device's dump holds; graphs are shown by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from harness import dtypes
from harness.capture import read_tree
from harness.devices import DEVICES
from harness.dump import DumpObserver, parse
from harness.errors import DumpWriteError, UnsupportedError
from harness.recording import Operator, Parameter, TensorSpec, TupleSpec, Value
from tests.dump.build import (
    NPY,
    Net,
    chain,
    config,
    config_text,
    dumped_on,
    fields,
    graph_of,
    npy_files,
    one_op,
    operator,
    tensor,
)

ASCEND = "ascend-o0"
FLOAT = dtypes.float32


def files(root: Path) -> set[str]:
    """Every file but tensors, relative to the rank."""
    return {
        str(path.relative_to(root / "rank_0")) for path in root.rglob("*") if path.is_file() and path.suffix != ".npy"
    }


class TestDevices:
    """What each device's tree holds."""

    def test_ascend(self, tmp_path: Path) -> None:
        dumped_on(tmp_path, ASCEND, chain(tensor(FLOAT, (3,))))
        assert files(tmp_path) == {
            "graphs/ms_output_trace_code_graph_0.ir",
            "graphs/ms_output_trace_code_graph_0.pb",
            "execution_order/ms_execution_order_graph_0.csv",
        }
        names = [fields(path) for path in npy_files(tmp_path)]
        assert [(name[0], name[5], name[8]) for name in names] == [
            ("Add", "input", "float32"), ("Add", "input", "float32"), ("Add", "output", "float32"),
        ]  # fmt: skip

    def test_gpu(self, tmp_path: Path) -> None:
        """Three files for an operator of two inputs, one more for the weight; none for the data input."""
        dumped_on(tmp_path, "gpu", chain(tensor(FLOAT, (3,))))
        names = [fields(path) for path in npy_files(tmp_path)]
        assert [name[0] for name in names] == ["Add", "Add", "Add", "Parameter"]
        assert {name[8] for name in names} == {"Float32"}
        assert ".dump_metadata/config.json" in files(tmp_path)
        about = json.loads((tmp_path / "rank_0" / ".dump_metadata" / "config.json").read_text())
        assert about["device_target"] == "GPU"
        assert "execution_order/ms_global_execution_order_graph_0.csv" in files(tmp_path)

    @pytest.mark.parametrize(("device", "graphs"), [("cpu", [0, 7]), ("gpu", [0, 7]), (ASCEND, [0])])
    def test_the_directory_is_that_of_the_graph_or_of_its_root(
        self, tmp_path: Path, device: str, graphs: list[int]
    ) -> None:
        root, inner = chain(tensor(FLOAT, (2,))), one_op("Default/Mul-op0", graph_id=7, root_id=0)
        watcher = DumpObserver(parse(config_text(tmp_path), device, environ={}), DEVICES.get(device))
        for net in (root, inner):
            watcher.graph_declared(net.graph)
        root.graph.order += inner.graph.order
        root.slots |= inner.slots
        root.run(watcher)
        watcher.closed()
        assert sorted({int(path.parent.parent.name) for path in npy_files(tmp_path)}) == graphs

    @pytest.mark.parametrize(("op", "device", "stream"), [
        ("Add", ASCEND, 0), ("AllReduce", ASCEND, 1), ("Send", ASCEND, 2), ("AllReduce", "gpu", 0),
    ])  # fmt: skip
    def test_streams(self, tmp_path: Path, op: str, device: str, stream: int) -> None:
        e2e = {"MINDSPORE_DUMP_IGNORE_USELESS_OUTPUT": "0"}
        dumped_on(tmp_path, device, chain(tensor(FLOAT, (2,)), op=op), environ=e2e)
        kernels = [fields(path) for path in npy_files(tmp_path) if not path.name.startswith("Parameter")]
        assert {(name[2], name[3]) for name in kernels} == {("0", str(stream))}

    @pytest.mark.parametrize("backend", ["ascend", "ascend-o2"])
    def test_only_the_kernel_by_kernel_dump_is_written_here(self, tmp_path: Path, backend: str) -> None:
        text = json.dumps({"common_dump_settings": json.loads(config_text(tmp_path))["common_dump_settings"]
                           | {"op_debug_mode": 0}})  # fmt: skip
        with pytest.raises(UnsupportedError, match="not the async dump"):
            DumpObserver(parse(text, backend, environ={}))
        assert not list(tmp_path.iterdir())

    def test_bfloat16_is_readable_on_ascend(self, tmp_path: Path) -> None:
        array = np.arange(4).astype(dtypes.bfloat16.numpy)
        dumped_on(tmp_path, ASCEND, chain(array), input_output=2)
        (path,) = npy_files(tmp_path)
        assert fields(path)[8] == "bfloat16"
        assert np.array_equal(np.load(path), array.astype(np.float32))
        (record,) = read_tree(tmp_path).records()
        assert record.load().dtype == array.dtype  # type: ignore[union-attr]


class TestSelection:
    """dump_mode, marks, useless outputs, the dynamic switch."""

    def test_marked_operators(self, tmp_path: Path) -> None:
        nets = [chain(tensor(FLOAT, (2,)), op=op, **marks) for op, marks in
                [("Add", {"dump": "true"}), ("Mul", {"dump": "false"}), ("Sub", {})]]  # fmt: skip
        for number, net in enumerate(nets):
            net.graph.id = net.graph.root_id = number
        dumped_on(tmp_path, ASCEND, *nets, dump_mode=2)
        assert {fields(path)[0] for path in npy_files(tmp_path)} == {"Add"}

    def test_nothing_marked_makes_no_directory(self, tmp_path: Path) -> None:
        dumped_on(tmp_path, ASCEND, chain(tensor(FLOAT, (2,))), dump_mode=2)
        assert not (tmp_path / "rank_0" / "Net").exists()

    def test_an_empty_list_of_kernels_in_older_releases(self, tmp_path: Path) -> None:
        read = parse(config_text(tmp_path, dump_mode=1), "gpu", "2.4-2.6", {})
        watcher = DumpObserver(read)
        net = one_op()
        watcher.graph_declared(net.graph)
        net.run(watcher)
        watcher.closed()
        assert not npy_files(tmp_path)

    @pytest.mark.parametrize(
        ("op", "environ", "device", "kept"),
        [
            ("Print", {}, ASCEND, set()),
            ("Print", {"MINDSPORE_DUMP_IGNORE_USELESS_OUTPUT": "0"}, ASCEND, {0, 1, 2, 3, 4}),
            ("Print", {}, "gpu", set()),
            ("Print", {}, "cpu", {0, 1, 2, 3, 4}),
            ("FlashAttentionScore", {}, ASCEND, {0, 1, 3, 4}),
            ("BatchNorm", {}, ASCEND, {0, 3, 4}),
            ("BatchNorm", {}, "cpu", {0, 1, 2, 3, 4}),
            ("Add", {}, ASCEND, {0, 1, 2, 3, 4}),
        ],
    )
    def test_outputs_that_are_left_out(
        self, tmp_path: Path, op: str, environ: dict[str, str], device: str, kept: set[int]
    ) -> None:
        spec = TensorSpec(FLOAT, (2,))
        weight = Parameter("w", spec, True)
        node = operator(f"Default/{op}-op0", [weight], TupleSpec((spec,) * 5))
        outputs = [Value(tensor(FLOAT, (2,), index), FLOAT, index=index) for index in range(5)]
        net = Net(graph_of([node], [weight]), {node: ([], outputs)}, {})
        dumped_on(tmp_path, device, net, environ=environ)
        assert {int(fields(path)[6]) for path in npy_files(tmp_path)} == kept

    @pytest.mark.parametrize("device", ["cpu", ASCEND, "gpu"])
    def test_the_dynamic_switch_counts_instead_of_iteration(self, tmp_path: Path, device: str) -> None:
        watcher = DumpObserver(parse(config_text(tmp_path, iteration="0"), device, environ={}), DEVICES.get(device))
        net = one_op()
        watcher.graph_declared(net.graph)
        for switch in (False, True, True, False, None):
            watcher.switch = switch
            net.run(watcher)
        watcher.closed()
        labels = {path.parent.name for path in npy_files(tmp_path)}
        assert labels == ({"0"} if device == "cpu" else {"1", "2"})


class TestSavedData:
    """Tensors, statistics, both; samples."""

    @pytest.mark.parametrize("device", ["gpu", ASCEND])
    @pytest.mark.parametrize("saved", ["tensor", "statistic", "full"])
    def test_what_is_kept(self, tmp_path: Path, device: str, saved: str) -> None:
        net = chain(tensor(FLOAT, (2, 3)), np.zeros((0, 2), np.float32), tensor(dtypes.int64, ()))
        dumped_on(tmp_path, device, net, steps=2, saved_data=saved, statistic_category=["count", "md5", "max"])
        tables = sorted(tmp_path.rglob("statistic.csv"))
        assert bool(npy_files(tmp_path)) == (saved != "statistic")
        assert [table.parent.name for table in tables] == ([] if saved == "tensor" else ["0", "1"])
        capture = read_tree(tmp_path)
        records = list(capture.records())
        assert capture.problems == []
        assert len(records) == 2 * (8 if device == ASCEND else 9)
        for record in records:
            assert (record.extra.row is not None) == (saved != "tensor")
            assert (record.values is None) == (saved == "statistic")
            if record.extra.row is not None:
                assert list(record.extra.row) == ["count", "md5", "max"]
            array = record.load()
            if array is not None and record.extra.row is not None:
                assert record.extra.row.changes(array) == ""

    def test_files_and_rows_share_the_timestamp(self, tmp_path: Path) -> None:
        dumped_on(tmp_path, ASCEND, chain(tensor(FLOAT, (2,))), saved_data="full")
        rows = (tmp_path / "rank_0/Net/0/0/statistic.csv").read_text().splitlines()[1:]
        assert [row.split(",")[4] for row in rows] == [fields(path)[4] for path in npy_files(tmp_path)]

    def test_statistics_of_parameters_are_under_their_mangled_name(self, tmp_path: Path) -> None:
        dumped_on(tmp_path, "gpu", one_op(parameter="fc1.weight"), saved_data="statistic")
        rows = (tmp_path / "rank_0/Net/0/0/statistic.csv").read_text().splitlines()[1:]
        assert rows[0].startswith("Add,Default/Add-op0,0,0,")
        assert rows[-1].startswith("Parameter,fc1_weight,0,0,")
        assert [r.key.operator for r in read_tree(tmp_path).records()][-1] == "fc1.weight"

    @pytest.mark.parametrize(
        ("number", "shapes"), [(5, [(2,), (2,), (5,)]), (6, [(2,), (2,), (2, 3)]), (1, [(1,)] * 3)]
    )
    def test_samples(self, tmp_path: Path, number: int, shapes: list[tuple[int, ...]]) -> None:
        array = tensor(FLOAT, (3, 2)).T
        dumped_on(tmp_path, ASCEND, chain(array), e2e={"sample_mode": 1, "sample_num": number}, saved_data="full")
        arrays = [np.load(path) for path in npy_files(tmp_path)]
        assert [a.shape for a in arrays] == shapes
        assert np.array_equal(arrays[-1].reshape(-1), array.reshape(-1)[: arrays[-1].size])
        rows = (tmp_path / "rank_0/Net/0/0/statistic.csv").read_text().splitlines()[1:]
        assert [row.split(",")[7] for row in rows] == [str(a.nbytes) for a in arrays]

    @pytest.mark.parametrize("device", ["cpu", "gpu"])
    def test_samples_elsewhere_are_whole(self, tmp_path: Path, device: str) -> None:
        dumped_on(tmp_path, device, chain(tensor(FLOAT, (2, 3))), e2e={"sample_mode": 1, "sample_num": 1})
        assert (2, 3) in {np.load(path).shape for path in npy_files(tmp_path)}

    def test_a_full_disk_stops_the_run_at_the_table(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import os

        read = parse(config_text(tmp_path, {"enable": True}, saved_data="statistic"), ASCEND, environ={})
        watcher, net = DumpObserver(read), chain(*[tensor(FLOAT, (2,))] * 2)
        watcher.graph_declared(net.graph)
        table, before = tmp_path / "rank_0/Net/0/0/statistic.csv", b""

        def full(fd: int, data: bytes) -> int:
            raise OSError(28, "No space left on device")

        def each(node: Operator) -> None:
            nonlocal before
            if node is net.graph.order[1]:
                before = table.read_bytes()
                monkeypatch.setattr(os, "write", full)

        with pytest.raises(DumpWriteError, match="No space left"):
            net.run(watcher, each)
        assert table.read_bytes() == before != b""


class TestDeviceOrder:
    """trans_flag: tensors as they lie on the device."""

    def net(self) -> Net:
        data = Parameter("x", TensorSpec(FLOAT, (1, 3, 4, 4)), False)
        weight = Parameter("w", TensorSpec(FLOAT, (4, 3, 2, 2), "w"), True)
        node = operator("Default/Conv2D-op0", [data, weight], TensorSpec(FLOAT, (1, 4, 3, 3)), group=1)
        arrays = [tensor(FLOAT, shape) for shape in ((1, 3, 4, 4), (4, 3, 2, 2), (1, 4, 3, 3))]
        slots = [Value(array, FLOAT, index=index) for index, array in enumerate(arrays[:2])]
        made = [Value(arrays[2], FLOAT, index=0)]
        return Net(graph_of([node], [data, weight]), {node: (slots, made)}, {weight: arrays[1]})

    def test_files_are_of_the_device_s_shape_and_read_back_as_the_host_s(self, tmp_path: Path) -> None:
        net = self.net()
        dumped_on(tmp_path, ASCEND, net, e2e={"trans_flag": False}, saved_data="full")
        assert [(fields(path)[7], np.load(path).shape) for path in npy_files(tmp_path)] == [
            ("NC1HWC0", (1, 1, 4, 4, 16)), ("FRACTAL_Z", (4, 1, 16, 16)), ("NC1HWC0", (1, 1, 3, 3, 16)),
        ]  # fmt: skip
        inputs, outputs = net.slots[net.graph.order[0]]
        for record, slot in zip(read_tree(tmp_path).records(), (*inputs, *outputs), strict=True):
            assert np.array_equal(record.load(), slot.array)  # type: ignore[arg-type]
            assert record.shape == slot.array.shape
            assert record.extra.device_shape != record.shape
            assert len(record.extra.row)

    @pytest.mark.parametrize(("device", "flag"), [(ASCEND, True), ("gpu", False), ("cpu", False)])
    def test_the_host_s_order(self, tmp_path: Path, device: str, flag: bool) -> None:
        dumped_on(tmp_path, device, self.net(), e2e={"trans_flag": flag})
        assert {fields(path)[7] for path in npy_files(tmp_path)} == {"DefaultFormat"}

    def test_a_sample_of_a_device_tensor_stays_a_sample(self, tmp_path: Path) -> None:
        dumped_on(tmp_path, ASCEND, self.net(), e2e={"trans_flag": False, "sample_mode": 1, "sample_num": 7})
        assert {record.shape for record in read_tree(tmp_path).records()} == {(7,)}


@pytest.mark.parametrize("saved", ["tensor", "statistic", "full"])
@pytest.mark.parametrize(("device", "backend"), [("cpu", "cpu"), ("gpu", "gpu"), (ASCEND, "ascend")])
def test_a_tree_says_its_device_and_mode(tmp_path: Path, device: str, backend: str, saved: str) -> None:
    kept = "tensor" if device == "cpu" else saved
    dumped_on(tmp_path, device, one_op(), saved_data=kept)
    (tmp_path / "rank_0" / "Net" / "7").write_text("no directory")
    capture = read_tree(tmp_path)
    assert (capture.backend, capture.mode, capture.emulated) == (backend, kept, True)
    assert read_tree(tmp_path, backend="mine").backend == "mine"


def test_a_tree_without_tensors_says_its_device(tmp_path: Path) -> None:
    dumped_on(tmp_path, "gpu", one_op(), iteration="9")
    capture = read_tree(tmp_path)
    assert (capture.backend, capture.mode, list(capture.records())) == ("gpu", "tensor", [])


def test_only_rank_0_has_metadata_and_the_global_order(tmp_path: Path) -> None:
    for rank in (0, 1):
        watcher, net = DumpObserver(config(tmp_path), rank=rank), one_op()
        watcher.graph_declared(net.graph)
        net.run(watcher)
        watcher.closed()
    assert (tmp_path / "rank_0" / ".dump_metadata").exists()
    assert not (tmp_path / "rank_1" / ".dump_metadata").exists()
    assert len(list(tmp_path.rglob("ms_global_*"))) == 1
    assert all(NPY.match(path.name) for path in npy_files(tmp_path / "rank_1"))
