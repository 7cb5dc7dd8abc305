"""Python's garbage collector, while the gate is on."""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest

from pytest_msdump.variants import is_gate_test

#: Containers made between two collections. Python's own number is made for programs that hold little: a graph of a few
#: hundred nodes starts dozens of collections, none of which finds anything.
BETWEEN = 200_000


class Garbage:
    """Lets the collector look less often, and only at what the tests made.

    A gate test makes tens of thousands of records and nodes, and all modules stay: measured, an eighth of the gate's
    time was spent on looking at them again and again. What exists after the first gate test (above all modules) is set
    aside until pytest ends. A collector that is off, or has a larger threshold already, stays as it is.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._before = gc.get_threshold()
        self._aside = False
        if 0 < self._before[0] < BETWEEN:
            gc.set_threshold(BETWEEN, *self._before[1:])
        # After pytest's own last collections, which would look at all modules.
        config.add_cleanup(self._restore)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, bool | None, bool | None]:
        """Sets aside what exists after the first gate test, when everything is imported."""
        done = yield
        if not self._aside and is_gate_test(item):
            self._aside = True
            # Without a collection first: it looks at all that a process holds, which may be one of many sessions.
            gc.freeze()
        return done

    def _restore(self) -> None:
        """Everything as it was before."""
        gc.set_threshold(*self._before)
        gc.unfreeze()
