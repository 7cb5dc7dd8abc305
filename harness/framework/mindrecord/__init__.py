"""``mindspore.mindrecord``: files of rows that ``MindDataset`` reads."""

from harness.framework.mindrecord.writing import SUCCESS, FileWriter
from harness.framework.names import fallback as _fallback

__all__ = ["SUCCESS", "FileWriter"]

__getattr__ = _fallback(__name__)
