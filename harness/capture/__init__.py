"""Captures: the results of a run, collected in memory or read from a dump tree."""

from typing import TYPE_CHECKING

from harness._namespace import lazy as _lazy
from harness.capture.capture import Capture, Problem

if TYPE_CHECKING:
    from harness.capture.builder import CaptureBuilder
    from harness.capture.observer import CaptureObserver
    from harness.capture.tree import read_tree

__all__ = ["Capture", "CaptureBuilder", "CaptureObserver", "Problem", "read_tree"]

# A run in memory needs none of what reads trees, and values that a test hands over none of what watches runs.
_PLACES = {
    "CaptureBuilder": "harness.capture.builder",
    "CaptureObserver": "harness.capture.observer",
    "read_tree": "harness.capture.tree",
}
__getattr__, __dir__ = _lazy(__name__, _PLACES)
