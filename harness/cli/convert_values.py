"""``msdump convert SOURCE TARGET``: the values of a dump, a golden or a log as files of named tensors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from harness.capture.named_tensors.writers import write_tensors
from harness.cli.check import tell_lost, warn
from harness.cli.operands import open_side
from harness.errors import HarnessError
from harness.exit_status import CANNOT_TELL, HOLDS
from harness.words import counted


def convert_values(source: str, target: Path, kind: str | None = None, keep: dict[str, Any] | None = None) -> int:
    """Writes every value that ``source`` has.

    Args:
        source: see ``harness.cli.operands.open_side``.
        target: the file, or the directory of ONNX's test data.
        kind: see ``write_tensors``.
        keep: receives what ``--json`` writes.

    Returns:
        0; 2 if slots have no values, or files of the source could not be used: they are counted.

    Raises:
        HarnessError: the source cannot be read, or the target cannot be written.
    """
    with open_side(source) as side:
        try:
            written = write_tensors(side.records, target, kind)
        except OSError as error:
            raise HarnessError(f"{target}: {error.strerror or os.strerror(error.errno or 0)}") from None
        if keep is not None:
            keep |= {"target": str(target), "tensors": written.tensors, "without_values": written.without}
        print(f"{target}: {counted(written.tensors, 'tensor')}")
        if written.without:
            print(f"Not written: {counted(written.without, 'slot')} without values")
        lost = 0
        if side.capture is not None:
            warn(side.capture)
            lost = tell_lost(side.capture, source)
    return CANNOT_TELL if written.without or lost else HOLDS
