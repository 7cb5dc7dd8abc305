"""Opens recordings that dump, record and capture what a runtime runs, as the environment asks."""

from harness.instruments.opening import CAPTURE, open_recording
from harness.instruments.stores import StoreObserver

open = open_recording

__all__ = ["CAPTURE", "StoreObserver", "open", "open_recording"]
