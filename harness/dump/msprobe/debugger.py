"""``from msprobe.mindspore import PrecisionDebugger`` in a script under ``msdump run``: level L2, kernels.

Levels L0, L1 and mix hook into running cells and functions; here a gradient is one graph, so they are refused.
"""

from __future__ import annotations

import json
import os
from typing import Any

from harness.dump.msprobe import config as probe_config
from harness.errors import StateError, UnsupportedError

__all__ = ["PrecisionDebugger"]

_VARIABLE = "MSDUMP_MSPROBE_CONFIG"
_REFUSED = ("L0", "L1", "mix", "debug")


class PrecisionDebugger:
    """Dumps kernels according to ``config.json``, from the first ``start`` on; the graphs count their own steps.

    Args:
        config_path: the file; None for ``./config.json``.
        task, dump_path, level, step: must not be given here; set them in the file.

    Raises:
        UnsupportedError: another level than L2, or a setting outside the file.
        DumpConfigError: the file is refused; the message names the field.
    """

    def __init__(
        self, config_path: str | None = None, task: Any = None, dump_path: Any = None, level: Any = None,
        step: Any = None,
    ) -> None:  # fmt: skip
        given = {"task": task, "dump_path": dump_path, "level": level, "step": step}
        if named := [name for name, value in given.items() if value is not None]:
            raise UnsupportedError(f"PrecisionDebugger({named[0]}=...) is not supported; write it into config.json")
        self._path = probe_config.resolve(config_path or "./config.json")
        asked = _level(self._path)
        if asked in _REFUSED:
            raise UnsupportedError(
                f"PrecisionDebugger: level {asked} is not supported here; level L2 (kernels) is, and msprobe's "
                "compare reads it"
            )
        probe_config.parse(self._path)
        self._started = False

    def start(self, model: Any = None, token_range: Any = None, rank_id: Any = None) -> None:
        """Dumps every step compiled from now on; ``StateError`` if the process already dumps in another way."""
        if os.environ.get(_VARIABLE, os.fspath(self._path)) != os.fspath(self._path):
            raise StateError(f"PrecisionDebugger: {_VARIABLE} names another configuration, {os.environ[_VARIABLE]!r}")
        os.environ[_VARIABLE] = os.fspath(self._path)
        self._started = True

    def stop(self) -> None:
        """Does nothing: level L2 dumps whole steps."""

    def step(self) -> None:
        """Does nothing, because the graphs count their own steps; ``StateError`` before ``start``."""
        if not self._started:
            raise StateError("PrecisionDebugger: step comes after start")


def _level(path: Any) -> str:
    """The value of ``level``; L1 if it is missing, as in msprobe. ``parse`` refuses a file that is not JSON."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return ""
    return str(found.get("level", "L1")) if isinstance(found, dict) else ""
