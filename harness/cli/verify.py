"""``msdump verify``: checks that the goldens are still what was written."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from harness.cli.amount import limit
from harness.escape import clipped, line, painted, show
from harness.scale import Scale, session
from harness.store.verify import verify
from harness.words import counted

#: Number of problems to print; the rest is only counted.
_SHOWN = 50


def verify_goldens(folder: Path, *, fix: bool, scale: Scale | None = None, keep: dict[str, Any] | None = None) -> int:
    """Reads every golden below ``folder`` completely and prints what is wrong; ``keep`` receives what ``--json``
    writes.

    Returns:
        0 if nothing is wrong, else 1.

    Raises:
        StoreError, StoreWriteError, LockError: as ``store.verify.verify``.
    """
    with session(scale, verify=str(folder)) as shared:
        found = verify(folder, fix=fix, tensors_of=shared.verify if shared else None)
    if keep is not None:
        keep |= {"problems": found.problems, "stores": found.stores, "runs": found.runs, "tensors": found.tensors,
                 "fixed": found.fixed}  # fmt: skip
    for problem in found.problems[: limit(_SHOWN)]:
        show(painted(clipped(line(problem)), "31", sys.stdout))
    if len(found.problems) > limit(_SHOWN):
        print(f"... and {len(found.problems) - _SHOWN} more")
    if found.fixed:
        print(f"{folder}: the manifests were rewritten")
    state = (
        f"{len(found.problems)} problem{'s' * (len(found.problems) != 1)}"
        if found.problems
        else "everything is as written"
    )
    counts = counted(found.stores, "store"), counted(found.runs, "run"), counted(found.tensors, "tensor")
    told = f"{folder}: {', '.join(counts)} read: {state}"
    show(painted(line(told), "1;31" if found.problems else "32", sys.stdout))
    return 1 if found.problems else 0
