"""Operators (row 2), and MindSpore's ``ops`` namespace: functions and primitives."""

from harness.ops import eager as _eager
from harness.ops.base import OPERATORS, Backward, Call, Operator, operator

__all__ = ["OPERATORS", "Backward", "Call", "Operator", "operator"]
