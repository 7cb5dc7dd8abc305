"""Whole sessions in drawn surroundings: the same golden bytes, the same verdicts in the same words.

Drawn are hash seed, time zone, locale, umask, ``-O``, working directory, HOME, processor features, threads, and the
Python: this one, and those of ``MSDUMP_PYTHONS`` (interpreters that have this project, with ``:`` between). Each
two values of any two come together in one of the sessions.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.ci import VARIABLES as CI_VARIABLES

pytestmark = pytest.mark.deep

ROOT = Path(__file__).parents[2]
TESTS = """
import os
import numpy as np
import pytest
from harness import Tensor, nn, ops

pytestmark = pytest.mark.msdump
ADDED = float(os.environ["ADDED"])


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.fc = nn.Dense(4 * 36, 5)

    def construct(self, x):
        x = ops.relu(self.norm(self.conv(x)) + ADDED)
        return ops.softmax(self.fc(x.reshape((x.shape[0], -1))))


@pytest.mark.parametrize("seed", [0, 1])
def test_net(msdump, seed):
    data = np.random.default_rng(seed).normal(size=(2, 3, 6, 6)).astype(np.float32)
    msdump.run(Net(), Tensor(data))


def test_values(msdump):
    names = {"sum", "größe", "\\u4e2d", "b", "a"}
    msdump.check("table", {name: np.float64(len(name)) / 3 + ADDED for name in names})
"""
DIMENSIONS: dict[str, list[Any]] = {
    "python": [sys.executable, *filter(None, os.environ.get("MSDUMP_PYTHONS", "").split(os.pathsep))],
    "PYTHONHASHSEED": ["0", "1", "4242"],
    "TZ": ["UTC", "Asia/Kathmandu", "America/St_Johns"],
    "LC_ALL": ["C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8"],
    "umask": [0o022, 0o077, 0o002],
    "flags": [[], ["-O"], ["-OO"], ["-X", "utf8=0"]],
    "cwd": [".", "below", "beside"],
    "HOME": ["kept", "unset", "none", "read-only"],
    "OPENBLAS_CORETYPE": ["", "Nehalem", "Haswell"],
    "NPY_DISABLE_CPU_FEATURES": ["", "AVX2 FMA3", "AVX512F"],
    "OPENBLAS_NUM_THREADS": ["1", "7"],
}


def pairwise(dimensions: dict[str, list[Any]], draw: random.Random) -> Iterator[dict[str, Any]]:
    """Combinations in which each two values of any two dimensions come together; the first values of all come first."""
    wanted = {
        ((one, first), (two, second))
        for one, two in itertools.combinations(dimensions, 2)
        for first in range(len(dimensions[one]))
        for second in range(len(dimensions[two]))
    }
    chosen = dict.fromkeys(dimensions, 0)
    while True:
        yield {name: dimensions[name][at] for name, at in chosen.items()}
        wanted -= set(itertools.combinations(chosen.items(), 2))
        if not wanted:
            return
        tries = [{name: draw.randrange(len(values)) for name, values in dimensions.items()} for _ in range(60)]
        for each in tries:
            each.update(dict(draw.choice(sorted(wanted))))
        chosen = max(tries, key=lambda each: len(wanted & set(itertools.combinations(each.items(), 2))))


def test_pairs_are_complete() -> None:
    small = {"a": [1, 2, 3], "b": [1, 2], "c": [1, 2]}
    found = list(pairwise(small, random.Random(0)))
    for one, two in itertools.combinations(small, 2):
        assert {(each[one], each[two]) for each in found} == set(itertools.product(small[one], small[two]))


def session(folder: Path, surroundings: dict[str, Any], added: str, *arguments: str) -> dict[str, Any]:
    """A session of pytest; gives what its tests' reports say."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    cwd = {".": folder / "project", "below": folder / "project" / "below", "beside": folder / "beside"}
    cwd[surroundings["cwd"]].mkdir(parents=True, exist_ok=True)
    start = cwd[surroundings["cwd"]]
    environ = {name: value for name, value in os.environ.items() if name not in (*CI_VARIABLES, "HOME")}
    environ |= {name: value for name, value in surroundings.items() if name.isupper() and name != "HOME" and value}
    environ |= {"HOME": {"kept": str(home), "none": "/nowhere/at/all", "read-only": "/proc"}.get(
        surroundings["HOME"], ""
    )}  # fmt: skip
    if surroundings["HOME"] == "unset":
        del environ["HOME"]
    environ |= {"ADDED": added, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": ""}
    where = os.path.relpath(folder / "project", start)
    xml = folder / "out.xml"
    done = subprocess.run(
        [surroundings["python"], *surroundings["flags"], "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={xml}",
         *arguments, where],
        cwd=start, env=environ, umask=surroundings["umask"], capture_output=True, text=True, encoding="utf-8",
        errors="backslashreplace", timeout=3000, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found: dict[str, Any] = {"code": done.returncode}
    for case in ET.parse(xml).getroot().iter("testcase"):
        texts = [each.text or "" for each in case.iter("failure")]
        properties = [(each.get("name"), each.get("value")) for each in case.iter("property")]
        found[case.get("name", "")] = (properties, [_plain(text, where) for text in texts])
    return found


def _plain(text: str, where: str) -> str:
    """A text without what leads from the working directory to the project."""
    return text if where == "." else text.replace(f"{where}/", "")


def goldens(folder: Path) -> dict[str, Any]:
    """Bytes of stores; what manifests say but for provenance, which names versions."""
    golden, found = folder / "project" / "golden", dict[str, Any]()
    for path in sorted(golden.rglob("*.h5")):
        found[path.relative_to(golden).as_posix()] = path.read_bytes()
    for path in sorted(golden.rglob("*.json")):
        said = json.loads(path.read_text(encoding="utf-8"))
        for run in said["runs"].values():
            run.pop("provenance")
        found[path.relative_to(golden).as_posix()] = said
    return found


def test_surroundings_change_no_byte_and_no_word(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(2**32) if os.environ.get("MSDUMP_EXAMPLES") == "fresh" else 0
    first: dict[str, Any] | None = None
    for number, surroundings in enumerate(pairwise(DIMENSIONS, random.Random(seed))):
        folder = tmp_path / f"{number}"
        (folder / "project").mkdir(parents=True)
        (folder / "project" / "test_it.py").write_text(TESTS, encoding="utf-8")
        (folder / "project" / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        made = session(folder, surroundings, "0", "--msdump-regen")
        found = {"goldens": goldens(folder), "holds": session(folder, surroundings, "0", "--msdump"), "made": made}
        found["differs"] = session(folder, surroundings, "0.5", "--msdump")
        codes = tuple(found[name]["code"] for name in ("made", "holds", "differs"))
        assert codes == (0, 0, 1), f"seed {seed}: {surroundings}: {found}"
        assert goldens(folder) == found["goldens"]
        if first is None:
            first = found
            assert len(found["goldens"]) == 6
        for name, value in found.items():
            assert value == first[name], f"seed {seed}, {name}: {surroundings}"
    print(f"{number + 1} surroundings")
