"""Settings of every test. Properties have no deadline, because the time of an example depends on the machine.

Block 2 of the README draws the same examples on every machine and remembers none; ``tox -e deep`` draws fresh ones.
Of the cases of a test marked ``sampled`` it runs some, and ``tox -e long`` the others."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

import pytest

from harness.ci import HIDERS, VARIABLES

GATE = Path(__file__).parent / "gate"


def pytest_configure(config: pytest.Config) -> None:
    """Before the first test; not for the gate, which starts no process, and once for all workers."""
    if config.getoption("msdump", default=False):
        return
    os.fsync = lambda descriptor: None  # type: ignore[assignment]  # no test pulls the plug; disks are slow
    for name in (*VARIABLES, *HIDERS):  # tests write goldens of their own; those about CI set what they need
        os.environ.pop(name, None)
    if not hasattr(config, "workerinput"):
        from tests.bytecode import prepare

        prepare(config)


@cache
def _profile() -> None:
    from tests.examples import register

    register()


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Before a module of tests is imported. The gate has no properties, and starts without hypothesis."""
    if isinstance(collector, pytest.Module) and GATE not in collector.path.parents:
        _profile()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Modules and tests stay: to look for garbage among them took a sixth of the collection, and time of each test."""
    gc.disable()
    done = yield
    if not session.config.getoption("msdump", default=False):
        gc.freeze()
        gc.set_threshold(10_000, 20, 50)
    gc.enable()
    return done


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Before ``-m`` chooses."""
    if not config.getoption("msdump", default=False):
        from tests.examples import sample

        sample(items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """What a test sets with ``set_context`` ends with it."""
    context = sys.modules.get("harness.framework.context")
    before = dict(context._values) if context is not None else {}
    try:
        return (yield)
    finally:
        context = sys.modules.get("harness.framework.context")
        if context is not None and context._values != before:
            context._values.clear()
            context._values.update(before)
