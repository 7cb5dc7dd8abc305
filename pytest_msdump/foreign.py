"""What stands for the gate where another package is called ``harness``."""

from __future__ import annotations

import pytest

from pytest_msdump.variants import is_gate_test


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
