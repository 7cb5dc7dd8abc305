"""Explains why a run differs from its golden: the cause at the origin, proven by computing the operator again if
possible."""

from typing import TYPE_CHECKING

from harness._namespace import lazy as _lazy
from harness.explain.evidence import Evidence
from harness.explain.explanation import Cause, Certainty, Change, Element, Explanation, Origin
from harness.explain.judgement_text import Subject, explained, told
from harness.explain.rounding import settle
from harness.explain.sides import side_of
from harness.explain.text import Commands, block, origin_lines, painted, see_slot

if TYPE_CHECKING:
    from harness.explain.build import explain

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
    "origin_lines",
    "painted",
    "see_slot",
    "settle",
    "side_of",
    "told",
]  # fmt: skip

# What makes an explanation is imported with the first one: most comparisons hold.
__getattr__, __dir__ = _lazy(__name__, {"explain": "harness.explain.build"})
