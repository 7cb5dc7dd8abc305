"""The configuration cases measured on MindSpore 2.10.0 (data/config_cases.json): outcome, warnings, files, labels.

Each case goes the whole way: environment variable, file, first compilation, the net the case was measured with.
"""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest

from harness.dump.environment import DumpEnvironment
from harness.errors import DumpConfigError
from tests.dump.build import DATA, measured_net, npy_files

MEASURED = json.loads((DATA / "config_cases.json").read_text())
CASES: list[dict[str, Any]] = MEASURED["cases"]

# What the log must say for each measured warning (None: it comes from set_dump, which is not part of a dump).
WARNINGS = {
    "kernels entry matched nothing (printed at exit)": "matched nothing",
    "no e2e_dump_settings section: 'there will be no data' alert (3 lines, about 1 s pause after each; on CPU data "
    "IS dumped)": "has no e2e_dump_settings",
    "exception dump unsupported on CPU": "not supported on cpu",
    "exception dump unsupported on CPU (once per operator run)": "writes parameters only on CPU",
    "exception dump: iteration forced to all": "forces iteration",
    "exception dump: saved_data forced to tensor": "forces saved_data",
    "op_debug_mode 3: input_output forced to 0": "forces input_output",
    "op_debug_mode!=0: dump_mode forced to 0": "forces dump_mode",
    "raw config text logged before the parse error": "cannot be read from here on",
    "directory/file creation errors are logged, training goes on": "nothing is dumped there",
    "number too large for 64 bits: treated as not in range (one ERROR line per check)": "over 64 bits",
    "python UserWarning from set_dump: device_target CPU not supported, only Ascend (call still takes effect on "
    "flags)": None,
}


def config_text(case: dict[str, Any], root: Path) -> str:
    """The case's configuration with ``{root}`` filled in."""
    if "text" in case:
        text: str = case["text"]
    else:
        config = json.loads(json.dumps(MEASURED["base"]))
        for key, value in case.get("change", {}).items():
            section, _, field = key.partition(".")
            target = config.setdefault(section, {}) if field else config
            if value == "<absent>":
                del target[field or section]
            else:
                target[field or section] = value
        text = json.dumps(config)
    return text.replace("{root}", str(root))


def environment(case: dict[str, Any], root: Path) -> dict[str, str]:
    """Writes the file and gives the variables of the case."""
    given = {key: value.replace("{root}", str(root)) for key, value in case.get("env", {}).items()}
    file = root / given.pop("config_file_name", "c.json")
    file.write_bytes(config_text(case, root).encode("utf-8", "surrogatepass"))
    variable = given.pop("MINDSPORE_DUMP_CONFIG", str(file))
    if variable == str(root / "env_dir"):
        (root / "env_dir").mkdir()
    return given if variable == "<unset>" else given | {"MINDSPORE_DUMP_CONFIG": variable}


def drive(case: dict[str, Any], dump: DumpEnvironment, variables: dict[str, str]) -> None:
    """Runs the case's net for its steps; the switches of ``python`` are those of the measured script."""
    switches = case.get("python", [])
    for switch in switches:
        if switch.startswith("initer:"):
            dump.set_initial_iteration(int(switch.partition(":")[2]))
    net = measured_net(case["net"])
    observer = dump.install(variables)
    if observer is not None:
        observer.graph_declared(net.graph)
    for step in range(case["steps"]):
        if observer is not None:
            net.run(observer)
        if "dumpstep" in switches:
            dump.step(1)
        if "dumpstep2" in switches and step % 2 == 1:
            dump.step(2)
    dump.forget()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blocked_by_a_file").write_text("a file in the way")
    before = sorted(tmp_path.rglob("*"))
    variables = environment(case, tmp_path)
    with caplog.at_level(logging.WARNING, logger="harness"):
        if "kind" in case:
            with pytest.raises(DumpConfigError) as caught:
                drive(case, DumpEnvironment(), variables)
            assert caught.value.kind == case["kind"]
            assert isinstance(caught.value, RuntimeError)
            made = set(tmp_path.rglob("*")) - set(before)
            assert all(path.suffix.lower() == ".json" or path.name == "env_dir" for path in made)
        else:
            drive(case, DumpEnvironment(), variables)
            check_tree(case, tmp_path)
    for warning in case.get("warnings", []):
        expected = WARNINGS[warning]
        assert expected is None or expected in caplog.text


def check_tree(case: dict[str, Any], root: Path) -> None:
    """Files, labels, types, names and the global execution order are those that were measured."""
    files = npy_files(root)
    assert len(files) == case["files"]
    assert sorted({int(path.parent.name) for path in files}) == sorted(case["iterations"])
    if "types" in case:
        assert sorted({path.name.split(".")[0] for path in files}) == case["types"]
    operators = {path.name.split(".")[5] for path in files if not path.name.startswith("Parameter.")}
    if "io" in case:
        assert sorted(operators) == case["io"]
    if "names" in case:
        assert sorted({re.sub(r"\.\d{16}\.", ".TS.", path.name) for path in files}) == case["names"]
    orders = {path.name: path.read_text().split() for path in root.rglob("ms_global_execution_order_graph_*.csv")}
    if "order" in case:
        assert orders == {f"ms_global_execution_order_{name}": labels for name, labels in case["order"].items()}
    if not case["iterations"] and "order" not in case:
        assert not orders


def test_every_warning_that_was_measured_is_known() -> None:
    assert {warning for case in CASES for warning in case.get("warnings", [])} == set(WARNINGS)
