"""Records of runs that others' tools write, read as captures: a module each, registered under its name."""

from harness.capture.logs.base import LOGS, LogReader, Slot, reader_of

__all__ = ["LOGS", "LogReader", "Slot", "reader_of"]
