"""``python -m tests.faults [COMMAND...]``: every step of every command that writes, killed and failed; prints a table.

``--table FILE`` keeps the table in a file as it goes. The exit code is 1 if anything was damaged or left over.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.faults.commands import WAYS, Enumerated, every_step
from tests.faults.sessions import SESSIONS
from tests.faults.writing import COMMANDS

_HEAD = "| command | calls | runs | seconds | damaged or left over |\n|---|---|---|---|---|\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("command", nargs="*")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--stride", type=int, default=1)
    given = parser.parse_args()
    every = {**COMMANDS, **SESSIONS}
    rows, wrong, whole = [], 0, Enumerated(0, 0)
    print(f"each call {len(WAYS)} ways: {', '.join(map(str, WAYS))}\n{_HEAD}", end="", flush=True)
    for name in given.command or every:
        began, bad = time.monotonic(), list[str]()
        top = "/dev/shm" if Path("/dev/shm").is_dir() else None
        with TemporaryDirectory(dir=top) as folder:
            found = every_step(every[name], Path(folder), stride=given.stride, bad=bad)
        whole = Enumerated(whole.steps + found.steps, whole.runs + found.runs)
        wrong += len(bad)
        rows.append(f"| {name} | {found.steps} | {found.runs} | {time.monotonic() - began:.0f} | {len(bad)} |")
        print(rows[-1], *(f"  {each[:3000]}" for each in bad), sep="\n", flush=True)
        if given.table is not None:
            last = f"| all | {whole.steps} | {whole.runs} | | {wrong} |"
            given.table.write_text(_HEAD + "\n".join([*rows, last, ""]))
    print(f"{whole.steps} calls, {whole.runs} runs, {wrong} damaged or left over")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
