"""MindSpore's ``ops`` namespace as layers use it.

Its members are found when ``harness.ops`` is imported, so a type checker cannot know them.
"""

from __future__ import annotations

from typing import Any

import harness.ops as _ops

ops: Any = _ops
