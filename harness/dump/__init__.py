"""MindSpore's Dump: configuration, selection, names, files, and the observer that writes them."""

from harness.dump.config import DumpConfig, parse
from harness.dump.environment import install
from harness.dump.observer import DumpObserver

__all__ = ["DumpConfig", "DumpObserver", "install", "parse"]
