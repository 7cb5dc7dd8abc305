"""Whether ``harness`` is ours: a project may have a package of that name."""

from __future__ import annotations

import importlib.util
import os
import sys

import pytest

from pytest_msdump.variants import is_gate_test

PACKAGE = "harness"


def other_package() -> str:
    """Says in words why the ``harness`` that Python finds is not ours; empty if it is."""
    ours = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), PACKAGE)
    loaded = sys.modules.get(PACKAGE)
    try:
        spec = importlib.util.find_spec(PACKAGE) if loaded is None else loaded.__spec__
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return f"msdump: no package {PACKAGE} is found; pytest-msdump's is {ours}"
    places = list(spec.submodule_search_locations or ())
    found = places[0] if places else str(spec.origin)
    if os.path.realpath(found) == ours:
        return ""
    return (
        f"msdump: another package is called {PACKAGE}: {found}\n"
        f"  pytest-msdump needs its own: {ours}\n"
        f"  rename the other one, or keep its directory off sys.path (`pytest` in place of `python -m pytest`)"
    )


class Blocked:
    """Replaces the gate when it cannot work: gate tests fail, all others run."""

    def __init__(self, why: str) -> None:
        self._why = why

    def pytest_report_header(self) -> list[str]:
        """Shows the whole message once."""
        return self._why.splitlines()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Fails gate tests."""
        if is_gate_test(item):
            pytest.fail(self._why, pytrace=False)
