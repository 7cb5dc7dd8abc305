"""Loaded by ``dask worker --preload``: dies by SIGKILL at a named step, once for each file that says so.

``MSDUMP_TEST_DEATHS`` is a directory; a file ``RANK-ITERATION`` in it kills who begins that part, and is taken away by
the one that dies.
"""

from __future__ import annotations

import os
import signal
from functools import wraps
from pathlib import Path
from typing import Any

from harness.scale import work

_part = work.part


@wraps(_part)
def part(task: Any) -> Any:
    """As ``harness.scale.work.part``."""
    order = Path(os.environ["MSDUMP_TEST_DEATHS"], f"{task.part.rank}-{task.part.iteration}")
    try:
        # Whose removal succeeds dies: two files kill two.
        names = sorted(order.iterdir()) if order.is_dir() else []
        for name in names:
            name.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
    except FileNotFoundError:
        pass
    return _part(task)


work.part = part  # type: ignore[assignment]
