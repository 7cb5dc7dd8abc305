"""Any valid configuration gives a tree that reads back to exactly the tensors the run produced; any other gives one
named error and no tree."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from harness.devices import DEVICES
from harness.dump import parse
from harness.dump.environment import VARIABLE, DumpEnvironment
from harness.dump.environment import observer_for as made_observer
from harness.errors import DumpConfigError
from harness.stats.printed import COLUMNS
from tests.capture.nets import Net, processes
from tests.dump.produced import Produced, check, mark
from tests.examples import examples

DEVICES_HERE = ("cpu", "gpu", "ascend-o0", "ascend-o1")


CATEGORIES = st.lists(st.sampled_from([item for item in COLUMNS if item != "sha1"] + ["hash"]), unique=True)
KERNELS = ["Add", "matm", "name-regex(.*Add-op.)", "Default/Add-op0", "Default/a_b/MatMul-op1", "a", "name-regex(x|w+)"]


@st.composite
def asked(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A device, and fields that are valid on it."""
    device = draw(st.sampled_from(DEVICES_HERE))
    ascend = device.startswith("ascend")
    saved = draw(st.sampled_from(["tensor"] if device == "cpu" else ["tensor", "statistic", "full"]))
    debug = draw(st.sampled_from([0, 0, 3]))
    return device, {
        "dump_mode": draw(st.sampled_from([0, 1, 2] if ascend else [0, 1])),
        "iteration": draw(st.sampled_from(["all", "0", "1 | 3 - 9", "2-11|0", "7"])),
        "input_output": draw(st.integers(0, 2)),
        "kernels": draw(st.lists(st.sampled_from(KERNELS), max_size=3, unique=True)),
        "saved_data": saved,
        "statistic_category": draw(CATEGORIES),
        "op_debug_mode": debug,
        "overflow_number": draw(st.integers(0, 3)) if debug == 3 else 0,
        "initial_iteration": draw(st.sampled_from([0, 0, 1, 2**32 - 1])),
        "enable": draw(st.booleans()),
        "trans_flag": draw(st.booleans()),
        "sample_mode": draw(st.sampled_from([1, 1, 0])),
        "sample_num": draw(st.integers(1, 4)),
        "stat_calc_mode": draw(st.sampled_from(["host", "device"])),
        "device_stat_precision_mode": draw(st.sampled_from(["high", "low"])),
        "save_kernel_args": draw(st.booleans()),
    }


E2E = (
    "enable", "trans_flag", "sample_mode", "sample_num", "stat_calc_mode", "device_stat_precision_mode",
    "save_kernel_args",
)  # fmt: skip


def text(fields: dict[str, Any], root: str) -> str:
    common = {"path": root, "net_name": "Net", "support_device": [0]} | {
        name: value for name, value in fields.items() if name not in E2E
    }
    if fields["op_debug_mode"] != 3:
        del common["overflow_number"]
    return json.dumps({"common_dump_settings": common, "e2e_dump_settings": {name: fields[name] for name in E2E}})


def reads_back(wanted: tuple[str, dict[str, Any]], process: tuple[list[Net], list[int]]) -> None:
    (device, fields), (nets, calls) = wanted, process
    mark(nets)
    with TemporaryDirectory() as directory:
        config = parse(text(fields, directory), device, environ={})
        observer = made_observer(config, DEVICES.get(device))
        assert observer is not None
        produced = Produced(config, fields, device)
        for net in nets:
            observer.graph_declared(net.graph)
        for call in calls:
            nets[call].run([observer, produced])
        observer.closed()
        check(config, produced, Path(directory))


@examples(20, 150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(asked(), processes())
def test_a_valid_configuration_gives_a_tree_that_reads_back(
    wanted: tuple[str, dict[str, Any]], process: tuple[list[Net], list[int]]
) -> None:
    reads_back(wanted, process)


@examples(10, 10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(asked(), processes(), st.sampled_from([2**31, 2**32 - 1]))
def test_labels_of_32_bits_read_back(
    wanted: tuple[str, dict[str, Any]], process: tuple[list[Net], list[int]], first: int
) -> None:
    device, fields = wanted
    reads_back((device, fields | {"initial_iteration": first, "iteration": "all", "enable": True}), process)


@st.composite
def broken(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """As ``asked``, with one field that no release takes."""
    device, fields = draw(asked())
    faults: dict[str, Any] = {
        "dump_mode": 3, "iteration": "0,1", "input_output": 3, "kernels": "Add", "saved_data": "all",
        "op_debug_mode": 9, "initial_iteration": -1, "enable": 1, "trans_flag": "true", "sample_mode": 2,
        "stat_calc_mode": "gpu", "device_stat_precision_mode": "", "save_kernel_args": None,
    }  # fmt: skip
    name = draw(st.sampled_from(sorted(faults)))
    return device, fields | {name: faults[name]}


@examples(20, 100)
@given(broken())
@example(("gpu", {"statistic_category": ["max", "foo"]}))
def test_an_invalid_configuration_gives_one_named_error_and_no_tree(wanted: tuple[str, dict[str, Any]]) -> None:
    device, fields = wanted
    plain: dict[str, Any] = {
        "dump_mode": 0, "iteration": "all", "input_output": 0, "kernels": [], "saved_data": "statistic",
        "op_debug_mode": 0, "overflow_number": 0, "initial_iteration": 0, "enable": True, "trans_flag": True,
        "sample_mode": 0, "sample_num": 1, "stat_calc_mode": "host", "device_stat_precision_mode": "high",
        "save_kernel_args": False,
    }  # fmt: skip
    with TemporaryDirectory() as directory:
        file = Path(directory) / "dump.json"
        file.write_text(text(plain | fields, "/nowhere"))
        dump = DumpEnvironment()
        try:
            dump.install({VARIABLE: str(file)}, DEVICES.get(device))
        except DumpConfigError as error:
            found = error
        assert found.kind
        assert str(found).startswith("dump configuration: ")
        assert list(Path(directory).iterdir()) == [file]
        assert not Path("/nowhere").exists()
