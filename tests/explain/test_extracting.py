"""The operator where a run left its golden, as a test that needs PyTorch, numpy and pytest alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from harness.capture.torch import TorchCapture  # noqa: E402
from harness.compare.policy import Party, judge  # noqa: E402
from harness.errors import HarnessError  # noqa: E402
from harness.explain import Evidence, Explanation, Subject, explained, settle  # noqa: E402
from harness.explain.extracting import INSIDE, Extracted, extract  # noqa: E402
from harness.records import Record  # noqa: E402

pytestmark = pytest.mark.interop


class Network(torch.nn.Module):
    def __init__(self, eps: float = 1e-5, wide: int = 8, transposed: bool = False, scale: float | None = 2.0) -> None:
        super().__init__()
        self.norm, self.two = torch.nn.LayerNorm(wide, eps), torch.nn.Linear(wide, 3)
        self.transposed, self.scale = transposed, scale

    def forward(self, x: Any) -> Any:
        y = self.norm(x).view(-1, 2, 2, x.shape[-1] // 4)
        y = y.transpose(1, 3) if self.transposed else y.transpose(1, 2)
        y = self.two(y.reshape(x.shape))
        return y if self.scale is None else y * self.scale


def captured(rows: int = 4, wide: int = 8, **how: Any) -> list[Record]:
    torch.manual_seed(0)
    made, watch = Network(wide=wide, **how), TorchCapture(torch.nn.Identity())
    x = torch.linspace(-1, 1, rows * wide).reshape(rows, wide).mul(40).sin()
    with watch.step():
        made(x)
    return list(watch.capture().records())


def told(one: list[Record], other: list[Record]) -> tuple[Explanation, Evidence, Evidence]:
    sides = Party(one, "torch", stored=True), Party(other, "torch", stored=True)
    judged = judge(*sides, "exact", lay=lambda _one, _other: None, settle=settle)
    evidence = Evidence(lambda: one, dict, "torch"), Evidence(lambda: other, dict, "torch")
    made = explained(judged, Subject("run", "golden"), *evidence)
    assert made is not None
    return made, *evidence


def outcomes(made: Extracted, folder: Path) -> list[bool]:
    """Whether the sides golden and run pass."""
    assert "harness" not in made.text
    assert "msdump" not in made.text
    if made.arrays:
        np.savez(folder / "beside.npz", **made.arrays)
    given: dict[str, Any] = {"__file__": str(folder / "test_extracted.py"), "__name__": "extracted"}
    exec(compile(made.text, "test_extracted.py", "exec"), given)
    found = []
    for side in ("golden", "run"):
        try:
            given["test_it_gives_the_goldens_results"](side)
            found.append(True)
        except (pytest.fail.Exception, AssertionError):
            found.append(False)
    return found


@pytest.mark.parametrize("change", [{"eps": 1e-6}, {"transposed": True}, {"scale": 2.5}])
def test_the_golden_passes_and_the_run_fails(change: dict[str, Any], tmp_path: Path) -> None:
    made = extract(*told(captured(), captured(**change)), "beside.npz")
    assert outcomes(made, tmp_path) == [True, False]
    assert not made.arrays


@pytest.mark.long
def test_large_tensors_are_cut_where_a_slice_shows_it(tmp_path: Path) -> None:
    rows = 4 * INSIDE // (4 * 64)
    made = extract(*told(captured(rows, 64), captured(rows, 64, eps=1e-3)), "beside.npz")
    assert made.sliced
    assert len(made.text) < 3 * INSIDE
    assert outcomes(made, tmp_path) == [True, False]


@pytest.mark.long
def test_what_cannot_be_cut_lies_beside(tmp_path: Path) -> None:
    one = captured(2, 4 * INSIDE // 16)
    made = extract(*told(one, captured(2, 4 * INSIDE // 16, eps=1e-3)), "beside.npz")
    assert made.arrays
    assert outcomes(made, tmp_path) == [True, False]


def test_an_operator_of_one_side_alone_is_refused() -> None:
    with pytest.raises(HarnessError, match="one side alone has it"):
        extract(*told(captured(), captured(scale=None)), "beside.npz")


def test_names_from_elsewhere_stay_text(tmp_path: Path) -> None:
    made, one, other = told(captured(), captured(eps=1e-6))
    assert made.cause is not None
    bad = replace(made, cause=replace(made.cause, text='x"""\nraise SystemExit("run")\n"""\\'))
    assert outcomes(extract(bad, one, other, "beside.npz"), tmp_path) == [True, False]
