"""``msdump.healthy``, ``healthy=`` and ``--msdump-health``: a test's run, looked at without a golden."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from pytest_msdump import options

if TYPE_CHECKING:
    from harness.inspect import Report
    from pytest_msdump.gate_test import GateTest

#: keys of a table of rules, as ``healthy=`` takes it
KEYS = ("rules", "off", "settings")
_SHOWN = 6


def asked(test: GateTest) -> Mapping[str, Any] | None:
    """The rules a test is to be asked for (see ``KEYS``); None if it is not to be looked at.

    Raises ``pytest.UsageError`` if the marker's ``healthy=`` is neither True, False nor a table of ``KEYS``.
    """
    stated = test.marker.get("healthy")
    if isinstance(stated, Mapping):
        unknown = [str(each) for each in stated if each not in KEYS]
        if unknown:
            raise pytest.UsageError(
                f"marker msdump(healthy=...): a table of {', '.join(KEYS)} is accepted; got {', '.join(unknown)}"
            )
        return stated
    return {} if options.resolve(test.item.config, "msdump_health", test.marker) else None


def failures(test: GateTest) -> list[str]:
    """What is wrong with a test's run, as one text; empty if nothing is, or if nobody asked."""
    try:
        table = asked(test)
    except pytest.UsageError as error:
        return [f"msdump: {error}"]
    if table is None or not test.programs:
        return []
    from harness.errors import HarnessError

    try:
        report = looked_at(test, table.get("rules"), table.get("off", ()), table.get("settings"))
    except HarnessError as error:
        return [f"msdump: {test.network} [{test.variant.id}] cannot be inspected: {error}"]
    return [told(test, report)] if report.errors else []


def looked_at(
    test: GateTest, rules: Iterable[str] | None, off: Iterable[str], settings: Mapping[str, Any] | None
) -> Report:
    """The report on everything that a test ran so far."""
    from harness.inspect.inspecting import inspect

    return inspect(test.capture(), rules, off, settings)


def told(test: GateTest, report: Report) -> str:
    """The errors of a report, as a failure shows them."""
    from harness.inspect.text import lines

    shown = lines(report, limit=_SHOWN)
    return "\n".join([f"msdump: {test.network} [{test.variant.id}] is not healthy", *shown[1:]])
