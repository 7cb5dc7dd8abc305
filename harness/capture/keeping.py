"""What a golden store keeps of a capture beside its records and texts."""

from __future__ import annotations

from harness.capture.capture import Capture
from harness.store.layout.tables import Declared


def declared_by(capture: Capture) -> Declared:
    """Operators, results and gaps of a capture whose records were read to their end."""
    return Declared(tuple(capture.operators.values()), dict(capture.results), capture.gaps)
