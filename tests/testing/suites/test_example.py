"""``examples/extension``, installed in a place of its own by its metadata: each thing it adds is found and works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.ci import VARIABLES
from harness.devices.formats import FORMATS
from harness.devices.formats.base import StorageFormat
from tests.architecture.source import ROOT
from tests.testing.suites.example import EXAMPLE, PROJECT, installed

GROUPS = {
    "harness.backends": ("harness.backends", "BACKENDS"),
    "harness.devices": ("harness.devices", "DEVICES"),
    "harness.formats": ("harness.devices.formats", "FORMATS"),
    "harness.recorders": ("harness.rdr.recorders.base", "RECORDERS"),
    "harness.operators": ("harness.framework.ops.base", "OPERATORS"),
    "harness.replayers": ("harness.recording", "REPLAYERS"),
    "harness.measures": ("harness.compare", "MEASURES"),
    "harness.tolerances": ("harness.compare", "TOLERANCE_RULES"),
    "harness.commands": ("harness.cli.parser", "COMMANDS"),
    "harness.reports": ("harness.report", "REPORTS"),
    "harness.logs": ("harness.capture.logs", "LOGS"),
    "harness.inspect": ("harness.inspect", "RULES"),
}
#: everything in one process, because starting one takes longer than the work
PROGRAM = """
import importlib, json, pathlib, sys
import numpy as np
import harness.cli
import harness.cli.app
from harness.cli import main

groups, entries = json.loads(sys.argv[1]), json.loads(sys.argv[2])
for group, named in entries.items():
    module, name = groups[group]
    registry = getattr(importlib.import_module(module), name)
    for entry in named:
        assert entry in registry and entry in list(registry), (group, entry)
        assert registry.distribution(entry) == "msdump-tiny-extension 0.1", (group, entry)
        assert registry.left_out() == {}, group

from harness import instruments
from harness.capture import read_tree
from harness.compare import Tolerances
from harness.devices.formats import FORMATS
from harness.rdr import RdrConfig, Recorders
from harness.recording import replayer_of
from tiny_extension.engine import Chain

