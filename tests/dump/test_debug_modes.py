"""The modes that watch for trouble (overflow, exceptions, kernel arguments); graphs are shown by hand."""

from __future__ import annotations

import json
import logging
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import dtypes
from harness.capture import read_tree
from harness.devices import DEVICES
from harness.dump import DumpObserver, parse
from harness.errors import DumpWriteError, KernelError
from harness.recording import Constant, Operator, Parameter, ScalarSpec, TensorSpec, TupleSpec, Value
from tests.dump.build import (
    Net,
    chain,
    config_text,
    dumped_on,
    fields,
    graph_of,
    npy_files,
    operator,
    tensor,
)

ASCEND = "ascend-o0"
FLOAT = dtypes.float32


class TestOverflow:
    """op_debug_mode 3."""

    ARRAYS = (
        np.array([1, np.inf], np.float32), np.array([1, 2], np.float32), np.array([np.nan], np.float16),
        np.array([5], np.int32), np.array([np.inf], np.float64),
        np.array([-np.inf]).astype(dtypes.bfloat16.numpy),
    )  # fmt: skip

    def dumped(self, root: Path, device: str, **changes: Any) -> list[str]:
        dumped_on(root, device, chain(*self.ARRAYS), op_debug_mode=3, input_output=1, **changes)
        return sorted({fields(path)[1] for path in npy_files(root) if not path.name.startswith("Parameter")})

    def test_inputs_and_outputs_of_kernels_that_overflow(self, tmp_path: Path) -> None:
        assert self.dumped(tmp_path, ASCEND) == ["Default_Add-op0", "Default_Add-op2", "Default_Add-op5"]
        assert len(npy_files(tmp_path)) == 9

    def test_the_number_of_kernels_is_bounded_in_a_process(self, tmp_path: Path) -> None:
        assert self.dumped(tmp_path, ASCEND, overflow_number=2) == ["Default_Add-op0", "Default_Add-op2"]

    @pytest.mark.parametrize("device", ["cpu", "gpu"])
    def test_elsewhere_nothing_is_checked(self, tmp_path: Path, device: str) -> None:
        assert len(self.dumped(tmp_path, device)) == len(self.ARRAYS)

    def test_steps_that_are_not_dumped_do_not_count(self, tmp_path: Path) -> None:
        net = chain(np.array([np.inf], np.float32))
        dumped_on(tmp_path, ASCEND, net, steps=3, op_debug_mode=3, overflow_number=1, iteration="1-2")
        assert {path.parent.name for path in npy_files(tmp_path)} == {"1"}

    def test_statistics_of_overflows_only(self, tmp_path: Path) -> None:
        net = chain(*self.ARRAYS)
        dumped_on(tmp_path, ASCEND, net, op_debug_mode=3, saved_data="statistic")
        assert {r.key.operator for r in read_tree(tmp_path).records()} == {f"Default/Add-op{n}" for n in (0, 2, 5)}


class TestException:
    """op_debug_mode 4: a kernel fails."""

    def failing(self, root: Path, device: str, error: BaseException, **changes: Any) -> DumpObserver:
        read = parse(config_text(root, {"enable": True}, op_debug_mode=4, **changes), device, environ={})
        watcher, net = DumpObserver(read, DEVICES.get(device)), chain(*[tensor(FLOAT, (2,))] * 3)
        watcher.graph_declared(net.graph)

        def each(node: Operator) -> None:
            if node is net.graph.order[1]:
                raise error

        with pytest.raises(type(error)):
            net.run(watcher, each)
        watcher.closed()
        return watcher

    def test_the_inputs_of_the_failing_kernel(self, tmp_path: Path) -> None:
        self.failing(tmp_path, ASCEND, KernelError("boom"), iteration="5", input_output=2)
        names = [fields(path) for path in npy_files(tmp_path)]
        assert [(name[1], name[5], name[6]) for name in names] == [
            ("Default_Add-op1", "input", "0"), ("Default_Add-op1", "input", "1"),
        ]  # fmt: skip
        assert not list(tmp_path.rglob("ms_global_*"))

    def test_a_disk_that_failed_is_not_asked_again(self, tmp_path: Path) -> None:
        self.failing(tmp_path, ASCEND, DumpWriteError(28, "full"))
        assert not npy_files(tmp_path)

    @pytest.mark.parametrize("device", ["cpu", "gpu"])
    def test_elsewhere_parameters_alone(self, tmp_path: Path, device: str, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING, logger="harness"):
            dumped_on(tmp_path, device, chain(tensor(FLOAT, (2,))), steps=2, op_debug_mode=4)
        assert {fields(path)[0] for path in npy_files(tmp_path)} == {"Parameter"}
        assert "parameters only" in caplog.text

    def test_a_run_that_ends_well_leaves_no_tensor(self, tmp_path: Path) -> None:
        dumped_on(tmp_path, ASCEND, chain(tensor(FLOAT, (2,))), op_debug_mode=4)
        assert not npy_files(tmp_path)


