"""Orders, pixels, values and refusals are those recorded from MindSpore 2.10.0.

``facts.json``, ``vision.json``, ``text.json`` and ``lines.json`` of ``tests/data/dataset`` are what
``dataset_facts.py``, ``vision_facts.py``, ``text_facts.py`` and ``lines_facts.py`` of ``tests/interop`` wrote under it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.subprocesses import ROOT

DATA = ROOT / "tests" / "data" / "dataset"
#: cases that differ on purpose (docs/differences.md): for each row of ``vision.json`` its cases
DIFFERENT = {
    **dict.fromkeys((f"AdjustSharpness {at}" for at in range(4)), ("double",)),
    **dict.fromkeys((f"AdjustHue {at}" for at in range(4)), ("float", "unit")),
    **dict.fromkeys((f"AdjustGamma {at}" for at in range(3)), ("int16", "uint16", "int32")),
    **dict.fromkeys((f"GaussianBlur {at}" for at in range(3)), ("float", "unit", "double")),
    **dict.fromkeys((f"RandomLighting {at}" for at in range(2)), ("float", "uint16")),
    "RandomColorAdjust 0": ("float",),
    "Resize 5": ("float", "unit", "double", "int16", "uint16", "int32"),
}
#: mistakes with another error: True as a size, None as an interpolation, a matrix of one dimension
OTHER_MISTAKES = {
    "wrong Resize 0": 1,
    "wrong RandomResize 0": 1,
    "wrong Resize 1": 1,
    "wrong LinearTransformation 0": 1,
}

#: Pillow's images under a perspective: where a pixel lies on a border, the last bit of LAPACK's answer decides (under
#: MindSpore, too). They were recorded where it is ``RECORDED_FACTORS``; other processors' kernels give other bits.
BY_LAPACK = {f"Perspective {at}": ("RGB", "L", "RGBA", "P") for at in range(4)} | {
    f"RandomPerspective {at}": ("RGB", "L") for at in range(2)
}
RECORDED_FACTORS = (
    "a0509e5f7d2cf53fc1509e5f7d2cc5bfa5786d0fbcc2efbf0ce02dc1fa11cf3f"
    "00acbcb83c6bf33f148acf645c5c05c060480e61d645883fe09c80fbd85567bf"
)


def _factors() -> str:
    """The bits of the perspective from ``START`` to ``END`` of ``vision_facts.py``, by this processor's kernels."""
    start, end = [[0, 0], [12, 0], [12, 10], [0, 10]], [[1, 2], [11, 0], [12, 9], [2, 10]]
    rows = []
    for (x, y), (u, v) in zip(end, start, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    right = np.array(start, np.float64).reshape(8)
    return np.linalg.lstsq(np.array(rows, np.float64), right, rcond=None)[0].tobytes().hex()


def _found(script: str, out: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a script of facts gives here, and what was recorded."""
    command = [sys.executable, "-m", "harness.cli", "run", str(ROOT / "tests" / "interop" / script), str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(out.read_text()), json.loads((DATA / out.name).read_text())


def test_facts(tmp_path: Path) -> None:
    found, recorded = _found("dataset_facts.py", tmp_path / "facts.json")
    assert len(recorded) > 400
    assert list(found) == list(recorded)
    assert {name: value for name, value in found.items() if value != recorded[name]} == {}


def test_texts(tmp_path: Path) -> None:
    found, recorded = _found("text_facts.py", tmp_path / "text.json")
    assert len(recorded) > 800
    assert found == recorded


@pytest.mark.long
def test_lines(tmp_path: Path) -> None:
    """Two shards with fewer samples than rows: MindSpore 2.10.0 does not end with lines, and does with fields."""
    found, recorded = _found("lines_facts.py", tmp_path / "lines.json")
    assert len(recorded) > 600
    assert list(found) == list(recorded)
    endless = [name for name, value in recorded.items() if value == "no answer"]
    assert len(endless) < 3
    for name in endless:
        recorded[name] = found[name.replace("text", "csv")]
    assert {name: value for name, value in found.items() if value != recorded[name]} == {}


@pytest.mark.long
def test_images(tmp_path: Path) -> None:
    """Images, and mistakes: what MindSpore refuses where a transform is used may be refused where it is made."""
    found, recorded = _found("vision_facts.py", tmp_path / "vision.json")
    assert list(found) == list(recorded)
    cases = {name: row for name, row in recorded.items() if isinstance(row, dict)}
    assert sum(map(len, cases.values())) > 3000
    different = {
        name: tuple(case for case, outcome in row.items() if found[name][case] != outcome)
        for name, row in cases.items()
    }
    if _factors() != RECORDED_FACTORS:
        for name, unsettled in BY_LAPACK.items():
            different[name] = tuple(case for case in different[name] if case not in unsettled)
    assert {name: row for name, row in different.items() if row} == DIFFERENT
    mistakes = {name: (row.upper(), found[name].upper()) for name, row in recorded.items() if isinstance(row, str)}
    assert sum(len(row) for row, _ in mistakes.values()) > 3000
    others = {name: sum(map(str.__ne__, *rows)) for name, rows in mistakes.items()}
    assert {name: count for name, count in others.items() if count} == OTHER_MISTAKES