# a dump in the device's own format, and back (r8)
settings = {"op_debug_mode": 0, "dump_mode": 0, "path": "dump", "net_name": "T", "iteration": "all",
            "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0], "file_format": "npy"}
settings["path"] = str(pathlib.Path("dump").resolve())
pathlib.Path("dump.json").write_text(json.dumps({"common_dump_settings": settings,
                                                 "e2e_dump_settings": {"enable": True, "trans_flag": False}}))
x = np.arange(15, dtype=np.float32).reshape(3, 5)
with instruments.open("tiny-npu", engine="tinyrt 1.0", environ={"MINDSPORE_DUMP_CONFIG": "dump.json"}) as recording:
    graph = recording.eager()
    with recording.step(graph) as step:
        product = graph.operator("MatMul", "Default/a", mutates=())
        with step.launch(product, [x, x.T.copy()]) as launch:
            launch.done(x @ x.T)
found = {record.key.slot_name: record for record in read_tree("dump").records()}
given = found["input.0"]
assert np.array_equal(FORMATS.get(given.format).to_host(given.load(), x.shape), x), given
print("device", any("TILED_4X4" in path.name for path in pathlib.Path("dump").rglob("*.npy")))

# recorder
recorders = Recorders(RdrConfig(enable=True, mode=2, path="rdr"))
recorders.record("kernel_times", "RUNTIME_FRAMEWORK", "kernel_times", {"a": 1})
recorders.trigger()
print("recorder", [json.loads(path.read_text()) for path in pathlib.Path("rdr").rglob("*.json")])

# tolerance, replayer
print("tolerance", Tolerances.parse("tiny-npu").dtypes["Float32"].rtol == 2**-10)
print("replayer", type(replayer_of("tinyrt 1.0")).__name__)

# reader, measure, view, command, rule
for name, last in (("one", 4), ("other", -4)):
    pathlib.Path(f"{name}.tinylog").write_text(f"# tinyrt log\\nDefault/a/Scale-op0 Scale 1 2 3 {last}\\n")
print("diff", main(["diff", "one.tinylog", "other.tinylog", "--json", "diff.json", "--export", "diff.md"]))
print("measure", json.loads(pathlib.Path("diff.json").read_text())["slots"][0]["measures"])
print("csv", main(["diff", "one.tinylog", "other.tinylog", "-q", "--csv", "diff.csv"]),
      pathlib.Path("diff.csv").read_text().splitlines()[0].split(",")[-1])
print("view", pathlib.Path("diff.md").read_text().splitlines()[-1])
print("command", main(["tiny", "3"]), main(["tiny"]))
pathlib.Path("flat.tinylog").write_text("# tinyrt log\\nDefault/a/Scale-op0 Scale 2 2 2\\n")
print("rule", main(["inspect", "flat.tinylog", "--rules", "constant-result"]))
print("named", main(["diff", "one.tinylog", "one.tinylog", "-q", "--tolerance", "tiny-npu"]),
      main(["diff", "one.tinylog", "one.tinylog", "-q", "--tolerance", "tiny-npo"]))
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    made = tmp_path / "site"
    made.mkdir()
    return installed(made)


def run(site: Path, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environ["PYTHONPATH"] = os.pathsep.join([str(site), str(ROOT)])
    return subprocess.run(
        [sys.executable, *words], cwd=cwd, env=environ, capture_output=True, text=True, timeout=300, check=False
    )


def test_it_adds_one_of_each(site: Path, tmp_path: Path) -> None:
    entries = PROJECT["entry-points"]
    assert entries.keys() == GROUPS.keys()
    done = run(site, "-c", PROGRAM, json.dumps(GROUPS), json.dumps(entries), cwd=tmp_path)
    told = done.stdout.splitlines()
    for line in (
        "device True", "recorder [{'a': 1}]", "tolerance True", "replayer TinyReplayer", "diff 1",
        "measure {'flips': 0.25}", "csv 1 flips", "tinyrt gives 12", "command 0 2", "rule 1", "named 0 2",
    ):  # fmt: skip
        assert line in told, done.stdout + done.stderr
    assert any(line.startswith("view | Default/a/Scale-op0 |") for line in told), done.stdout
    errors = [line for line in done.stderr.splitlines() if "WARNING" not in line]
    assert errors[0] == "msdump: tiny: one number is accepted, got 0 arguments", done.stderr
    assert "'tiny-npu'" in errors[-1], "an error names the rules that there are"


@pytest.mark.long
def test_it_passes_the_suites_and_its_own_gate(site: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    shutil.copytree(EXAMPLE / "tests", work / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(EXAMPLE / "pyproject.toml", work)
    plugin = [] if "pytest_msdump.plugin" in _installed_plugins() else ["-p", "pytest_msdump.plugin"]
    for flag, told in (("--msdump-regen", "new 10"), ("--msdump", "compared 10 slots in 2 runs")):
        done = run(site, "-m", "pytest", "-q", "-p", "no:hypothesispytest", *plugin, flag, cwd=work)
        assert done.returncode == 0, done.stdout + done.stderr
        assert told in done.stdout


def _installed_plugins() -> list[str]:
    from importlib.metadata import entry_points

    return [entry.value for entry in entry_points(group="pytest11")]


def test_broken_backends_break_nothing_else(site: Path, tmp_path: Path) -> None:
    """r5: one line each, with the distribution's name; r6: a class is as good as an instance."""
    broken = {
        "absent": ("nothing_at_all:X", "No module named 'nothing_at_all'"),
        "needy": ("tiny_extension.engine:Chain", "missing 1 required positional argument: 'recording'"),
        "stranger": (
            "tiny_extension.replayer:TinyReplayer", "a subclass of harness.backends.base.Backend is accepted",
        ),
    }  # fmt: skip
    (file,) = site.rglob("entry_points.txt")
    lines = [f"{name} = {value}" for name, (value, _) in broken.items()]
    file.write_text("\n".join(["[harness.backends]", *lines, "tinyrt = tiny_extension.backend:TinyBackend", ""]))
    done = run(site, "-m", "harness.cli", "backends", cwd=tmp_path)
    assert done.returncode == 0
    assert sum(line.startswith("tinyrt ") for line in done.stdout.splitlines()) == 1
    for line, (name, (_, why)) in zip(done.stderr.splitlines(), broken.items(), strict=True):
        lead = f"msdump: backend {name!r} of distribution msdump-tiny-extension 0.1 is left out: "
        assert line.startswith(lead)
        assert why in line


def test_a_taken_name_is_one_line(site: Path, tmp_path: Path) -> None:
    (file,) = site.rglob("entry_points.txt")
    file.write_text("[harness.commands]\ncheck = tiny_extension.command:Tiny\n")
    (site / "tiny_extension" / "command.py").write_text(
        (site / "tiny_extension" / "command.py").read_text().replace('name = "tiny"', 'name = "check"')
    )
    done = run(site, "-m", "harness.cli", "--help", cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "command 'check' of distribution msdump-tiny-extension 0.1" in line
    assert "has the name of one of this project" in line


@pytest.mark.parametrize("rank", [1, 2, 3, 6])
def test_a_format_of_any_rank(rank: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """r9: shapes of fewer dimensions have ones in front."""

    class Plain(StorageFormat):
        name = "PLAIN_OF_A_RANK"

        def _device_shape(self, shape, c0, groups):
            return shape

        def _to_device(self, array, c0, groups, fill):
            return array

        def _to_host(self, array, shape, groups):
            return array

    Plain.rank = rank
    made = Plain()
    assert "PLAIN_OF_A_RANK" not in FORMATS
    monkeypatch.setitem(FORMATS._things, Plain.name, made)
    host = np.arange(6.0).reshape((1,) * max(rank - 2, 0) + ((2, 3) if rank > 1 else (6,)))
    for array in (host, host[0]) if rank > 1 else (host,):
        device = made.to_device(array)
        assert device.shape == (1,) * (rank - array.ndim) + array.shape
        assert np.array_equal(made.to_host(device, array.shape), array)


INPUTS = {
    "float8": "np.ones(3, ml_dtypes.float8_e4m3fn)",
    "longdouble": "np.ones(3, np.longdouble)",
    "bytes": "np.array([b'abc'])",
    "structured": "np.zeros(2, [('a', 'f4')])",
    "dates": "np.array(['2020'], 'M8[D]')",
    "number": "2.5",
}
UNTOUCHED = """
import ml_dtypes, numpy as np, pytest
from tiny_extension.backend import chain

GIVEN = [{values}]

@pytest.mark.msdump(backends=("tinyrt",))
def test_inputs(msdump):
    seen = []
    msdump.run(lambda *given, **named: seen.extend([*given, *named.values()]), *GIVEN, named=GIVEN[0])
    assert all(one is other for one, other in zip(seen, [*GIVEN, GIVEN[0]], strict=True))
    msdump.run(chain, np.float32([1]))
"""


@pytest.mark.long
def test_a_backend_that_compiles_nothing_gets_inputs_untouched(site: Path, tmp_path: Path) -> None:
    (tmp_path / "test_inputs.py").write_text(UNTOUCHED.replace("{values}", ", ".join(INPUTS.values())))
    plugin = [] if "pytest_msdump.plugin" in _installed_plugins() else ["-p", "pytest_msdump.plugin"]
    done = run(site, "-m", "pytest", "-q", "-p", "no:hypothesispytest", *plugin, "--msdump-regen", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
