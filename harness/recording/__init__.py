"""What ran: operators with their attributes, edges, slots and source lines, told to whoever watches.

A runtime opens a ``Recording``, declares its graphs, and runs steps of launches within blocks. This package knows no
runtime, no file and no observer.
"""

from typing import TYPE_CHECKING

from harness._namespace import lazy as _lazy
from harness.recording.described import Described, Edge, described
from harness.recording.operands import Constant, Parameter, SourceLine, constant
from harness.recording.operator import Operand, Operator, Result, plain
from harness.recording.spec import OpaqueSpec, ScalarSpec, Spec, TensorSpec, TupleSpec

if TYPE_CHECKING:
    from harness.recording.events import Compilation, Engine, Stage, Want
    from harness.recording.graph import EagerGraph, Graph
    from harness.recording.observer import Observer
    from harness.recording.recording import Compiling, Recording, listening
    from harness.recording.replayer import REPLAYERS, Call, Facts, Replayed, Replayer, replayer_of
    from harness.recording.step import Launch, Step
    from harness.recording.value import Value
    from harness.recording.world import World

__all__ = [
    "REPLAYERS", "Call", "Compilation", "Compiling", "Constant", "Described", "EagerGraph", "Edge", "Engine", "Facts",
    "Graph", "Launch", "Observer", "OpaqueSpec", "Operand", "Operator", "Parameter", "Recording", "Replayed",
    "Replayer", "Result", "ScalarSpec", "SourceLine", "Spec", "Stage", "Step", "TensorSpec", "TupleSpec", "Value",
    "Want", "World", "constant", "described", "listening", "plain", "replayer_of",
]  # fmt: skip

# What reads a golden needs its operators; it records nothing, and few replay.
_RECORDING = {
    **dict.fromkeys(("Compilation", "Engine", "Stage", "Want"), "harness.recording.events"),
    **dict.fromkeys(("EagerGraph", "Graph"), "harness.recording.graph"),
    "Observer": "harness.recording.observer",
    **dict.fromkeys(("Compiling", "Recording", "listening"), "harness.recording.recording"),
    **dict.fromkeys(
        ("REPLAYERS", "Call", "Facts", "Replayed", "Replayer", "replayer_of"), "harness.recording.replayer"
    ),
    **dict.fromkeys(("Launch", "Step"), "harness.recording.step"),
    "Value": "harness.recording.value",
    "World": "harness.recording.world",
}
__getattr__, __dir__ = _lazy(__name__, _RECORDING)
