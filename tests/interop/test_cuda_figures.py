"""What ``tox -e cuda`` measures, run by PyTorch on a CPU: every figure but those of the device's memory."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.subprocesses import ROOT

pytestmark = pytest.mark.interop


def test_every_part_is_measured_on_a_cpu(torch_python: str, tmp_path: Path) -> None:
    place = tmp_path / "cuda.md"
    options = ["--device", "cpu", "--without-gates", "--rounds", "1", "--page", str(place)]
    done = subprocess.run(
        [torch_python, "-m", "benchmarks.cuda", *options],
        cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    text = place.read_text()
    assert done.returncode == 0, text + done.stderr
    assert "Not measured" not in text
    for network in ("residual blocks", "BERT encoder"):
        for precision in ("float32", "TF32", "bfloat16"):
            rows = [line for line in text.splitlines() if line.startswith(f"| {network} | {precision} |")]
            assert len(rows) == 2
            slots, _, within, beyond, apart, again = rows[0].strip("| ").split(" | ")[2:]
            # On one machine with one thread a step gives the same bits again.
            assert again == f"{slots} of {slots}" or precision == "bfloat16"
            if precision != "bfloat16":
                assert (within, beyond, apart) == (slots, "0", "0")
