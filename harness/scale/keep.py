"""What a comparison needs of slots that hold."""

from __future__ import annotations

from typing import Literal

#: What of slots that hold is wanted: all of them, those with a reason, their number with their place in time, their
#: number alone, or what they look like.
Keep = Literal["all", "reasoned", "ordered", "counts", "looks"]
