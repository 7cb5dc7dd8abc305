"""``msdump extract``: the operator where a run left its golden, as a test of its own."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from harness.atomic import write_held
from harness.cli.diff import compare_sides, evidence_of
from harness.cli.operands import open_side
from harness.errors import HarnessError
from harness.escape import show
from harness.explain.extracting import extract as extracted


def extract(expected: str, found: str, to: Path, rank: int | None = None, keep: dict[str, Any] | None = None) -> int:
    """Writes a pytest file with the first operator at which ``found`` leaves ``expected``.

    Args:
        expected, found: golden and run, see ``open_side``.
        to: the test's path; large tensors go beside it, with ``.npz`` for ``.py``.
        rank: rank to read from dump trees with several.
        keep: receives what ``--json`` writes.

    Returns:
        0 if the test was written; 1 if both sides agree, so that there is nothing to extract.

    Raises:
        HarnessError: a side cannot be read, or the operator cannot be run again.
        OSError: a file cannot be written.
    """
    if to.suffix != ".py":
        raise HarnessError(f"extract: the test's name ends with .py, got {to}")
    beside = to.with_suffix(".npz")
    with open_side(expected, rank, None) as one, open_side(found, rank, None) as other:
        result = compare_sides(one, other, "exact")
        if result.explanation is None:
            show("both sides agree; there is nothing to extract")
            return 1
        made = extracted(result.explanation, evidence_of(one), evidence_of(other), beside.name)
    if made.arrays:
        file = io.BytesIO()
        np.savez_compressed(file, **made.arrays)  # type: ignore[arg-type]
        write_held(beside, file.getvalue())
    write_held(to, made.text.encode())
    if keep is not None:
        operator = result.explanation.origin.operator  # type: ignore[union-attr]
        keep |= {"written": [str(to)] + [str(beside)] * bool(made.arrays), "operator": operator, "cut": made.sliced}
    cut = ", cut to a slice that shows it" if made.sliced else ""
    show(f"{to}{f' and {beside}' if made.arrays else ''}: {result.explanation.origin.operator}{cut}")  # type: ignore[union-attr]
    return 0
