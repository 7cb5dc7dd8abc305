"""Storage formats: the layout of tensors in a device's memory. One file per format (or family with one formula)."""

from harness.devices.formats.base import FORMATS, POISON, StorageFormat
from harness.devices.formats.layout import DEFAULT, Layout

__all__ = ["DEFAULT", "FORMATS", "POISON", "Layout", "StorageFormat"]
