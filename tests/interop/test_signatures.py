"""The parameters of our callables are those of MindSpore 2.10.0: their names, order, kinds and defaults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.differential.side import Side

pytestmark = pytest.mark.interop

SCRIPT = Path(__file__).with_name("signatures.py")
#: differences that stay, each with its reason
KNOWN = {
    "ds.Dataset": "abstract here; nobody makes one",
    "ops.Primitive": "custom primitives are not supported",
    "train.ConfusionMatrixMetric": "`corrected` (docs/differences.md)", "train.MAE": "`corrected`",
    "train.MSE": "`corrected`", "train.RootMeanSquareDistance": "`corrected`",
    "ops.ReduceStd": "the default is an empty tuple, not a list: the same",
}  # fmt: skip
#: words for keywords of several forms, which ``harness/framework/tensor/keywords.py`` takes
SEVERAL = {"Tensor.equal", "Tensor.multiply", "Tensor.float_power"}


def _open(rows: list[list[Any]]) -> bool:
    return any(kind.startswith("VAR") for _, kind, _ in rows)


def _table(side: Side, out: Path) -> dict[str, list[list[Any]] | None]:
    found: dict[str, list[list[Any]] | None] = json.loads(side.printed(SCRIPT, out).splitlines()[-1])
    return found


def test_parameters_are_those_of_mindspore(both: tuple[Side, Side], tmp_path: Path) -> None:
    own, real = (_table(side, tmp_path) for side in both)
    differing = {
        name: (mine, theirs)
        for name, theirs in real.items()
        if (mine := own.get(name)) is not None and theirs is not None and mine != theirs
        and not _open(mine) and not _open(theirs) and name not in KNOWN and name not in SEVERAL
    }  # fmt: skip
    assert not differing, "\n".join(
        f"{name}: {mine} here, {theirs} there" for name, (mine, theirs) in differing.items()
    )
    assert sum(1 for name in real if own.get(name) is not None and real[name] is not None) > 1500
