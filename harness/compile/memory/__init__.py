"""Planning the memory of a graph: lifetimes, who may share, where everything lies, and the texts that show it."""

from harness.compile.memory.addresses import Addresses, addresses
from harness.compile.memory.model import PlanNode, PlanParameter, PlanTensor, Source, State
from harness.compile.memory.parse import parse
from harness.compile.memory.plan import MemoryPlan, plan, plan_state
from harness.compile.memory.policy import reuse_applies

__all__ = [
    "Addresses",
    "MemoryPlan",
    "PlanNode",
    "PlanParameter",
    "PlanTensor",
    "Source",
    "State",
    "addresses",
    "parse",
    "plan",
    "plan_state",
    "reuse_applies",
]
