"""``msdump graft``: a test again, with the golden's tensor in the suspect's place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from harness.atomic import temporary_directory
from harness.cli.regen import by_pytest, exit_code_of
from harness.report.results import STANDARD

#: the option's value for a test that is run again wherever it fails
ALWAYS = "always"


def run_with_graft(test: str, slot: str = "", as_json: Path | None = None) -> int:
    """Runs ``pytest --msdump --msdump-graft`` in another process.

    Args:
        test: id of a test.
        slot: what is replaced; empty for where the run leaves its golden.
        as_json: file for the result; ``-`` for standard output, instead of pytest's text.

    Returns:
        0 if the test holds, 1 if it differs, 2 if pytest could not run it.
    """
    arguments = ["--msdump", f"--msdump-graft={slot or ALWAYS}", "-q", test]
    if as_json != STANDARD:
        more = [] if as_json is None else [f"--msdump-json={as_json}"]
        return exit_code_of(subprocess.run(by_pytest(*arguments, *more), check=False).returncode)
    with temporary_directory("msdump-graft-") as folder:
        file = Path(folder, "result.json")
        command = by_pytest(*arguments, f"--msdump-json={file}")
        ended = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True, errors="replace")
        if file.is_file():
            print(file.read_text(encoding="utf-8"))
        else:
            print(ended.stdout, file=sys.stderr)
    return exit_code_of(ended.returncode)
