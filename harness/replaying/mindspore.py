"""Operators of MindSpore, run again by the emulator."""

from __future__ import annotations

from harness.framework.runtime.replaying import Emulator
from harness.recording.events import EMULATION
from harness.recording.replayer import REPLAYERS
from harness.replaying import MINDSPORE

for engine in (MINDSPORE, EMULATION):
    REPLAYERS.register(engine, Emulator)
