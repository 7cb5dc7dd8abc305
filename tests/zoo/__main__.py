"""``python -m tests.zoo [--sample] [pytest's options]``: goldens of all models (or of a sample), and checks of them.

They are written in one process, and checked in others, by two workers, and under another ``PYTHONHASHSEED``. There the
programs of libraries run, too, which have no goldens.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile


def _pytest(tests: str, golden: str, hashes: int, sample: bool, *more: str) -> int:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        f"--msdump-golden={golden}",
        *more,
    ]
    variables = {**os.environ, "PYTHONHASHSEED": str(hashes), "MSDUMP_CI": "false"}
    variables.pop("CI", None)
    if sample:
        variables["MSDUMP_ZOO"] = "sample"
    done = subprocess.run([*command, tests], env=variables, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout[-8000:], flush=True)
    if not re.search(r"^\d+ passed", done.stdout, re.MULTILINE):
        return 1
    return done.returncode


def main(given: list[str]) -> int:
    """Runs them; 0 if all hold."""
    sample, more = "--sample" in given, [each for each in given if each != "--sample"]
    with tempfile.TemporaryDirectory() as golden:
        code = _pytest("tests/zoo/test_zoo.py", golden, 1, sample, "--msdump-regen", *more)
        return code or _pytest("tests/zoo", golden, 2, sample, "--msdump", "-n", "2", *more)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
