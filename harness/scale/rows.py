"""What workers do with rows of a stored run."""

from __future__ import annotations

from harness.compare.audit import Looseness, audit
from harness.compare.tolerances import Tolerances
from harness.scale.goldens import store_of
from harness.scale.wire import Golden, OutOfReach
from harness.scale.work import told


@told
def audit_rows(golden: Golden, rows: range, tolerances: Tolerances) -> list[Looseness] | OutOfReach:
    """What rows of a stored run let through."""
    store = store_of(golden)
    if store is None:
        return OutOfReach()
    with store:
        run = store.run(*golden.run)
        return list(audit((run.record(row) for row in rows), tolerances))


@told
def verify_rows(golden: Golden, rows: range) -> list[str] | OutOfReach:
    """What is wrong with the tensors of rows of a stored run, in words."""
    store = store_of(golden)
    if store is None:
        return OutOfReach()
    with store:
        return store.run(*golden.run).damaged(rows)
