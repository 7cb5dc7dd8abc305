"""Captures: what a run left, collected in memory or read from a dump tree."""

from typing import TYPE_CHECKING

from harness._namespace import lazy as _lazy
from harness.capture.capture import Capture, Problem
from harness.capture.observer import CaptureObserver

if TYPE_CHECKING:
    from harness.capture.tree import read_tree

__all__ = ["Capture", "CaptureObserver", "Problem", "read_tree"]

# A run in memory needs none of what reads trees.
__getattr__, __dir__ = _lazy(__name__, {"read_tree": "harness.capture.tree"})
