"""What ``python -m build`` makes, installed in clean environments: complete, small, and the examples run from it."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Sequence
from email.parser import Parser
from pathlib import Path

import pytest

import harness
from harness.report.rendering import LIBRARY_VERSION
from tests.docs.examples import FAULTS, holds_and_sees_a_fault
from tests.subprocesses import ROOT

# With a least version, for the checkout may hold a folder `build` (mkdocs writes there), and Python imports that too.
pytest.importorskip("build", minversion="1.2", reason="the package `build` is not installed (tox -e release)")
pytest.importorskip("twine", reason="twine is not installed (tox -e release)")
VERSION = harness.__version__
SDIST_LIMIT = 5_000_000
#: repository -> what its README installs
EXTRAS = {"mindspore-style": "", "numpy": "", "pytorch": "[torch]"}


def run(words: Sequence[str], directory: Path) -> subprocess.CompletedProcess[str]:
    """A command outside this checkout: no path of it is inherited. Never raises for its exit code."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST_", "VIRTUAL_ENV"))}
    return subprocess.run(
        words, cwd=directory, env=kept, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def must(words: Sequence[str], directory: Path) -> str:
    """What a command prints that has to succeed."""
    done = run(words, directory)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel, built from the sdist, and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    must([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], folder)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def environment(folder: Path, requirement: str) -> Path:
    """The interpreter of a new environment that has ``requirement``."""
    must([sys.executable, "-m", "venv", str(folder)], folder.parent)
    python = folder / "bin" / "python"
    must([str(python), "-m", "pip", "install", "--quiet", requirement], folder.parent)
    return python


def test_the_wheel_holds_its_packages_and_nothing_else(built: tuple[Path, Path]) -> None:
    wheel, _ = built
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/", 1)[0] for name in names}
    assert tops == {"harness", "harness-stubs", "pytest_msdump", f"pytest_msdump-{VERSION}.dist-info"}
    assert not [name for name in names if "/tests/" in name or name.endswith((".pyc", ".h5"))]
    checkout = {
        path.relative_to(place).as_posix()
        for place, package in ((ROOT, "harness"), (ROOT / "stubs", "harness-stubs"), (ROOT, "pytest_msdump"))
        for path in (place / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert checkout - set(names) == set()


def test_two_builds_are_equal_byte_for_byte(built: tuple[Path, Path], tmp_path: Path) -> None:
    must([sys.executable, "-m", "build", "--outdir", str(tmp_path), str(ROOT)], tmp_path)
    for first in built:
        assert (tmp_path / first.name).read_bytes() == first.read_bytes(), first.name


def test_the_bill_of_materials_names_all_that_the_wheel_needs(built: tuple[Path, Path]) -> None:
    wheel, _ = built
    script = str(ROOT / "ci" / "sbom.py")
    bills = [must([sys.executable, script, str(wheel)], wheel.parent) for _ in range(2)]
    assert bills[0] == bills[1]
    found = json.loads(bills[0])
    assert found["metadata"]["component"]["hashes"][0]["content"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = declared["optional-dependencies"].values()
    needed = {re.split(r"[<>=!~\[; ]", each)[0] for each in [*declared["dependencies"], *itertools.chain(*extras)]}
    named = {each["name"] for each in found["components"]}
    assert {each.lower().replace("_", "-") for each in needed} <= {each.lower().replace("_", "-") for each in named}
    carried = [name for name in zipfile.ZipFile(wheel).namelist() if "/vendor/" in name and name.endswith(".js")]
    located = [each["evidence"]["occurrences"][0]["location"] for each in found["components"] if "evidence" in each]
    assert sorted(located) == sorted(carried)
    assert f"@dagrejs/dagre@{LIBRARY_VERSION}".replace("@d", "%40d", 1) in bills[0]


def test_the_sdist_is_small_and_holds_its_tests(built: tuple[Path, Path]) -> None:
    _, sdist = built
    assert sdist.stat().st_size <= SDIST_LIMIT
    with tarfile.open(sdist) as archive:
        seconds = {Path(name).parts[1] for name in archive.getnames() if len(Path(name).parts) > 1}
    assert not seconds & {"golden", "benchmarks", ".ci"}
    assert {
        "tests",
        "examples",
        "ci",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CITATION.cff",
        "docs",
        "harness",
        "pytest_msdump",
    } <= seconds


def test_metadata(built: tuple[Path, Path]) -> None:
    must([sys.executable, "-m", "twine", "check", "--strict", *map(str, built)], built[0].parent)
    with zipfile.ZipFile(built[0]) as archive:
        text = archive.read(f"pytest_msdump-{VERSION}.dist-info/METADATA").decode()
    metadata = Parser().parsestr(text)
    assert (metadata["Name"], metadata["Version"]) == ("pytest-msdump", VERSION)
    assert (
        "pytest_msdump"
        in zipfile.ZipFile(built[0]).read(f"pytest_msdump-{VERSION}.dist-info/entry_points.txt").decode()
    )


def test_the_sdist_runs_its_tests(built: tuple[Path, Path], tmp_path: Path) -> None:
    """Those of the store, the command and the plugin that need no other checkout."""
    with tarfile.open(built[1]) as archive:
        archive.extractall(tmp_path, filter="data")
    (home,) = tmp_path.iterdir()
    python = environment(tmp_path / "venv", f"{home}[test]")
    chosen = ["tests/store", "tests/plugin/test_check.py", "tests/plugin/test_empty.py", "tests/plugin/test_init.py"]
    must([str(python), "-m", "pytest", "-q", "-n", "2", *chosen], home)


def test_links_lead_to_the_home_that_a_build_is_given(tmp_path: Path) -> None:
    home = "https://example.org/me/pytest-msdump"
    done = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(ROOT)],
        env={**os.environ, "MSDUMP_HOME": home}, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    text = zipfile.ZipFile(wheel).read(f"pytest_msdump-{VERSION}.dist-info/METADATA").decode()
    assert f"Project-URL: Source, {home}\n" in text
    assert f"]({home}/blob/main/docs/" in text


@pytest.mark.parametrize("extra", sorted(set(EXTRAS.values())))
def test_examples_run_from_the_wheel(extra: str, built: tuple[Path, Path], tmp_path: Path) -> None:
    assert EXTRAS.keys() == FAULTS.keys()
    python = environment(tmp_path / "venv", f"{built[0]}{extra}")
    assert must([str(python.parent / "msdump"), "--version"], tmp_path).split()[-1] == VERSION
    for name in (name for name, needed in EXTRAS.items() if needed == extra):
        holds_and_sees_a_fault(
            name, tmp_path / name, lambda words, home: run([str(python), "-m", "pytest", *words], home)
        )


def test_an_example_runs_from_the_sdist(built: tuple[Path, Path], tmp_path: Path) -> None:
    python = environment(tmp_path / "venv", str(built[1]))
    holds_and_sees_a_fault(
        "numpy", tmp_path / "numpy", lambda words, home: run([str(python), "-m", "pytest", *words], home)
    )
