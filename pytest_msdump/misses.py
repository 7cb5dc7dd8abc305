"""The failure texts for a missing golden, and for a test that left nothing to compare. Imports ``harness``."""

from __future__ import annotations

from pathlib import Path

from harness.store import RunId
from harness.words import counted
from pytest_msdump import commands, roots
from pytest_msdump.collection import stores
from pytest_msdump.gate_test import GateTest


def empty(test: GateTest, run: str) -> str:
    """The text for a test that ran something that left nothing in the capture."""
    return (
        f"msdump: nothing was compared: what {test.network} ran under {run} dumped no tensor\n"
        "  operators called one by one run outside of graphs: put them into an nn.Cell, or a function under jit;\n"
        "  a PyTorch module is given to msdump.run itself; msdump.check takes arrays"
    )


def missing(test: GateTest, store: Path, held: tuple[int, int], run: RunId, why: str) -> str:
    """The text for a test whose golden run is missing.

    Args:
        store: path where the store would be.
        held: number of slots and of texts of the test's run.
        run: the golden run that is missing.
        why: says what exactly is missing.
    """
    settings = test.settings
    slots, texts = held
    found = [counted(slots, "slot")] if slots or not texts else []
    found += [counted(texts, "text")] if texts else []
    lines = [
        f"msdump: no golden for run {run} of {test.network}",
        f"  store: {store} ({why})",
        f"  root directory: {settings.root} ({settings.why_root})",
        f"  found: {' and '.join(found)}, compared with nothing",
    ]
    likely = _similar_names(test, store)
    lines += [f"  near: {likely}"] if likely else []
    if run == RunId(*test.base):
        lines.append(f"  make it: {commands.again(test, 'msdump', 'regen')}")
    else:
        lines.append(f"  the marker's against= asks for it; capture it on backend {run.backend}")
    return "\n".join(lines)


def _similar_names(test: GateTest, store: Path) -> str:
    """Goldens, or directories of goldens, with similar names."""
    settings = test.settings
    if not settings.golden.is_dir():
        return roots.similar_folders(settings.golden, settings.root)
    return "" if store.exists() else roots.similar_stores(test.golden, stores(settings.golden))
