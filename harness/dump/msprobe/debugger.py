"""``from msprobe.mindspore import PrecisionDebugger`` in a script under ``msdump run``: level L2, kernels.

Levels L0, L1 and mix hook into cells and functions as they run; a gradient here is one graph, so they are refused.
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
    """Dumps kernels as ``config.json`` says, from the first ``start`` on; the graphs count their own steps.

    Args:
        config_path: the file; None for ``./config.json``.
        task, dump_path, level, step: not given here; they stand in the file.

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
        """Has every step dumped that is compiled from now on; ``StateError`` if the process dumps otherwise."""
        if os.environ.get(_VARIABLE, os.fspath(self._path)) != os.fspath(self._path):
            raise StateError(f"PrecisionDebugger: {_VARIABLE} names another configuration, {os.environ[_VARIABLE]!r}")
        os.environ[_VARIABLE] = os.fspath(self._path)
        self._started = True

    def stop(self) -> None:
        """Level L2 dumps whole steps: nothing is to be done."""

    def step(self) -> None:
        """The graphs count their own steps; ``StateError`` before ``start``."""
        if not self._started:
            raise StateError("PrecisionDebugger: step comes after start")


def _level(path: Any) -> str:
    """What ``level`` says; L1 where it is missing, as in msprobe. What is no JSON is refused by ``parse``."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return ""
    return str(found.get("level", "L1")) if isinstance(found, dict) else ""
