"""Planning the memory of a graph: lifetimes, sharing, addresses, and the texts that show them."""

from harness.memory.addresses import Addresses, addresses
from harness.memory.model import PlanNode, PlanParameter, PlanTensor, Source, State
from harness.memory.parse import parse
from harness.memory.plan import MemoryPlan, plan, plan_state
from harness.memory.policy import reuse_applies

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