class TestKernelArgs:
    """save_kernel_args."""

    def net(self, scope: str = "Default/fc.1-Dense") -> Net:
        weight = Parameter("w", TensorSpec(FLOAT, (2, 2), "w"), True)
        flags = [Constant(value, ScalarSpec(dtypes.bool_)) for value in (True, False)]
        node = operator(f"{scope}/MatMul-op0", [weight, weight, *flags], TensorSpec(FLOAT, (2, 2)))
        node.arguments = {"transpose_a": 2, "transpose_b": 3}
        value = tensor(FLOAT, (2, 2))
        inputs = [Value(value, FLOAT, index=slot) for slot in range(2)]
        settings = {"pad_mode": "SAME", "kernel_size": (1, 1, 2, 2), "rate": 0.5, "ceil": True}
        pool = operator("Default/MaxPool-op3", [weight], TensorSpec(FLOAT, (2, 2)), **settings)
        axis = Constant((0, -1), TupleSpec((ScalarSpec(dtypes.int64),) * 2))
        soft = operator("Default/Softmax-op1", [weight, axis], TensorSpec(FLOAT, (2, 2)))
        soft.arguments = {"axis": 1}
        relu = operator("Default/ReLU-op0", [weight], TensorSpec(FLOAT, (2, 2)))
        relu.arguments = {}
        made = [Value(value, FLOAT, index=0)]
        slots = {each: (inputs[: 2 if each is node else 1], made) for each in (node, pool, soft, relu)}
        return Net(graph_of(list(slots), [weight], constants=[*flags, axis]), slots, {weight: value})

    def jsons(self, root: Path) -> dict[str, Any]:
        return {path.name: json.loads(path.read_text()) for path in root.rglob("0/0/*.json")}

    def test_every_value_is_a_text(self, tmp_path: Path) -> None:
        dumped_on(tmp_path, ASCEND, self.net(), e2e={"save_kernel_args": True})
        assert self.jsons(tmp_path) == {
            "MatMul.Default_fc_1-Dense_MatMul-op0.json": {"transpose_a": "True", "transpose_b": "False"},
            "MaxPool.Default_MaxPool-op3.json": {
                "ceil": "true", "kernel_size": "(1, 1, 2, 2)", "pad_mode": "SAME", "rate": "0.5",
            },
            "Softmax.Default_Softmax-op1.json": {"axis": "[ 0 -1]"},
            "ReLU.Default_ReLU-op0.json": None,
        }  # fmt: skip
        path = next(tmp_path.rglob("MatMul.*.json"))
        assert path.read_text() == '{\n    "transpose_a": "True",\n    "transpose_b": "False"\n}'
        assert stat.S_IMODE(path.stat().st_mode) == 0o400
        assert read_tree(tmp_path).problems == []

    @pytest.mark.parametrize(
        ("device", "e2e", "written"),
        [("gpu", {}, True), (ASCEND, {"enable": False}, False), ("cpu", {}, False), (ASCEND, {}, True)],
    )
    def test_where_it_is_written(self, tmp_path: Path, device: str, e2e: dict[str, Any], written: bool) -> None:
        dumped_on(tmp_path, device, self.net(), e2e={"save_kernel_args": True} | e2e)
        assert bool(self.jsons(tmp_path)) == written

    def test_only_for_operators_that_are_dumped(self, tmp_path: Path) -> None:
        dumped_on(tmp_path, ASCEND, self.net(), e2e={"save_kernel_args": True}, dump_mode=1, kernels=["Softmax"])
        assert list(self.jsons(tmp_path)) == ["Softmax.Default_Softmax-op1.json"]

    def test_a_name_that_is_too_long_is_mapped(self, tmp_path: Path) -> None:
        dumped_on(tmp_path, ASCEND, self.net("Default/" + "n" * 260), e2e={"save_kernel_args": True})
        rows = next(tmp_path.rglob("mapping.csv")).read_text().splitlines()
        (row,) = [row for row in rows if row.endswith(".json")]
        number, _, name = row.partition(",")
        assert name.startswith("MatMul.Default_nnn")
        assert json.loads((tmp_path / "rank_0/Net/0/0" / number).read_text())["transpose_a"] == "True"
