"""The failure texts for a missing golden, and for a test that left nothing to compare. Imports ``harness``."""

from __future__ import annotations

from pathlib import Path

from harness.errors import HarnessError
from harness.gate import against
from harness.gate.stores import OPENED
from harness.store import RunId
from harness.words import counted
from pytest_msdump import commands, roots
from pytest_msdump.collection import UNUSED, stores
from pytest_msdump.gate_run import GateRun
from pytest_msdump.gate_test import GateTest

#: so many goldens without an owner are compared with what a test without a golden gives
_TRIED = 6


def empty(test: GateTest, run: str) -> str:
    """The text for a test that ran something that left nothing in the capture."""
    return (
        f"msdump: nothing was compared: what {test.network} ran under {run} dumped no tensor\n"
        "  in graph mode operators called one by one run outside of graphs: put them into an nn.Cell, or a function\n"
        "  under jit, or set PyNative mode;\n"
        "  a PyTorch module is given to msdump.run itself; msdump.check takes arrays"
    )


def missing(
    test: GateTest, store: Path, held: tuple[int, int], run: RunId, why: str, made: GateRun | None = None
) -> str:
    """The text for a test whose golden run is missing.

    Args:
        store: path where the store would be.
        held: number of slots and of texts of the test's run.
        run: the golden run that is missing.
        why: says what exactly is missing.
        made: what the test gave, to look for the golden that it had under another name.
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
    former = _former(made) if made is not None else ""
    likely = "" if former else _similar_names(test, store)
    lines += [f"  near: {likely}"] if likely else []
    if former:
        move = commands.moved(settings, former, test.golden, test.item.config.invocation_params.dir)
        lines.append(f"  renamed? {former} holds what it gives: {move}")
    elif run == RunId(*test.base):
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


def _former(found: GateRun) -> str:
    """The golden without an owner that holds what the test gave; empty if there is none."""
    from difflib import get_close_matches

    test = found.test
    unused = test.item.config.stash.get(UNUSED, None) or []
    for name in get_close_matches(test.golden, unused, _TRIED, 0.0):
        try:
            stored = OPENED.open(test.settings.golden / name).run(*found.run)
            asked, by = found.tolerance(found.run.backend, test.marker.get("tolerance"))
            if against.judged(stored, found.found(), asked, by).holds:
                return name
        except (HarnessError, OSError):
            continue  # it lacks the run, or `msdump verify` says what is wrong with it
    return ""
