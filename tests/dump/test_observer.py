"""What the observer writes for graphs and steps shown to it by hand."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import dtypes
from harness.dump import DumpObserver
from harness.graph.form import form_of
from harness.recording import Parameter, TensorSpec, Value
from tests.dump.build import (
    NPY,
    Net,
    config,
    dumped,
    fields,
    graph_of,
    measured_net,
    npy_files,
    one_op,
    operator,
    tensor,
)


class TestTree:
    def test_every_file_of_a_small_run(self, tmp_path: Path) -> None:
        net = one_op()
        dumped(tmp_path, net, steps=2)
        found = {str(path.relative_to(tmp_path / "rank_0")) for path in tmp_path.rglob("*") if path.is_file()}
        tensors = {name for name in found if name.endswith(".npy")}
        assert found - tensors == {
            ".dump_metadata/config.json",
            ".dump_metadata/data_dump.json",
            "graphs/ms_output_trace_code_graph_0.ir",
            "graphs/ms_output_trace_code_graph_0.pb",
            "execution_order/ms_execution_order_graph_0.csv",
            "execution_order/ms_global_execution_order_graph_0.csv",
        }
        assert sorted({name.rpartition("/")[0] for name in tensors}) == ["Net/0/0", "Net/0/1"]
        assert all(NPY.match(name.rpartition("/")[2]) for name in tensors)

    def test_modes(self, tmp_path: Path) -> None:
        dumped(tmp_path / "new", one_op())
        for path in (tmp_path / "new").rglob("*"):
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o400)

    def test_nothing_but_whole_files_under_final_names(self, tmp_path: Path) -> None:
        dumped(tmp_path, one_op())
        assert not list(tmp_path.rglob("*.part"))

    def test_metadata(self, tmp_path: Path) -> None:
        watcher = dumped(tmp_path, one_op())
        place = tmp_path / "rank_0" / ".dump_metadata"
        assert (place / "config.json").read_bytes() == b'{"device_target":"CPU","ms_version":"2.10.0"}'
        assert (place / "data_dump.json").read_bytes() == watcher.config.raw

    def test_texts_are_written_whatever_is_selected(self, tmp_path: Path) -> None:
        net = one_op()
        dumped(tmp_path, net, iteration="7")
        root = tmp_path / "rank_0"
        assert {path.name for path in root.iterdir()} == {".dump_metadata", "graphs", "execution_order"}
        assert (root / "execution_order" / "ms_execution_order_graph_0.csv").read_text().split("\n") == [
            "NodeExecutionOrder-FullNameWithScope", net.graph.operators[0].name, "",
        ]  # fmt: skip

    def test_graph_texts_are_those_of_the_graph(self, tmp_path: Path) -> None:
        from harness.graph import ir, pb

        net = one_op()
        dumped(tmp_path, net)
        place = tmp_path / "rank_0" / "graphs"
        assert (place / "ms_output_trace_code_graph_0.pb").read_bytes() == pb.write(form_of(net.graph))
        assert (place / "ms_output_trace_code_graph_0.ir").read_text() == ir.write(form_of(net.graph))

    def test_the_same_directory_twice(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        dumped(tmp_path, one_op(), steps=2)
        first = {path: path.read_bytes() for path in npy_files(tmp_path)}
        about = tmp_path / "rank_0" / ".dump_metadata" / "data_dump.json"
        kept = about.read_bytes()
        with caplog.at_level(logging.WARNING, logger="harness"):
            dumped(tmp_path, one_op(), steps=2, input_output=2)
        assert about.read_bytes() == kept
        assert "data_dump.json is there already" in caplog.text
        assert {path: path.read_bytes() for path in npy_files(tmp_path) if path in first} == first
        assert len(npy_files(tmp_path)) == len(first) + 2 * 2
        order = tmp_path / "rank_0" / "execution_order" / "ms_global_execution_order_graph_0.csv"
        assert order.read_text() == "0\n1\n0\n1\n"

    def test_a_rank(self, tmp_path: Path) -> None:
        watcher = DumpObserver(config(tmp_path), rank=3)
        net = one_op()
        watcher.graph_declared(net.graph)
        net.run(watcher)
        assert [path.name for path in tmp_path.iterdir()] == ["rank_3"]
        assert not list(tmp_path.rglob("ms_global*"))


class TestTensors:
    def test_inputs_then_outputs_then_parameters_in_order(self, tmp_path: Path) -> None:
        net = measured_net("train")
        dumped(tmp_path, net)
        seen = [(fields(path)[1], fields(path)[5], int(fields(path)[6])) for path in npy_files(tmp_path)]
        expected = [
            (node.name.replace("/", "_"), io, slot.index)
            for node in net.graph.order
            for io, slots in zip(("input", "output"), net.slots[node], strict=True)
            for slot in slots
        ] + [(parameter.name.replace(".", "_"), "output", 0) for parameter in net.values]
        assert seen == expected

    def test_values_are_those_after_the_kernel(self, tmp_path: Path) -> None:
        net = one_op()
        weight = next(iter(net.values.values()))
        watcher = DumpObserver(config(tmp_path))
        watcher.graph_declared(net.graph)
        net.run(watcher, each=lambda _: weight.__iadd__(1))
        by_io = {(fields(path)[0], fields(path)[5], fields(path)[6]): np.load(path) for path in npy_files(tmp_path)}
        assert np.array_equal(by_io["Add", "input", "0"], weight)
        assert np.array_equal(by_io["Parameter", "output", "0"], weight)

    def test_empty_tensors_have_no_file_and_make_no_directory(self, tmp_path: Path) -> None:
        dumped(tmp_path, one_op(arrays=[np.zeros((0, 3), np.float32)] * 3))
        assert not npy_files(tmp_path)
        assert not (tmp_path / "rank_0" / "Net").exists()

    def test_a_reshaped_output_has_its_logical_shape(self, tmp_path: Path) -> None:
        base = tensor(dtypes.float32, (2, 3))
        dumped(tmp_path, one_op("Default/Reshape-op0", [base, base.reshape(3, 2)]))
        shapes = {(fields(path)[0], fields(path)[5]): np.load(path).shape for path in npy_files(tmp_path)}
        assert shapes["Reshape", "input"] == (2, 3)
        assert shapes["Reshape", "output"] == (3, 2)

    def test_bfloat16_keeps_its_suffix_and_loads_as_float32(self, tmp_path: Path) -> None:
        values = tensor(dtypes.bfloat16, (5,))
        dumped(tmp_path, one_op(arrays=[values] * 3))
        for path in npy_files(tmp_path):
            assert fields(path)[8] == "BFloat16"
            assert np.array_equal(np.load(path), values.astype(np.float32))

    @settings(
        max_examples=25,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
        deadline=None,
    )
    @given(st.data())
    def test_any_run_reads_back(self, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
        root = tmp_path_factory.mktemp("tree")
        kinds = data.draw(st.lists(st.sampled_from(dtypes.ALL[:-2]), min_size=2, max_size=5))
        arrays = [
            tensor(kind, tuple(data.draw(st.lists(st.integers(0, 3), max_size=3))), at) for at, kind in enumerate(kinds)
        ]
        mode = data.draw(st.integers(0, 2))
        net = one_op("Default/x y-Z/Op-op3", arrays, "w.b")
        dumped(root, net, input_output=mode)
        expected: dict[tuple[str, ...], Any] = {}
        inputs, outputs = net.slots[net.graph.order[0]]
        for io, slots, wanted in (("input", inputs, mode != 2), ("output", outputs, mode != 1)):
            expected |= {("Op", io, str(slot.index)): slot.array for slot in slots if wanted and slot.array.size}
        if mode != 1 and arrays[0].size:
            expected["Parameter", "output", "0"] = arrays[0]
        found = {(fields(p)[0], fields(p)[5], fields(p)[6]): np.load(p, allow_pickle=False) for p in npy_files(root)}
        assert found.keys() == expected.keys()
        for key, array in expected.items():
            assert found[key].shape == array.shape
            assert np.array_equal(found[key], array.astype(found[key].dtype), equal_nan=array.dtype.kind == "f")


class TestNames:
    def test_long_names_go_to_the_mapping(self, tmp_path: Path) -> None:
        kept = one_op(f"Default/{'a' * 150}/Add-op0")
        long = one_op(f"Default/{'b' * 200}/Add-op0", graph_id=1)
        dumped(tmp_path, kept, long)
        (mapping,) = tmp_path.rglob("mapping.csv")
        place = mapping.parent
        assert place.parent.name == "1"
        rows = dict(line.split(",", 1) for line in (place / "mapping.csv").read_text().splitlines())
        assert {path.name for path in place.glob("*.npy")} - set(rows) == {
            path.name for path in place.glob("Parameter.*")
        }
        assert all(len(original.encode()) > 255 and NPY.match(original) for original in rows.values())
        assert all((place / name).exists() for name in rows)

    @pytest.mark.parametrize("excess", [0, 1])
    def test_255_bytes_are_kept_and_256_are_not(self, tmp_path: Path, excess: int) -> None:
        rest = len(f"Add._Add-op0.0.0.{'0' * 16}.output.0.DefaultFormat.Float32.npy")
        dumped(tmp_path, one_op(f"{'s' * (255 - rest + excess)}/Add-op0"), input_output=2)
        place = tmp_path / "rank_0" / "Net" / "0" / "0"
        assert (place / "mapping.csv").exists() == bool(excess)
        assert (max(len(path.name) for path in place.iterdir()) == 255) == (not excess)

    def test_the_limit_is_bytes_not_characters(self, tmp_path: Path) -> None:
        dumped(tmp_path, one_op(f"{'é' * 100}/Add-op0"), input_output=2)
        assert (tmp_path / "rank_0" / "Net" / "0" / "0" / "mapping.csv").exists()

    def test_names_that_mangle_alike_are_told_apart(self, tmp_path: Path) -> None:
        arrays = {name: tensor(dtypes.float32, (2,), at) for at, name in enumerate(["a.b", "a_b", "c.d", "c d"])}
        values = {Parameter(name, TensorSpec(dtypes.float32, (2,)), True): a for name, a in arrays.items()}
        first = operator("Default/p_q/Add-op0", list(values), TensorSpec(dtypes.float32, (2,)))
        second = operator("Default/p/q/Add-op0", list(values), TensorSpec(dtypes.float32, (2,)))
        outputs = {first: tensor(dtypes.float32, (2,), 7), second: tensor(dtypes.float32, (2,), 8)}
        slots = {node: ([], [Value(array, dtypes.float32, index=0)]) for node, array in outputs.items()}
        dumped(tmp_path, Net(graph_of([first, second], list(values)), slots, values))
        place = tmp_path / "rank_0" / "Net" / "0" / "0"
        rows = dict(line.split(",", 1) for line in (place / "mapping.csv").read_text().splitlines())
        found: dict[str, Any] = {}
        for path in npy_files(place):
            name = rows.get(path.name, path.name).removesuffix(".npy").rsplit(".", 7)[0].partition(".")[2]
            assert name not in found
            found[name] = np.load(path)
        assert found.keys() == {"a.b", "a_b", "c.d", "c d", first.name, second.name}
        for name, array in (arrays | {node.name: array for node, array in outputs.items()}).items():
            assert np.array_equal(found[name], array)

    def test_odd_names_stay_inside_the_directory(self, tmp_path: Path) -> None:
        for name in ("../../out", "/etc/x", "a\nb", "nul\0", "..", "", "-", "a,b", "权重"):
            net = one_op(f"{name}/Add-op0", parameter=name)
            dumped(tmp_path / "in", net)
        assert [path.name for path in tmp_path.iterdir()] == ["in"]
        assert all(path.parent.name == "0" for path in npy_files(tmp_path))


class TestSteps:
    def test_labels_of_alternating_nets(self, tmp_path: Path) -> None:
        """Calls A A A B B A B A' gave labels 0 1 2 3 1 2 4 3 (dump_config.md 2.4)."""
        nets = [one_op(graph_id=k) for k in range(3)]
        watcher = DumpObserver(config(tmp_path, input_output=2))
        labels = []
        for call in (0, 0, 0, 1, 1, 0, 1, 2):
            if not nets[call].runs:
                watcher.graph_declared(nets[call].graph)
            labels.append(watcher.counter.label)
            nets[call].run(watcher)
        assert labels == [0, 1, 2, 3, 1, 2, 4, 3]
        orders = {
            path.stem.rpartition("_")[2]: path.read_text().split() for path in sorted(tmp_path.rglob("ms_global*"))
        }
        assert orders == {"0": ["0", "1", "2", "2"], "1": ["3", "1", "4"], "2": ["3"]}
        assert len(list((tmp_path / "rank_0" / "Net" / "0" / "2").glob("Add.*"))) == 2

    def test_a_label_is_not_repeated_in_any_global_order(self, tmp_path: Path) -> None:
        """Calls A B A B A' A gave no order file for A' (dump_output.md section 1)."""
        nets = [one_op(graph_id=k) for k in range(3)]
        watcher = DumpObserver(config(tmp_path))
        for call in (0, 1, 0, 1, 2, 0):
            nets[call].run(watcher)
        assert sorted(path.stem[-1] for path in tmp_path.rglob("ms_global*")) == ["0", "1"]
        directories = {str(path.relative_to(tmp_path / "rank_0" / "Net")) for path in tmp_path.glob("rank_0/Net/*/*")}
        assert directories == {"0/0", "1/1", "0/1", "1/2", "2/2"}

    def test_the_counter_wraps_and_its_first_label_is_lost(self, tmp_path: Path) -> None:
        dumped(tmp_path, one_op(), steps=3, initial_iteration=2**32 - 1)
        assert {path.parent.name for path in npy_files(tmp_path)} == {"4294967295", "0", "1"}
        assert next(tmp_path.rglob("ms_global*")).read_text() == "0\n1\n"

    def test_a_failed_step_leaves_the_label(self, tmp_path: Path) -> None:
        net = one_op()
        watcher = DumpObserver(config(tmp_path))

        def fail(_: Any) -> None:
            raise RuntimeError("kernel failed")

        with pytest.raises(RuntimeError, match="kernel failed"):
            net.run(watcher, each=fail)
        assert watcher.counter.label == 0
        net.run(watcher)
        assert {path.parent.name for path in npy_files(tmp_path)} == {"0"}

    def test_kernels_of_a_sub_graph_go_to_its_directory(self, tmp_path: Path) -> None:
        root, sub = one_op(), one_op("Default/Sub-op0", graph_id=4, root_id=0)
        root.graph.order.append(sub.graph.order[0])
        root.slots |= sub.slots
        watcher = DumpObserver(config(tmp_path))
        for graph in (root.graph, sub.graph):
            watcher.graph_declared(graph)
        root.run(watcher)
        assert {(fields(path)[0], path.parts[-3]) for path in npy_files(tmp_path)} == {
            ("Add", "0"), ("Sub", "4"), ("Parameter", "0"),
        }  # fmt: skip

    def test_repeated_kernels_are_told_apart_by_time(self, tmp_path: Path) -> None:
        net = one_op()
        net.graph.order *= 5
        dumped(tmp_path, net, input_output=2)
        assert len(npy_files(tmp_path)) == 5 + 1

    def test_handles_are_given_back(self, tmp_path: Path) -> None:
        before = len(os.listdir("/proc/self/fd"))
        dumped(tmp_path, *[one_op(graph_id=k) for k in range(5)], steps=3)
        assert len(os.listdir("/proc/self/fd")) == before
