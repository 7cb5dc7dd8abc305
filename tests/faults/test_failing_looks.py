"""Each look at a file or directory of a dump that the system refuses is told: no layout loses a part in silence."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness import dtypes
from harness.capture import read_tree
from harness.errors import HarnessError
from harness.records import SlotKey
from tests.capture import test_bin_files, test_generations, test_models
from tests.capture.named_tensors.test_named_tensors import as_onnx
from tests.capture.test_generations import Slot
from tests.faults.test_failing_reads import Reads

pytestmark = pytest.mark.faults

ARRAY = np.arange(6, dtype=np.float32).reshape(2, 3)
SLOTS = [Slot("Default/fc/Add-op0", "output", 0, step, 0, ARRAY + step, dtypes.float32) for step in (0, 1)]


def onnx(root: Path, _slots: object) -> None:
    (root / "test_data_set_0").mkdir(parents=True)
    (root / "test_data_set_0" / "input_0.pb").write_bytes(as_onnx("x", ARRAY, True, True))


LAYOUTS: dict[str, Callable[[Path, list[Slot]], object]] = {
    "asynchronous": test_generations.raw_files, "synchronous": test_generations.ten_fields,
    "msprobe": test_generations.probe, "onnx": onnx,
    "bin files": lambda root, _: test_bin_files.written(root, {f"{test_bin_files.MATMUL}_output_0": ARRAY}),
    "model": lambda root, _: test_models.dump(root),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_look_that_fails_is_told(layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LAYOUTS[layout](tmp_path / "tree", SLOTS)

    def read() -> tuple[list[tuple[SlotKey, bytes]], bool]:
        capture = read_tree(tmp_path / "tree")
        found = [(each.key, values.tobytes()) for each in capture.records() if (values := each.load()) is not None]
        return found, bool(capture.problems)

    sound = read()
    assert sound[0]
    reads = Reads(tmp_path, monkeypatch, ("stat",))
    assert read() == sound
    calls, told = reads.count, 0
    for at in range(1, calls + 1):
        reads.count, reads.at, reads.number = 0, at, errno.EIO
        try:
            found, problems = read()
        except HarnessError as error:
            told += os.strerror(errno.EIO) in str(error)
        else:
            assert found == sound[0] or problems, f"stat {at} of {calls}: {len(found)} of {len(sound[0])} slots"
    assert told
