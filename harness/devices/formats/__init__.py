"""Storage formats: how tensors lie in a device's memory. One file a format (or a family of one formula)."""

from harness.devices.formats.base import FORMATS, POISON, StorageFormat
from harness.devices.formats.layout import DEFAULT, Layout

__all__ = ["DEFAULT", "FORMATS", "POISON", "Layout", "StorageFormat"]
