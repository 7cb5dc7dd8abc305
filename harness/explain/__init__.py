"""Why a run left its golden: the origin's cause, proven by computing the operator again where that can be done."""

from harness.explain.build import explain
from harness.explain.explanation import Cause, Certainty, Change, Element, Explanation, Origin
from harness.explain.runs import Run
from harness.explain.text import Commands, block

__all__ = [
    "Cause", "Certainty", "Change", "Commands", "Element", "Explanation", "Origin", "Run", "block", "explain",
]  # fmt: skip
