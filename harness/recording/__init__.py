"""What ran: operators with their attributes, edges, slots and source lines, told to whoever watches.

A runtime opens a ``Recording``, declares its graphs, and runs steps of launches within blocks. This package knows no
runtime, no file and no observer.
"""

from harness.recording.events import Compilation, Engine, Stage, Want
from harness.recording.graph import EagerGraph, Graph
from harness.recording.observer import Observer
from harness.recording.operands import Constant, Parameter, SourceLine, constant
from harness.recording.operator import Operand, Operator, Result
from harness.recording.recording import Compiling, Recording
from harness.recording.spec import OpaqueSpec, ScalarSpec, Spec, TensorSpec, TupleSpec
from harness.recording.step import Launch, Step
from harness.recording.value import Value
from harness.recording.world import World

__all__ = [
    "Compilation", "Compiling", "Constant", "EagerGraph", "Engine", "Graph", "Launch", "Observer", "OpaqueSpec",
    "Operand", "Operator", "Parameter", "Recording", "Result", "ScalarSpec", "SourceLine", "Spec", "Stage", "Step",
    "TensorSpec", "TupleSpec", "Value", "Want", "World", "constant",
]  # fmt: skip
