"""Faults over networks, both drawn at random: how often is the right operator named, and the right cause?"""

from harness.testing.faults.suite import Fault, Outcome, faults, judged, run

__all__ = ["Fault", "Outcome", "faults", "judged", "run"]
