"""Scripts as tutorials have them, unchanged under ``msdump run`` and under the real MindSpore 2.10.0.

What they print agrees (numbers to 1e-5), datasets and initial weights bit for bit, AlexNet's dump tree slot by slot.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.interop.table import Table
from tests.interop.trees import HERE, ROOT, compared, dump_environment

pytestmark = pytest.mark.interop

TUTORIALS = HERE / "tutorials"
NAMES = (
    "quickstart", "linear", "lenet", "resnet", "sentiment", "transfer", "gan", "functional", "rates", "autoencoder",
    "pipelines",
)  # fmt: skip
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")
OWN = (sys.executable, "-m", "harness.cli", "run")


class Sides(NamedTuple):
    """A directory with the image files for each side, and what runs a script there."""

    own: Path
    real: Path
    python: str

    def both(self, script: Path, arguments: Sequence[object] = (), **environments: dict[str, str]) -> tuple[str, str]:
        """What the script prints: (own, real)."""
        commands = (("own", OWN, self.own), ("real", (self.python,), self.real))
        own, real = (
            printed([*command, str(script), *map(str, arguments)], directory, environments.get(side))
            for side, command, directory in commands
        )
        return own, real


def printed(command: Sequence[str], directory: Path, environment: dict[str, str] | None) -> str:
    given = {**(environment or os.environ), "PYTHONPATH": str(ROOT), "GLOG_v": "4", "MSDUMP_PROGRESS": "0"}
    done = subprocess.run(command, cwd=directory, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.args}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory, mindspore_python: str) -> Iterator[Sides]:
    """Both directories; the files are there once, and only as long as the tests run."""
    own, real = (tmp_path_factory.mktemp(side) for side in ("own", "real"))
    subprocess.run([sys.executable, str(TUTORIALS / "files.py"), str(own)], check=True)
    for name in ("cifar-10-batches-bin", "MNIST_Data"):
        (real / name).symlink_to(own / name)
    yield Sides(own, real, mindspore_python)
    shutil.rmtree(own)


@pytest.fixture(scope="module")
def results(sides: Sides) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Lines of every tutorial: (own, real)."""
    sides.both(TUTORIALS / "play.py", ["results.json", *NAMES])
    own, real = (json.loads((side / "results.json").read_text()) for side in (sides.own, sides.real))
    return own, real


@pytest.mark.parametrize("name", NAMES)
def test_printed_lines(name: str, results: tuple[dict[str, list[str]], dict[str, list[str]]]) -> None:
    own, real = ([line for line in side[name] if "epoch time" not in line] for side in results)
    assert len(real) > 5
    assert "Error" not in real[-1]
    assert [NUMBER.sub("#", line) for line in own] == [NUMBER.sub("#", line) for line in real]
    for line, other in zip(own, real, strict=True):
        numbers, wanted = ([float(number) for number in NUMBER.findall(each)] for each in (line, other))
        assert numbers == pytest.approx(wanted, rel=1e-5, abs=1e-5), f"{line}\n{other}"


def test_initial_weights_have_equal_bits(sides: Sides) -> None:
    own, real = (side.splitlines() for side in sides.both(TUTORIALS / "initial.py"))
    assert len(real) > 500
    assert own == real


def test_datasets_and_transforms_have_equal_bits(sides: Sides) -> None:
    sides.both(HERE / "dataset_facts.py", ["facts.json"])
    own, real = ((side / "facts.json").read_text() for side in (sides.own, sides.real))
    assert own == real == (ROOT / "tests" / "data" / "dataset" / "facts.json").read_text()


def test_alexnet(sides: Sides, tmp_path: Path, interop_table: Table) -> None:
    """An eighth of its channels, two steps of two pictures."""
    environments = {side: dump_environment(tmp_path / side) for side in ("own", "real")}
    own, real = sides.both(TUTORIALS / "alexnet.py", [2, 8], **environments)
    assert NUMBER.sub("#", own) == NUMBER.sub("#", real)
    assert [float(each) for each in NUMBER.findall(own)] == pytest.approx(
        [float(each) for each in NUMBER.findall(real)], rel=1e-5
    )
    found = compared(tmp_path / "own" / "tree", tmp_path / "real" / "tree")
    shutil.rmtree(tmp_path)
    interop_table.section("Scripts").add("AlexNet on CIFAR-10", found)
    assert found.slots > 500
    assert not found.faults, "\n".join(found.faults[:40])
