"""Measures, tolerances, verdicts, first divergence."""

import gc as _gc
from typing import TYPE_CHECKING

import numpy as _np  # noqa: F401 - before what needs it: its import is deep

from harness._namespace import lazy as _lazy

# What modules define stays: to look all of it through again and again takes a tenth of the time.
_collects = _gc.isenabled()
_gc.disable()
try:
    from harness.compare.check import HasRecords, check
    from harness.compare.divergence import Execution
    from harness.compare.extending import MEASURES, TOLERANCE_RULES, Measure, ToleranceRule
    from harness.compare.first_divergence import first_divergence
    from harness.compare.measure import measure
    from harness.compare.measurement import Element, Measurement
    from harness.compare.origin import Downstream, Input, Kind, Origin, State
    from harness.compare.tolerances import DEFAULTS, EXACT, Tolerance, Tolerances
    from harness.compare.verdict import Comparison, OrderChange, Rename, SlotVerdict, Uncompared, Verdict
finally:
    if _collects:
        _gc.enable()

if TYPE_CHECKING:
    from harness.compare.texts import TextComparison, TextVerdict, compare_texts, explain_texts

__all__ = [
    "DEFAULTS",
    "EXACT",
    "MEASURES",
    "TOLERANCE_RULES",
    "Comparison",
    "Downstream",
    "Element",
    "Execution",
    "HasRecords",
    "Input",
    "Kind",
    "Measure",
    "Measurement",
    "OrderChange",
    "Origin",
    "Rename",
    "SlotVerdict",
    "State",
    "TextComparison",
    "TextVerdict",
    "Tolerance",
    "ToleranceRule",
    "Tolerances",
    "Uncompared",
    "Verdict",
    "check",
    "compare_texts",
    "explain_texts",
    "first_divergence",
    "measure",
]  # fmt: skip

# Many runs have no text to compare.
_TEXTS = ("TextComparison", "TextVerdict", "compare_texts", "explain_texts")
__getattr__, __dir__ = _lazy(__name__, dict.fromkeys(_TEXTS, "harness.compare.texts"))
