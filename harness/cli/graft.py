"""``msdump graft``: a test again, with the golden's tensor in the suspect's place."""

from __future__ import annotations

from pathlib import Path

from harness.cli.regen import exit_code_of, run_pytest

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
    return exit_code_of(run_pytest(arguments, as_json))
