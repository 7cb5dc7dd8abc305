"""Sick trainings on purpose: drawn networks with one fault each, the truth about it, and healthy ones beside them."""

from harness.testing.sick.kinds import KINDS, Sick, make
from harness.testing.sick.plans import FAMILIES, Plan, draw

__all__ = ["FAMILIES", "KINDS", "Plan", "Sick", "draw", "make"]
