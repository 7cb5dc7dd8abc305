"""Random faults in random networks: how often do we name the right operator, and the right cause?"""

from harness.testing.faults.suite import Fault, Outcome, faults, judged, run

__all__ = ["Fault", "Outcome", "faults", "judged", "run"]
