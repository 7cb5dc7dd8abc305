"""Finds the replayer of an engine: what runs one of its operators again.

The harness's own are here, a module each, imported when the first operator of its engine is explained. Other packages
add theirs under the engine's name: ``REPLAYERS.register``, or an entry point of its group.
"""

from __future__ import annotations

import importlib

from harness.recording.replayer import REPLAYERS, Replayer
from harness.recording.replayer import replayer_of as registered

__all__ = ["MINDSPORE", "OWN", "REPLAYERS", "is_mindspore", "replayer_of"]

#: The engine of runs that state none: MindSpore, real or emulated.
MINDSPORE = "MindSpore"
#: Module of this package by engine; it registers the engine's replayer.
OWN: dict[str, str] = {MINDSPORE: "mindspore"}


def is_mindspore(engine: str) -> bool:
    """Whether operators of this engine are MindSpore's, real or emulated."""
    return engine == MINDSPORE or engine.startswith(f"{MINDSPORE} ")


def replayer_of(engine: str) -> Replayer | None:
    """The replayer of an engine's operators; None if it has none: then nothing is proven by replay.

    Args:
        engine: name, with or without what follows it (``onnx 1.20.0``, ``PyTorch 2.13.0 on cpu``).
    """
    for name, module in OWN.items():
        if engine == name or engine.startswith(f"{name} "):
            importlib.import_module(f"{__name__}.{module}")
    return registered(engine)
