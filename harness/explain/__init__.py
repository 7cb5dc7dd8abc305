"""Explains why a run differs from its golden: the cause at the origin, proven by computing the operator again if
possible."""

from harness.explain.build import explain
from harness.explain.evidence import Evidence
from harness.explain.explanation import Cause, Certainty, Change, Element, Explanation, Origin
from harness.explain.rounding import settle
from harness.explain.text import Commands, block, painted, see_slot
from harness.explain.told import Subject, explained, told

__all__ = [
    "Cause",
    "Certainty",
    "Change",
    "Commands",
    "Element",
    "Evidence",
    "Explanation",
    "Origin",
    "Subject",
    "block",
    "explain",
    "explained",
    "painted",
    "see_slot",
    "settle",
    "told",
]  # fmt: skip
