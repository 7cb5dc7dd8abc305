"""Hooks of the plugin that are always on: options, marker, fixture, ids; the gate itself is registered only on
request."""

from __future__ import annotations

import pytest

from pytest_msdump import options
from pytest_msdump.fixture import msdump
from pytest_msdump.options import NOT_ASKED, SETTINGS
from pytest_msdump.variants import MARKER_ARGUMENTS, is_gate_test, parametrize

__all__ = ["msdump"]

MARKER_LINE = (
    f"msdump({', '.join(f'{name}=' for name in MARKER_ARGUMENTS)}): run the test's networks on these backends in "
    "these dump modes and check what they dump against the test's golden (pytest-msdump)"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Flags and their ini twins."""
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """The plugin's own hooks."""
    from pytest_msdump import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_load_initial_conftests(parser: pytest.Parser, args: list[str]) -> None:
    """Puts a hint beside the error by which pytest refuses options that nobody has."""
    if any(each.startswith("--") for each in args):
        from pytest_msdump import slips

        hint, beside = slips.told(args), getattr(parser, "extra_info", None)
        if hint and isinstance(beside, dict):
            beside["msdump"] = hint


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrises before other plugins, so that ids begin with backend and mode."""
    parametrize(metafunc)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker, resolves the options, and registers the gate if it was requested."""
    config.addinivalue_line("markers", MARKER_LINE)
    settings = options.settings(config)
    config.stash[SETTINGS] = settings
    if not settings.active:
        config.pluginmanager.register(Idle(), "msdump-idle")
        return
    from pytest_msdump.command import other_package

    why = other_package()
    if why:
        from pytest_msdump.foreign import Blocked

        config.pluginmanager.register(Blocked(why), "msdump-blocked")
        return
    from pytest_msdump.gate import install

    install(config, settings)


class Idle:
    """Replaces the gate when it was not requested: a test that compares nothing must not pass."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skips gate tests."""
        if is_gate_test(item):
            pytest.skip(NOT_ASKED)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Says that gate tests were skipped: pytest alone shows an ``s``."""
        skipped = terminalreporter.stats.get("skipped", ())
        count = sum(NOT_ASKED in str(getattr(each, "longrepr", "")) for each in skipped)
        if count:
            what = "1 test" if count == 1 else f"{count} tests"
            terminalreporter.write_line(f"msdump: {what} compared nothing; --msdump checks against the goldens")
