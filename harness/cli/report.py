"""``msdump report --join``: joins the pages of several CI jobs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.atomic import write_held
from harness.compare import Comparison, Verdict
from harness.compare.policy import exit_code
from harness.compare.spread import Spread
from harness.errors import HarnessError
from harness.reading import read_bytes
from harness.report import Run, content, limited, render
from harness.words import counted, failing

_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
#: Largest size of a page in bytes; the plugin writes far smaller ones.
_MOST = 256 << 20
_ACCEPTED = "pages that --msdump-report, msdump diff --report and msdump report --join wrote can be joined"


def join(pages: Sequence[Path], joined: Path, keep: dict[str, Any] | None = None) -> int:
    """Writes the page ``joined`` with the runs of all ``pages``: failing runs first, then by name.

    If several pages have a run of the same name, the page's name is added. ``keep`` receives what ``--json`` writes.

    Returns:
        0 if all runs hold; 1 if one does not; 2 if there are none, or if nothing certainly differs and one cannot be
        told.

    Raises:
        HarnessError: a page cannot be read, or this project did not write it.
        OSError: ``joined`` cannot be written; an older file stays.
    """
    found = [(page, run) for page in pages for run in _runs(page)]
    named = Counter(run["name"] for _, run in found)
    runs = [run | {"name": f"{run['name']} ({page})"} if named[run["name"]] > 1 else run for page, run in found]
    runs.sort(key=lambda run: (run["holds"], run["name"]))
    failed = sum(not run["holds"] for run in runs)
    title = f"msdump: {counted(len(runs), 'run')} of {counted(len(pages), 'job')}, {failing(failed)}"
    write_held(joined, render(limited(runs), title).encode(errors="replace"))
    if keep is not None:
        keep |= {
            "page": str(joined),
            "runs": [{name: run[name] for name in ("name", "verdict", "holds")} for run in runs],
        }
    print(f"{joined}: {title.removeprefix('msdump: ')}")
    return exit_code(differs=any(_differs(run) for run in runs), unsure=failed > 0 or not runs)


def _differs(run: dict[str, Any]) -> bool:
    return not run["holds"] and run["verdict"] not in (Verdict.UNSURE.value, "not compared")


def _runs(page: Path) -> list[dict[str, Any]]:
    text = read_bytes(page, _MOST, lambda told: HarnessError(f"{told}; {_ACCEPTED}")).decode(errors="replace")
    try:
        data = _DATA.search(text)
        runs = json.loads(data[1])["runs"] if data is not None else None
    except (ValueError, KeyError, TypeError, RecursionError):
        runs = None
    if not isinstance(runs, list) or not all(_is_run(run) for run in runs):
        raise HarnessError(f"{page}: no such page, or one of another version; {_ACCEPTED}")
    return runs


def _is_run(run: Any) -> bool:
    """Whether every part of a run exists and has the right type."""
    return isinstance(run, dict) and all(
        name in run and (kind is None or isinstance(run[name], kind)) for name, kind in _kinds().items()
    )


def _kinds() -> dict[str, Any]:
    empty = content(Run("", "", "", Comparison([]), Spread(()), verdict=""))
    return {name: None if name in ("first", "explanation") else type(value) for name, value in empty.items()}
