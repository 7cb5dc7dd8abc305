"""``python -m tests.faults.limits [TEST...]``: the sizes of ``test_limits.py``, each run once, and what each took.

``--kept FILE`` keeps the figures of earlier runs, ``--page PAGE`` writes the table between its marks in docs/PAGE. The
exit code is pytest's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import NamedTemporaryFile

from benchmarks._pages import put
from tests.faults.test_limits import KEPT

_HEAD = "| size | step | CPU seconds | peak, MiB |\n|---|---|---|---|\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.limits", description=__doc__)
    parser.add_argument("test", nargs="*")
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--page")
    given = parser.parse_args()
    with NamedTemporaryFile("w+", suffix=".json") as held:
        kept = given.kept or Path(held.name)
        chosen = ["-k", " or ".join(given.test)] if given.test else []
        command = [sys.executable, "-m", "pytest", "-q", "-m", "deep", "tests/faults/test_limits.py", *chosen]
        done = subprocess.run(command, env={**os.environ, KEPT: str(kept)}, check=False)
        text = table(kept.read_text(encoding="utf-8") if kept.exists() else "")
    if given.page is None:
        print(text)
        return done.returncode
    return done.returncode or int(not put(given.page, "sizes", text))


def table(kept: str) -> str:
    """The rows of what was kept; of a step that was kept twice the later one."""
    rows = {(test, what): (seconds, mebibytes) for test, what, seconds, mebibytes in map(json.loads, kept.splitlines())}
    return _HEAD + "".join(
        f"| {test.removeprefix('test_').replace('_', ' ')} | {what} | {seconds} | {mebibytes or ''} |\n"
        for (test, what), (seconds, mebibytes) in sorted(rows.items())
    )


if __name__ == "__main__":
    sys.exit(main())
