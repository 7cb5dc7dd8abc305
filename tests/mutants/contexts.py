"""A plugin of pytest that tells coverage.py which test runs. Its own way takes the first function named ``test...``,
which for a test with drawn inputs is one of hypothesis's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Names the test, without parameters, as long as it runs, its fixtures included."""
    from coverage import Coverage

    measured = Coverage.current()
    if measured is not None:
        measured.switch_context(item.nodeid.partition("[")[0])
    try:
        return (yield)
    finally:
        if measured is not None:
            measured.switch_context("")
