"""A pytester in which the plugin is loaded, whether this project is installed or only on the path."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

# Inner sessions run in this process and forget what they imported; numpy cannot be imported twice.
from pytest_msdump.options import CI_VARIABLES

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "pytest_msdump.plugin"


INSTALLED = any(entry.value == PLUGIN for entry in entry_points(group="pytest11"))


@pytest.fixture
def gate(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A pytester outside CI with the plugin loaded once, in this process and in those it starts."""
    for name in CI_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_PLUGINS", "" if INSTALLED else PLUGIN)
    return pytester


@pytest.fixture
def plugin_name() -> str:
    """What ``-p no:NAME`` has to say."""
    return "msdump" if INSTALLED else PLUGIN
