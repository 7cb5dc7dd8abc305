"""A measure for ``msdump diff --json`` and ``--csv``."""

import numpy as np

from harness.compare import Measure


class Flips(Measure):
    name = "flips"
    meaning = "the share of elements with another sign"

    def measure(self, expected, found):
        if expected.dtype.kind not in "if" or not expected.size:
            return None
        return float(np.mean(np.signbit(expected.astype(float)) != np.signbit(found.astype(float))))
