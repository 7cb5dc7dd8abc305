"""Captures: what a run left, collected in memory or read from a dump tree."""

from harness.capture.capture import Capture, Problem
from harness.capture.observer import CaptureObserver
from harness.capture.tree import read_tree

__all__ = ["Capture", "CaptureObserver", "Problem", "read_tree"]
