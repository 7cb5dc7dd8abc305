"""Suites that prove an extension: subclass one in a test file, say what is tested, and pytest or unittest runs it."""

from harness.testing.suites.backend import BackendSuite
from harness.testing.suites.base import Suite
from harness.testing.suites.engine import EngineSuite
from harness.testing.suites.formats import FormatSuite
from harness.testing.suites.replayer import ReplayerSuite

__all__ = ["BackendSuite", "EngineSuite", "FormatSuite", "ReplayerSuite", "Suite"]
