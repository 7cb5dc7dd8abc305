"""Finds the replayer of an engine: what runs one of its operators again.

The harness's own are here, a module each, imported when the first operator of its engine is explained. Other packages
add theirs under the engine's name: ``REPLAYERS.register``, or an entry point of its group.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from harness.devices import DEVICES
from harness.recording.events import EMULATION
from harness.recording.replayer import REPLAYERS, Replayer
from harness.recording.replayer import replayer_of as registered

__all__ = ["MINDSPORE", "OWN", "PYTORCH", "REPLAYERS", "engine_of", "is_mindspore", "replayer_of"]

#: The engine of runs that state none: MindSpore, real or emulated.
MINDSPORE = "MindSpore"
PYTORCH = "PyTorch"
#: Module of this package by engine; it registers the engine's replayer.
OWN: dict[str, str] = {MINDSPORE: "mindspore", EMULATION: "mindspore", PYTORCH: "pytorch"}


def is_mindspore(engine: str) -> bool:
    """Whether operators of this engine are MindSpore's, real or emulated."""
    return any(engine == name or engine.startswith(f"{name} ") for name in (MINDSPORE, EMULATION))


def engine_of(rules: Mapping[str, Any], backend: str) -> str:
    """Name of the engine whose operators a run has; empty for MindSpore's, real or emulated.

    Args:
        rules: where its values come from; ``kernels`` says that another engine computed MindSpore's operators.
        backend: its backend; one that is no device of MindSpore's names an engine if nothing else does.
    """
    if "kernels" in rules:
        return ""
    engine = rules.get("engine")
    if isinstance(engine, str) and engine:
        return engine
    if backend == "torch":
        return PYTORCH
    return "" if backend in ("", "mindspore", "ascend") or backend in DEVICES else backend


def replayer_of(engine: str) -> Replayer | None:
    """The replayer of an engine's operators; None if it has none: then nothing is proven by replay.

    Args:
        engine: name, with or without what follows it (``onnx 1.20.0``, ``PyTorch 2.13.0 on cpu``).
    """
    for name, module in OWN.items():
        if engine == name or engine.startswith(f"{name} "):
            importlib.import_module(f"{__name__}.{module}")
    return registered(engine)
