"""MindSpore's Dump: configuration, selection, names, files, and the observer that writes them."""

from typing import TYPE_CHECKING

from harness._namespace import lazy as _lazy

if TYPE_CHECKING:
    from harness.dump.asynchronous.dump_data import DumpFile
    from harness.dump.config import DumpConfig, parse
    from harness.dump.environment import install
    from harness.dump.observer import DumpObserver

__all__ = ["DumpConfig", "DumpFile", "DumpObserver", "install", "parse"]

# A reader of files needs no compiler: the parts that do are looked up at first use.
__getattr__, __dir__ = _lazy(
    __name__,
    {
        "DumpConfig": "harness.dump.config",
        "DumpFile": "harness.dump.asynchronous.dump_data",
        "DumpObserver": "harness.dump.observer",
        "install": "harness.dump.environment",
        "parse": "harness.dump.config",
    },
)
