"""Measures, tolerances, verdicts, first divergence, and the text of a failure."""

from harness.compare.check import HasRecords, check
from harness.compare.divergence import Divergence, Execution, first_divergence
from harness.compare.explain import explain
from harness.compare.measure import measure
from harness.compare.measurement import Element, Measurement
from harness.compare.texts import TextComparison, TextVerdict, compare_texts, explain_texts
from harness.compare.tolerances import DEFAULTS, EXACT, Tolerance, Tolerances
from harness.compare.verdict import Comparison, OrderChange, Rename, SlotVerdict, Verdict

__all__ = [
    "DEFAULTS", "EXACT", "Comparison", "Divergence", "Element", "Execution", "HasRecords", "Measurement",
    "OrderChange", "Rename", "SlotVerdict", "TextComparison", "TextVerdict", "Tolerance", "Tolerances", "Verdict",
    "check", "compare_texts", "explain", "explain_texts", "first_divergence", "measure",
]  # fmt: skip
