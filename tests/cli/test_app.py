"""The ``msdump`` command: each sub-command, its exit code, its errors."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from harness import Tensor, backends, nn
from harness.backends import get
from harness.capture import read_tree
from harness.cli import main
from harness.cli.app import CANNOT_TELL, DIFFERS, HOLDS
from harness.devices import DEVICES
from harness.dump import DumpObserver, parse
from harness.store import GoldenStore, RunData, RunId, manifest, update

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """{"common_dump_settings": {"dump_mode": 0, "path": "PATH", "net_name": "net", "iteration": "all",
"saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0], "op_debug_mode": 0},
"e2e_dump_settings": {"enable": true, "trans_flag": true}}"""


class Net(nn.Cell):
    """Two operators."""

    def __init__(self, added: float) -> None:
        super().__init__()
        self.added = added

    def construct(self, x: Tensor) -> Tensor:
        return x * x + self.added


def dump(folder: Path, added: float = 1.0) -> Path:
    """A dump tree of two steps of ``Net``."""
    import dataclasses

    from harness import context

    network, x = Net(added), Tensor(np.arange(4, dtype=np.float32))
    config = dataclasses.replace(parse(CONFIG.replace("PATH", "/x"), environ={}), path=str(folder))
    mode = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    try:
        with get("cpu").open(network="net") as process:
            process.session.recording.add(DumpObserver(config))
            process.execute(lambda: [network(x) for _ in range(2)])
    finally:
        context.set_context(mode=mode)
    return folder


def store(path: Path, tree: Path, *runs: str, attrs: dict[str, object] | None = None) -> Path:
    """A golden store that holds the tree under each run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for run in runs or ("cpu/tensor",):
        capture = read_tree(tree)
        data = RunData(capture.records(), capture.artefacts, attrs or {"emulated": True})
        update(path, "net", {RunId(*run.split("/")): data})
    return path


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump tree."""
    return dump(tmp_path_factory.mktemp("tree") / "own")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with another result."""
    return dump(tmp_path_factory.mktemp("tree") / "other", added=1.5)


def text(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Output and error output since the last look."""
    return capsys.readouterr()


# --- check ---------------------------------------------------------------------------------------------------------


def test_check_holds(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = store(tmp_path / "net.h5", tree)
    assert main(["check", str(tree), str(golden)]) == HOLDS
    assert "agrees with" in text(capsys)[0]


def test_check_differs(tree: Path, other: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = store(tmp_path / "net.h5", tree)
    assert main(["check", str(other), str(golden)]) == DIFFERS
    out, _ = text(capsys)
    assert "First divergence: iteration 0, Default/Add-op0" in out
    assert f"msdump show {golden} --run cpu/tensor" in out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--rtol", "1"], HOLDS),
        (["--atol", "0.5"], HOLDS),
        (["--atol", "0.25"], DIFFERS),
        (["--exact"], DIFFERS),
        (["--exact", "--atol", "0.5"], CANNOT_TELL),
        (["--atol", "-1"], CANNOT_TELL),
        (["--atol", "nan"], CANNOT_TELL),
        (["--atol", "much"], CANNOT_TELL),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_check_with_a_tolerance(tree: Path, other: Path, tmp_path: Path, arguments: list[str], code: int) -> None:
    golden = store(tmp_path / "net.h5", tree)
    assert main(["check", *arguments, str(other), str(golden)]) == code


def test_check_takes_the_tolerance_of_the_golden(tree: Path, other: Path, tmp_path: Path) -> None:
    golden = store(tmp_path / "net.h5", tree, attrs={"emulated": True, "tolerance": {"atol": 0.5}})
    assert main(["check", str(other), str(golden)]) == HOLDS
    assert main(["check", "--exact", str(other), str(golden)]) == DIFFERS


@pytest.mark.parametrize(("emulated", "code"), [(True, DIFFERS), (False, HOLDS)])
def test_check_of_the_order(tree: Path, tmp_path: Path, emulated: bool, code: int) -> None:
    """A real device launches kernels side by side, so that its order says nothing."""
    capture = read_tree(tree)
    operators = {record.key.operator: 0 for record in capture.records()}
    backwards = {name: -at for at, name in enumerate(operators)}
    records = sorted(capture.records(), key=lambda each: (each.key.iteration, backwards[each.key.operator]))
    golden = tmp_path / "net.h5"
    update(golden, "net", {RunId("cpu", "tensor"): RunData(records, {}, {"emulated": emulated})})
    assert main(["check", str(tree), str(golden)]) == code


def test_check_chooses_the_run(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = store(tmp_path / "net.h5", tree, "cpu/tensor", "gpu/tensor")
    assert main(["check", str(tree), str(golden)]) == HOLDS
    assert main(["check", "--run", "gpu/tensor", str(tree), str(golden)]) == HOLDS
    golden = store(tmp_path / "other.h5", tree, "a/tensor", "b/tensor")
    for arguments in ([], ["--run", "cpu/tensor"], ["--run", "c"]):
        assert main(["check", *arguments, str(tree), str(golden)]) == CANNOT_TELL
        assert "a/tensor, b/tensor" in text(capsys)[1]


@pytest.mark.parametrize("wrong", ["tree", "golden", "both"])
def test_check_of_what_cannot_be_read(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: str
) -> None:
    golden = store(tmp_path / "net.h5", tree)
    (tmp_path / "text").write_text("x")
    missing = str(tmp_path / "none")
    pairs = {
        "tree": [(missing, str(golden)), (str(tmp_path), str(golden)), (str(tmp_path / "text"), str(golden))],
        "golden": [(str(tree), missing), (str(tree), str(tmp_path)), (str(tree), str(tmp_path / "text"))],
        "both": [(missing, missing)],
    }
    for given in pairs[wrong]:
        assert main(["check", *given]) == CANNOT_TELL
        out, err = text(capsys)
        assert not out
        assert err.startswith("msdump: ")
        assert "Traceback" not in err


def test_check_names_files_that_could_not_be_used(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = store(tmp_path / "net.h5", tree)
    copy = shutil.copytree(tree, tmp_path / "copy")
    file = sorted(copy.rglob("Add*.npy"))[0]
    file.chmod(0o600)
    file.write_bytes(file.read_bytes()[:-1])
    assert main(["check", str(copy), str(golden)]) == DIFFERS
    out, err = text(capsys)
    assert "1 missing" in out
    assert file.name in err


def test_check_names_a_damaged_constant(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = store(tmp_path / "net.h5", tree)
    copy = shutil.copytree(tree, tmp_path / "copy")
    folder = next(path for path in copy.rglob("*") if path.name == "0" and path.parent.name == "net") / "constants"
    folder.mkdir(exist_ok=True)
    (folder / "Parameter.data-7.npy").write_bytes(b"\x93NUMPY\x01\x00 cut off")
    assert main(["check", str(copy), str(golden)]) == CANNOT_TELL
    out, err = text(capsys)
    assert f"Not compared: 1 file of {copy} that cannot be used" in out
    assert "Parameter.data-7.npy" in err


@pytest.mark.parametrize("how", ["cut", "link"])
def test_check_does_not_pass_over_files_the_golden_lacks(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    golden = store(tmp_path / "net.h5", tree)
    copy = shutil.copytree(tree, tmp_path / "copy")
    file = sorted(copy.rglob("Add*output*.npy"))[0]
    more = file.with_name(file.name.replace("output.0", "output.1"))
    if how == "cut":
        more.write_bytes(file.read_bytes()[:-1])
    else:
        more.symlink_to(file.with_name("gone.npy"))
    assert main(["check", str(copy), str(golden)]) == CANNOT_TELL
    out, err = text(capsys)
    assert "Not compared: 1 file of" in out
    assert more.name in err


# --- show ----------------------------------------------------------------------------------------------------------


def test_show_a_store(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = store(tmp_path / "net.h5", tree, "cpu/tensor", "gpu/tensor")
    assert main(["show", str(golden)]) == HOLDS
    lines = text(capsys)[0].splitlines()
    assert lines[0] == f"{golden}: network net, schema 3"
    assert [line.split(":")[0] for line in lines if line.startswith("run ")] == ["run cpu/tensor", "run gpu/tensor"]
    assert sum("Default/Mul-op0" in line for line in lines) == 2
    assert main(["show", "--run", "gpu/tensor", "--all", str(golden)]) == HOLDS
    out = text(capsys)[0]
    assert "run cpu/tensor" not in out
    with GoldenStore.open(golden) as opened:
        assert sum("Default/" in line for line in out.splitlines()) == sum(
            key.operator.startswith("Default/") for key in opened.run("gpu", "tensor").index.keys
        )


def test_show_a_directory_of_stores(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(tmp_path / "golden" / "a" / "net.h5", tree)
    assert main(["show", str(tmp_path / "golden")]) == HOLDS
    assert "a/net.h5" in text(capsys)[0]


def test_show_a_directory_with_other_files(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "foreign.h5").write_text("not HDF5")
    assert main(["show", str(tmp_path)]) == CANNOT_TELL
    assert "foreign.h5" in text(capsys)[1]
    store(tmp_path / "net.h5", tree)
    assert main(["show", str(tmp_path)]) == HOLDS
    out = text(capsys)[0]
    assert "network" in out.splitlines()[0]
    assert any(line.startswith("net.h5") for line in out.splitlines())
    assert "foreign.h5: not a complete HDF5 file" in out


def test_show_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", ""]) == CANNOT_TELL
    assert "an empty text names no file" in text(capsys)[1]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == HOLDS
    assert text(capsys)[0].strip() == f"msdump {version('pytest-msdump')}"


@pytest.mark.parametrize("every", [[], ["--all"]])
def test_show_a_tree(tree: Path, capsys: pytest.CaptureFixture[str], every: list[str]) -> None:
    assert main(["show", *every, str(tree)]) == HOLDS
    out = text(capsys)[0]
    assert "dump tree, network net, emulated" in out
    assert "Default/Add-op0" in out


def test_show_a_tensor(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = next(tree.rglob("Mul*output.0*.npy"))
    assert main(["show", str(path)]) == HOLDS
    out = text(capsys)[0]
    assert "Float32[4]" in out
    assert str(np.load(path)) in out


def test_show_what_is_none_of_these(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY\x01\x00")
    (tmp_path / "text.txt").write_text("x")
    (tmp_path / "empty").mkdir()
    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    for name in ("bad.npy", "text.txt", "empty", "object.npy", "none"):
        assert main(["show", str(tmp_path / name)]) == CANNOT_TELL
        out, err = text(capsys)
        assert name in err
        assert not out
    golden = store(tmp_path / "net.h5", tree)
    assert main(["show", "--run", "x/y", str(golden)]) == CANNOT_TELL
    assert "cpu/tensor" in text(capsys)[1]


# --- accept, backends, regen -----------------------------------------------------------------------------------------


def test_accept(tree: Path, other: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = tmp_path / "golden"
    store(golden / "net.h5", tree)
    manifest.rebuild(golden)
    store(tmp_path / "bundle" / "net.h5", other)
    manifest.rebuild(tmp_path / "bundle")
    assert main(["accept", "--golden", str(golden), str(tmp_path / "bundle")]) == HOLDS
    out = text(capsys)[0]
    assert "run cpu/tensor" in out
    assert "0 new, 0 removed" in out
    assert main(["check", str(other), str(golden / "net.h5")]) == HOLDS
    assert manifest.stale(golden) == []


@pytest.mark.parametrize("bundle", ["none", "empty"])
def test_accept_of_no_bundle(tmp_path: Path, capsys: pytest.CaptureFixture[str], bundle: str) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["accept", "--golden", str(tmp_path / "golden"), str(tmp_path / bundle)]) == CANNOT_TELL
    assert bundle in text(capsys)[1]
    assert not (tmp_path / "golden").exists()


def test_backends(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backends"]) == HOLDS
    rows = [line.split() for line in text(capsys)[0].partition("\n\n")[0].splitlines()]
    assert rows[0][:3] == ["backend", "kind", "modes"]
    assert ["cpu", "emulated", "tensor", "yes"] in rows
    others = [row for row in rows[1:] if row[0] != "cpu" and row[0] in DEVICES]
    assert {row[0] for row in others} == set(DEVICES) - {"cpu"}
    assert all(row[1:] == ["emulated", *backends.get(row[0]).modes, "yes"] for row in others)


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "code"),
    [("    msdump.run(nn.ReLU(), X)", HOLDS), ("    assert False", DIFFERS), (None, CANNOT_TELL)],
    ids=["written", "failed", "no test"],
)
def test_regen(tmp_path: Path, body: str | None, code: int) -> None:
    if body is not None:
        imports = "import numpy as np\nfrom harness import Tensor, nn\nX = Tensor(np.ones(2, np.float32))\n"
        (tmp_path / "test_net.py").write_text(f"{imports}def test_net(msdump):\n{body}\n")
    done = msdump("regen", "-q", cwd=tmp_path)
    assert done.returncode == code
    assert (tmp_path / "golden" / "test_net" / "test_net.h5").exists() == (code == HOLDS)


# --- usage ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [["nothing"], ["check"], ["check", "a"], ["--bad"], ["show", "--bad", "x"], ["run"], []],
    ids=" ".join,
)
def test_wrong_usage(arguments: list[str]) -> None:
    assert main(arguments) == CANNOT_TELL


@pytest.mark.parametrize("command", ["", "regen", "accept", "check", "show", "run", "backends"])
def test_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--help"]) == HOLDS
    assert "Usage: msdump" in text(capsys)[0]


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from harness.cli import main; main(['--help']);"
        "print([n for n in ('numpy', 'h5py', 'rich.table', 'pydantic') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "code", "loaded"),
    [(0, HOLDS, []), (1, DIFFERS, ["harness.explain.build"])],
)
def test_a_comparison_that_holds_loads_no_operators(change: int, code: int, loaded: list[str], tmp_path: Path) -> None:
    """Neither the framework, nor what explains, nor what shares work: those are most of the start."""
    for name, number in (("one", 0), ("other", change)):
        place = tmp_path / name / "rank_0" / "Net" / "0" / "0"
        place.mkdir(parents=True)
        np.save(place / "Add.op0.0.0.1700000000000000.output.0.DefaultFormat.Float32.npy", np.float32([number]))
    heavy = ("harness.explain.build", "harness.framework.ops", "harness.scale.driver", "asyncio")
    program = (
        "import sys; from harness.cli import main; code = main(['diff', 'one', 'other']);"
        f"print(code, [n for n in {heavy} if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == f"{code} {loaded}"


@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_reader_that_is_gone(lines: int) -> None:
    """What fills the buffer fails while it is printed, what does not at its end."""
    code = (
        f"import sys; from harness.cli.app import _guarded; sys.exit(_guarded(lambda: print('line\\n' * {lines}) or 0))"
    )
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-c", code]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(command, cwd=ROOT, env=buffered, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.stderr, done.returncode) == ("", CANNOT_TELL)


def msdump(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Runs the command in a process of its own, outside CI."""
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "GITHUB_ACTIONS", "PYTEST_ADDOPTS")}
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", *arguments],
        cwd=cwd, env={**kept, "PYTHONPATH": str(ROOT), **environ}, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("command", [["show"], ["check"], ["accept"]])
def test_names_no_file_can_have(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [*command, str(tmp_path / ("a" * 5000)), *([str(tmp_path / "x.h5")] if command == ["check"] else [])]
    assert main(arguments) == CANNOT_TELL
    assert capsys.readouterr().err.startswith("msdump: ")


def test_a_defect_does_not_say_that_something_differs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("harness.cli.show.show_path", lambda *_: [][0])
    assert main(["show", str(tmp_path)]) == CANNOT_TELL
    assert "IndexError" in capsys.readouterr().err
