"""A session that compared or wrote nothing says so, and why: green must not mean that nobody looked."""

from __future__ import annotations

import pytest

from pytest_msdump.collection import Found
from pytest_msdump.options import Settings, given_on_command_line
from pytest_msdump.report import LEFT_OUT, Summary

#: verdicts of results that leave a golden as it is
_NOT_WRITTEN = ("not compared", LEFT_OUT)


def told(config: pytest.Config, settings: Settings, found: Found, summary: Summary) -> str:
    """Why the session compared, or wrote, nothing; empty if it did something, or was not asked to.

    A configuration with ``msdump = true`` asks for all tests: a session of chosen files needs no gate test.
    """
    writes = settings.regen or settings.learn > 0
    results = [each for given in summary.results.values() for each in given]
    if writes and any(each["verdict"] not in _NOT_WRITTEN for each in results):
        return ""
    all_skipped = found.selected > 0 and len(summary.skipped) == found.selected
    if not writes and (results or (found.selected and not all_skipped)):
        return ""
    asked = any(given_on_command_line(config, name) for name in ("msdump", "msdump_regen", "msdump_learn"))
    if not (asked or config.args_source != pytest.Config.ArgsSource.ARGS):
        return ""
    done = "written" if writes else "compared"
    return f"nothing was {done}: {_why(config, settings, found, summary)}"


def _why(config: pytest.Config, settings: Settings, found: Found, summary: Summary) -> str:
    if found.selected:
        skipped = len(summary.skipped)
        left_out = [each for given in summary.results.values() for each in given if each["verdict"] == LEFT_OUT]
        parts = [f"{skipped} skipped"] * (skipped > 0) + [f"{len(left_out)} marked xfail"] * bool(left_out)
        return f"{_tests(found.selected)} selected ({', '.join(parts) or 'none of them came to its end'})"
    if found.collected:
        return f"{_tests(found.collected)} collected, and deselected (-k, -m, --deselect)"
    where = " ".join(map(str, config.args)) or str(settings.root)
    why = f"no gate test in {where}; a gate test takes the fixture msdump or is marked @pytest.mark.msdump"
    if config.args_source == pytest.Config.ArgsSource.TESTPATHS:
        why += "; testpaths of the configuration decides where pytest looks"
    return why


def _tests(number: int) -> str:
    return "1 gate test was" if number == 1 else f"{number} gate tests were"
