"""Scripts as tutorials have them, unchanged under ``msdump run`` and under the real MindSpore 2.10.0.

What they print agrees (numbers to 1e-5), datasets and initial weights bit for bit, AlexNet's dump tree slot by slot.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.differential.side import Side
from tests.interop.table import Table
from tests.interop.trees import HERE, ROOT, compared, dump_environment

pytestmark = pytest.mark.interop

TUTORIALS = HERE / "tutorials"
NAMES = (
    "quickstart", "linear", "lenet", "resnet", "sentiment", "transfer", "gan", "functional", "rates", "autoencoder",
    "pipelines",
)  # fmt: skip
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")


class Sides(NamedTuple):
    """A directory with the image files for each side, and what runs a script there."""

    own: Path
    real: Path
    both: tuple[Side, Side]

    def printed(
        self, script: Path, arguments: Sequence[object] = (), dumps: Sequence[str] = ("", "")
    ) -> tuple[str, str]:
        """What the script prints: (own, real). ``dumps``: the configuration of the dump of each side."""
        own, real = (
            side.printed(
                script, folder, *arguments, PYTHONPATH=str(ROOT), MSDUMP_PROGRESS="0",
                **({"MINDSPORE_DUMP_CONFIG": dump} if dump else {}),
            )
            for side, folder, dump in zip(self.both, (self.own, self.real), dumps, strict=True)
        )  # fmt: skip
        return own, real


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory, both: tuple[Side, Side]) -> Iterator[Sides]:
    """Both directories; the files are there once, and only as long as the tests run."""
    own, real = (tmp_path_factory.mktemp(side) for side in ("own", "real"))
    subprocess.run([sys.executable, str(TUTORIALS / "files.py"), str(own)], check=True)
    for name in ("cifar-10-batches-bin", "MNIST_Data"):
        (real / name).symlink_to(own / name)
    yield Sides(own, real, both)
    shutil.rmtree(own)


@pytest.fixture(scope="module")
def results(sides: Sides) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Lines of every tutorial: (own, real)."""
    sides.printed(TUTORIALS / "play.py", ["results.json", *NAMES])
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
    own, real = (side.splitlines() for side in sides.printed(TUTORIALS / "initial.py"))
    assert len(real) > 500
    assert own == real


def test_datasets_and_transforms_have_equal_bits(sides: Sides) -> None:
    sides.printed(HERE / "dataset_facts.py", ["facts.json"])
    own, real = ((side / "facts.json").read_text() for side in (sides.own, sides.real))
    assert own == real == (ROOT / "tests" / "data" / "dataset" / "facts.json").read_text()


def test_alexnet(sides: Sides, tmp_path: Path, interop_table: Table) -> None:
    """An eighth of its channels, two steps of two pictures."""
    dumps = [dump_environment(tmp_path / name)["MINDSPORE_DUMP_CONFIG"] for name in ("own", "real")]
    own, real = sides.printed(TUTORIALS / "alexnet.py", [2, 8], dumps)
    assert NUMBER.sub("#", own) == NUMBER.sub("#", real)
    assert [float(each) for each in NUMBER.findall(own)] == pytest.approx(
        [float(each) for each in NUMBER.findall(real)], rel=1e-5
    )
    found = compared(tmp_path / "own" / "tree", tmp_path / "real" / "tree")
    shutil.rmtree(tmp_path)
    interop_table.section("Scripts").add("AlexNet on CIFAR-10", found)
    assert found.slots > 500
    assert not found.faults, "\n".join(found.faults[:40])
