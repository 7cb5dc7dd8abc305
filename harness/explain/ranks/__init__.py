"""Which of several ranks left first, at which operator, and why: beside a golden, and of one run alone."""

from harness.explain.ranks.beside_golden import beside, equal_bits
from harness.explain.ranks.calls import run_of
from harness.explain.ranks.finding import CAUSES, Cause, Finding, RanksReport, Spread
from harness.explain.ranks.text import as_json, lines
from harness.explain.ranks.timeline import Execution, Meeting, Run, kind_of
from harness.explain.ranks.without_golden import alone, matches

__all__ = [
    "CAUSES", "Cause", "Execution", "Finding", "Meeting", "RanksReport", "Run", "Spread", "alone", "as_json", "beside",
    "equal_bits", "kind_of", "lines", "matches", "run_of",
]  # fmt: skip
