"""What can be recorded: one file a kind, found by its name in the one registry."""

from harness.rdr.recorders.base import RECORDERS, Counter, Export, Recorder

__all__ = ["RECORDERS", "Counter", "Export", "Recorder"]
