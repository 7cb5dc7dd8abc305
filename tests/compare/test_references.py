"""Which runs of a golden a run is held against."""

from __future__ import annotations

import pytest

from harness.compare.policy import references
from harness.store import RunId

CPU, ROWS, GPU, REAL = (
    RunId("cpu", "tensor"), RunId("cpu", "statistic"), RunId("gpu", "tensor"), RunId("mindspore", "tensor")
)  # fmt: skip


@pytest.mark.parametrize(
    ("own", "others", "there", "emulated", "beside", "held"),
    [
        (CPU, [], [CPU, ROWS], True, True, [CPU]),
        (CPU, [], [], True, True, [CPU]),
        (ROWS, [], [CPU, ROWS], True, True, [ROWS]),
        (ROWS, [], [CPU], True, True, [CPU]),
        (CPU, ["gpu"], [CPU, GPU], True, True, [CPU, GPU]),
        (CPU, ["gpu"], [CPU], True, True, [CPU, GPU]),
        (ROWS, ["gpu"], [ROWS, GPU], True, True, [ROWS, GPU]),
        (ROWS, ["gpu"], [ROWS, GPU], True, False, [ROWS]),
        (REAL, ["cpu"], [CPU], False, True, [CPU]),
        (REAL, ["cpu"], [CPU, REAL], False, True, [REAL, CPU]),
        (REAL, [], [CPU], False, True, [REAL]),
        # Nothing of the other backend can be compared: its own is missing.
        (RunId("mindspore", "nan"), ["cpu"], [CPU], False, False, [REAL]),
    ],
)
def test_runs(
    own: RunId, others: list[str], there: list[RunId], emulated: bool, beside: bool, held: list[RunId]
) -> None:
    assert references(own, others, there, emulated=emulated, beside_tensors=beside) == held
