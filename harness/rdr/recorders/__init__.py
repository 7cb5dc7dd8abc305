"""The kinds of records: one file per kind, found by its name in the registry."""

from harness.rdr.recorders.base import RECORDERS, Counter, Export, Recorder

__all__ = ["RECORDERS", "Counter", "Export", "Recorder"]
