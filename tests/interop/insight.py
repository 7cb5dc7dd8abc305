"""MindInsight, called in a process of its own."""

from __future__ import annotations

import json
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.differential.side import Side

VIEW = Path(__file__).with_name("mindinsight_view.py")


@lru_cache(maxsize=4)
def view(side: Side, tree: Path) -> dict[str, Any]:
    """What ``mindinsight_view.py`` prints about ``tree``."""
    with tempfile.TemporaryDirectory() as place:
        found: dict[str, Any] = json.loads(side.printed(VIEW, Path(place), tree).splitlines()[-1])
    return found
