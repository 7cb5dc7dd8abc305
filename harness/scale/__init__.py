"""Checks, comparisons and imports that several processes share, on one machine or on many (``docs/scale.md``).

Workers read and measure next to the files and send digests and verdicts. This process puts them into the order of the
serial reader and runs the serial code on them, so that the answer is the same.
"""

from typing import TYPE_CHECKING

from harness._namespace import lazy as _lazy
from harness.scale.keep import Keep
from harness.scale.options import Scale, session

if TYPE_CHECKING:
    from harness.scale.driver import Session

__all__ = ["Keep", "Scale", "Session", "session"]

__getattr__, __dir__ = _lazy(__name__, {"Session": "harness.scale.driver"})
