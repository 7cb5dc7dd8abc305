"""MindInsight, called in a process of its own."""

from __future__ import annotations

import json
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

VIEW = Path(__file__).with_name("mindinsight_view.py")


@lru_cache(maxsize=4)
def view(python: str, tree: Path) -> dict[str, Any]:
    """What ``mindinsight_view.py`` prints about ``tree``."""
    done = subprocess.run([python, str(VIEW), str(tree)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
