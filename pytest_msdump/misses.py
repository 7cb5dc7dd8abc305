"""The failure texts for a missing golden, and for a test that left nothing to compare. Imports ``harness``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.store import RunId
from harness.words import counted
from pytest_msdump import commands, roots
from pytest_msdump.collection import stores
from pytest_msdump.gate_test import GateTest

if TYPE_CHECKING:
    from pytest_msdump.judge import GateRun


def empty(test: GateTest, run: str) -> str:
    """The text for a test that ran something of which nothing was captured."""
    return (
        f"msdump: nothing was compared: what {test.network} ran under {run} dumped no tensor\n"
        "  operators called one by one run outside of graphs: put them into an nn.Cell, or a function under jit;\n"
        "  a PyTorch module is given to msdump.run itself; msdump.check takes arrays"
    )


def missing(judge: GateRun, run: RunId, why: str) -> str:
    """The text for a test whose golden run is missing.

    Args:
        judge: the run of the test, which knows where its store would be.
        run: the golden run that is missing.
        why: says what exactly is missing.
    """
    test, store = judge.test, judge.path
    settings = test.settings
    found = [counted(len(judge.records), "slot")] if judge.records or not judge.texts else []
    found += [counted(len(judge.texts), "text")] if judge.texts else []
    lines = [
        f"msdump: no golden for run {run} of {test.network}",
        f"  store: {store} ({why})",
        f"  root directory: {settings.root} ({settings.why_root})",
        f"  found: {' and '.join(found)}, compared with nothing",
    ]
    likely = _near(test, store)
    lines += [f"  near: {likely}"] if likely else []
    if run == RunId(*test.variant):
        lines.append(f"  make it: {commands.again(test, 'msdump', 'regen')}")
    else:
        lines.append(f"  the marker's against= asks for it; capture it on backend {run.backend}")
    return "\n".join(lines)


def _near(test: GateTest, store: Path) -> str:
    """Goldens, or directories of goldens, with similar names."""
    settings = test.settings
    if not settings.golden.is_dir():
        return roots.similar_folders(settings.golden, settings.root)
    return "" if store.exists() else roots.similar_stores(test.golden, stores(settings.golden))
