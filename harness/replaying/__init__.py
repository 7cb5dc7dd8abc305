"""Finds the replayer of an engine: what runs one of its operators again.

The harness's own are registered here; an engine is imported when its first operator is explained. Other packages add
theirs under the engine's name: ``REPLAYERS.register``, or an entry point of its group.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from harness.devices import DEVICES
from harness.recording.events import EMULATION
from harness.recording.replayer import REPLAYERS, Replayer, replayer_of

__all__ = ["MINDSPORE", "PYTORCH", "REPLAYERS", "engine_of", "is_mindspore", "replayer_of"]

#: The engine of runs that state none: MindSpore, real or emulated.
MINDSPORE = "MindSpore"
PYTORCH = "PyTorch"


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


def _emulator() -> Replayer:
    """Runs MindSpore's operators."""
    from harness.replaying.emulated import Emulated

    return Emulated()


def _aten() -> Replayer | None:
    """Runs PyTorch's operators by the PyTorch that is installed; None if it cannot be imported."""
    try:
        from harness.replaying.aten.replayer import Aten
    except ImportError:
        return None
    return Aten()


def _has_torch() -> bool:
    """Whether PyTorch is installed; it is not imported."""
    try:
        return find_spec("torch") is not None
    except ValueError:  # a stand-in that says nothing of itself
        return True


REPLAYERS.register(MINDSPORE, _emulator)
REPLAYERS.register(EMULATION, _emulator)
if _has_torch():
    REPLAYERS.register(PYTORCH, _aten)
