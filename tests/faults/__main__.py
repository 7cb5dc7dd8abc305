"""``python -m tests.faults [COMMAND...]``: every step of every command that writes, killed and failed; prints a table.

``--kept FILE`` keeps what was done: the next run goes on from there. ``--seconds N`` ends after so many seconds of
the processor. ``--page PAGE`` writes the table between its marks there, once every command is through. The exit code is
1 if anything was damaged or left over.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks._pages import put
from tests.faults.commands import WAYS, every_step
from tests.faults.sessions import SESSIONS
from tests.faults.writing import COMMANDS

EVERY = {**COMMANDS, **SESSIONS}
_HEAD = "| command | calls | runs | CPU seconds | damaged or left over |\n|---|---|---|---|---|\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("command", nargs="*")
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--page")
    given = parser.parse_args()
    print(f"each call {len(WAYS)} ways: {', '.join(map(str, WAYS))}", flush=True)
    done: dict[str, Any] = {}
    if given.kept is not None and given.kept.exists():
        done = json.loads(given.kept.read_text())
    for name in given.command or EVERY:
        known = done.setdefault(name, {"calls": None, "through": 0, "runs": 0, "seconds": 0.0, "bad": []})
        if known["calls"] == known["through"]:
            continue
        if given.seconds is not None and _spent() > given.seconds:
            break
        _go_on(name, known, given.seconds)
        if given.kept is not None:
            given.kept.write_text(json.dumps(done, indent=1))
    return _tell(done, given.page)


def _go_on(name: str, known: dict[str, Any], seconds: float | None) -> None:
    """Enumerates the calls of a command that are left, as far as there is time."""
    began, bad = _spent(), list[str]()
    top = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with TemporaryDirectory(dir=top) as folder:
        found = every_step(
            EVERY[name], Path(folder), start=known["through"] + 1, bad=bad,
            enough=lambda: seconds is not None and _spent() > seconds,
        )  # fmt: skip
    if known["calls"] not in (None, found.steps):
        bad.append(f"{known['calls']} calls before, {found.steps} now: what was counted is not the same")
    known["calls"] = found.steps
    known["through"] += found.runs // len(WAYS)
    known["runs"] += found.runs
    known["seconds"] += _spent() - began
    known["bad"] += bad
    print(
        f"{name}: {known['through']} of {found.steps} calls",
        *(f"  {each[:3000]}" for each in bad),
        sep="\n",
        flush=True,
    )


def _tell(done: dict[str, Any], page: str | None) -> int:
    """Prints the table; gives the exit code."""
    rows = [
        f"| {name} | {row['calls']} | {row['runs']} | {row['seconds']:.0f} | {len(row['bad'])} |"
        for name, row in done.items()
        if row["runs"]
    ]
    calls, runs, bad = (sum(map(count, done.values())) for count in (
        lambda row: row["calls"] or 0, lambda row: row["runs"], lambda row: len(row["bad"]),
    ))  # fmt: skip
    text = _HEAD + "\n".join([*rows, f"| all | {calls} | {runs} | {_seconds(done)} | {bad} |", ""])
    whole = all(name in done and done[name]["calls"] == done[name]["through"] for name in EVERY)
    if page is None or not whole:
        print(text)
        return int(bad > 0)
    return int(bad > 0 or not put(page, "every step", text))


def _seconds(done: dict[str, Any]) -> str:
    return f"{sum(row['seconds'] for row in done.values()):.0f}"


def _spent() -> float:
    """Seconds of the processor, with those of children that ended."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    sys.exit(main())
