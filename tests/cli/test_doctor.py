"""``msdump doctor``; large goldens; the command beside another package of our name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.ci import STATED, VARIABLES
from harness.cli import main
from harness.cli.app import CANNOT_TELL, DIFFERS, HOLDS
from harness.store import RunData, manifest, update
from harness.store.sizes import large
from tests.cli.test_app import dump
from tests.store.helpers import CPU, record
from tests.subprocesses import ROOT


@pytest.fixture(autouse=True)
def outside_of_ci(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def told(capsys: pytest.CaptureFixture[str], code: int, *words: str) -> str:
    capsys.readouterr()
    assert main(["doctor", *words]) == code
    return capsys.readouterr().out


def test_it_names_what_is_left_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = told(capsys, DIFFERS)
    assert "to do  pytest: no configuration in .\n" in out
    assert "to do  goldens: none in golden\n" in out
    assert main(["init"]) == HOLDS
    update(tmp_path / "golden" / "net.h5", "Net", {CPU: RunData([record(np.arange(3.0))])})
    assert "to do  manifests: 1 golden without one, first net.h5\n         msdump verify --fix golden\n" in told(
        capsys, DIFFERS
    )
    manifest.rebuild(tmp_path / "golden")
    monkeypatch.setenv(STATED, "true")
    out = told(capsys, HOLDS)
    assert f"well   CI: yes, {STATED}=true: no session writes a golden here\n" in out
    assert out.endswith("nothing to do\n")
    (tmp_path / "tests" / "deep").mkdir()
    assert told(capsys, HOLDS, "tests/deep") == out
    assert main(["doctor", "missing"]) == CANNOT_TELL


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("[testenv]\npass_env =\n    HOME\n    CI\n", True),
        ("[testenv]\npassenv = *\n", True),
        ("[testenv]\npass_env = CIRCLE\n", False),
        ("[testenv]\ncommands = pytest\n", False),
        ("[tox]\n", None),
        ("broken", None),
    ],
)
def test_tox_that_hides_ci_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, passes: bool | None
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "tox.ini").write_text(text)
    out = told(capsys, DIFFERS)
    assert ("tox: tox.ini passes CI on" in out) is (passes is True)
    assert ("[testenv]: pass_env = CI" in out) is (passes is False)


def test_an_imported_golden_has_its_manifest(tmp_path: Path) -> None:
    tree = dump(tmp_path / "tree")
    (tmp_path / "kept").mkdir()
    assert main(["import", str(tree), "kept/x.h5"]) == HOLDS
    assert (tmp_path / "kept" / "x.manifest.json").exists()
    assert main(["verify", "kept"]) == HOLDS
    assert main(["import", str(tree), "kept/x.h5", "--run", "again"]) == HOLDS
    assert main(["verify", "kept"]) == HOLDS


def test_large_goldens_are_told_with_what_to_do(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.h5").write_bytes(bytes(number * 100))
    paths = [tmp_path / f"{number}.h5" for number in range(5)]
    (line,) = large(paths, 100)
    assert line.startswith(f"large: {paths[4]} (0 MB), {paths[3]} (0 MB), {paths[2]} (0 MB) and 1 more; level digest ")
    assert not list(large(paths))
    assert not list(large([tmp_path / "missing"], 1))


def test_the_command_works_beside_another_package_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "__init__.py").write_text("raise RuntimeError('the wrong one')\n")
    program = "import sys; from pytest_msdump.command import main; code = main(['--version']); "
    program += "sys.exit(code or 'pytest' in sys.modules)"
    found = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    done = subprocess.run([sys.executable, "-c", program], env=found, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:7], done.stderr) == (0, "msdump ", "")


@pytest.mark.parametrize("theirs", ["", "raise RuntimeError('the wrong one')\n"])
def test_an_overwritten_package_is_one_line(tmp_path: Path, theirs: str) -> None:
    """A distribution that is called harness, installed over ours: the command and the plugin say so, nothing else."""
    (tmp_path / "site" / "harness").mkdir(parents=True)
    shutil.copytree(ROOT / "pytest_msdump", tmp_path / "site" / "pytest_msdump")
    for name in ("registry", "errors"):  # what the other one did not overwrite
        shutil.copy(ROOT / "harness" / f"{name}.py", tmp_path / "site" / "harness")
    info = tmp_path / "site" / "harness-0.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: harness\nVersion: 0.3\n")
    (info / "top_level.txt").write_text("harness\n")
    (tmp_path / "site" / "harness" / "__init__.py").write_text(theirs)
    (tmp_path / "test_a.py").write_text("def test_a(msdump): pass\n\n\ndef test_b(): pass\n")
    found = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    program = "import sys; from pytest_msdump.command import main; sys.exit(main(['--version']))"
    run = {"env": found, "cwd": tmp_path, "capture_output": True, "text": True, "check": False}
    done = subprocess.run([sys.executable, "-P", "-c", program], **run)
    (line,) = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    place = tmp_path / "site" / "harness" / "__init__.py"
    assert line.startswith(f"msdump: distribution harness has overwritten {place}, which is pytest-msdump's; ")
    words = ["-P", "-m", "pytest", "-p", "pytest_msdump.plugin", "--msdump", "-q"]
    done = subprocess.run([sys.executable, *words], **run)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 passed, 1 error" in done.stdout
    assert line in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
