"""Planning the memory of a graph: lifetimes, sharing, addresses, and the texts that show them."""

from harness.framework.compile.memory.addresses import Addresses, addresses
from harness.framework.compile.memory.model import PlanNode, PlanParameter, PlanTensor, Source, State
from harness.framework.compile.memory.parse import parse
from harness.framework.compile.memory.plan import MemoryPlan, plan, plan_state
from harness.framework.compile.memory.policy import reuse_applies

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
