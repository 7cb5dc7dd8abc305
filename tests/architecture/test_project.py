"""README, packaging, tox and the CI script say the same."""

from __future__ import annotations

import configparser
import re
import runpy
import shlex
import subprocess
import tomllib
from importlib import import_module
from importlib.metadata import distribution

import pytest

from tests.architecture.source import ROOT
from tests.interop.oracles import ORACLES
from tests.subprocesses import INSTALLED

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
GOLDEN_BYTES = 15_400_000


def blocks() -> list[str]:
    """README's shell blocks."""
    return re.findall(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)


def block_of_ci(number: int) -> str:
    """What ``.ci/run`` takes for README's block ``number``."""
    script = (ROOT / ".ci" / "run").read_text()
    function = re.search(r"^block\(\) \{\n.*?^\}$", script, re.MULTILINE | re.DOTALL)
    assert function is not None
    command = f"{function[0]}\nblock {number}"
    return subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_ci_runs_the_blocks_of_the_readme_word_for_word() -> None:
    first, second, *_ = blocks()
    assert block_of_ci(1) == first
    assert block_of_ci(2) == second
    assert block_of_ci(len(blocks()) + 1) == ""


def test_ci_says_what_failed_and_how_long_each_part_took() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    names = re.search(r"^failed=.*?^TIMEFORMAT=.*?$", script, re.MULTILINE | re.DOTALL)
    function = re.search(r"^run\(\) \{\n.*?^\}$", script, re.MULTILINE | re.DOTALL)
    assert names is not None
    assert function is not None
    parts = """
    run busy 'echo out; echo error >&2; for ((i = 0; i < 300000; i++)); do :; done'
    run "wrong, too" 'false; echo never'
    run killed 'kill -9 $$'
    printf '[%s]\\n%s' "$failed" "$times"
    """
    command = "\n".join(["set -euo pipefail", names[0], function[0], parts])
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    said, _, table = done.stdout.partition("[wrong, too, killed]\n")
    assert [line for line in said.splitlines() if line] == ["=== busy", "out", "=== wrong, too", "=== killed"]
    assert done.stderr == "error\n"
    rows = [re.fullmatch(r" *(\d+) +(\d+)  (.*)", line) for line in table.splitlines()]
    assert [row and row[3] for row in rows] == ["busy", "wrong, too", "killed"]


def test_each_block_sets_itself_up_and_ends_with_pytest() -> None:
    for block in blocks()[:2]:
        commands = [shlex.split(line) for line in block.splitlines()]
        assert commands[0] == ["python3", "-m", "venv", ".venv"]
        assert commands[1][:2] == [".venv/bin/pip", "install"]
        assert commands[-1][0] == ".venv/bin/pytest"
    assert "--msdump tests/gate" in blocks()[0]


@pytest.mark.skipif(not INSTALLED, reason="this distribution is not installed here; pip install -e .")
def test_installed_entry_points_can_be_loaded() -> None:
    points = {(point.group, point.name): point.value for point in distribution("pytest-msdump").entry_points}
    assert points == {
        ("pytest11", "msdump"): PROJECT["entry-points"]["pytest11"]["msdump"],
        ("console_scripts", "msdump"): PROJECT["scripts"]["msdump"],
    }
    for value in points.values():
        module, _, name = value.partition(":")
        assert callable(getattr(import_module(module), name)) if name else import_module(module)


def test_tox_names_the_variable_of_every_oracle() -> None:
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini")
    given = dict(line.split(" = ") for line in tox["testenv:interop"]["set_env"].strip().splitlines())
    for name, oracle in ORACLES.items():
        assert given[oracle.variable] == "{work_dir}{/}oracles{/}" + name + "{/}bin{/}python"


def test_readme_and_docs_link_to_files_that_exist() -> None:
    made = {ROOT / "docs" / name for name in runpy.run_path(str(ROOT / "docs" / "hooks.py"))["MADE"]}
    wrong = []
    for page in (ROOT / "README.md", ROOT / "benchmarks" / "README.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists() and page.parent / target not in made:
                wrong.append(f"{page.relative_to(ROOT)}: {target}")
    assert not wrong, wrong


def test_goldens_stay_small() -> None:
    sizes = {path.relative_to(ROOT): path.stat().st_size for path in (ROOT / "golden").rglob("*") if path.is_file()}
    assert sum(sizes.values()) <= GOLDEN_BYTES, sizes


def test_source_names_no_machine() -> None:
    homes = tuple(f"/{name}/" for name in ("root", "work"))
    found = []
    for directory in ("harness", "pytest_msdump", "tests", "benchmarks", "docs", "golden", ".ci"):
        for path in (ROOT / directory).rglob("*"):
            if path.is_file() and path.suffix in (".py", ".md", ".json", ".ir", ".csv", ".ini", ""):
                text = path.read_text(encoding="utf-8", errors="replace")
                found += [
                    f"{path.relative_to(ROOT)}: {home}" for home in homes if re.search(rf"(?<![\w.}}]){home}", text)
                ]
    assert not found, found
