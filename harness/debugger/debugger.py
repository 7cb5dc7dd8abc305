"""``from msprobe.mindspore import PrecisionDebugger`` in a script under ``msdump run``.

Level L2 (kernels) is left to the graphs; levels L0 (cells), L1 (functions) and mix (both) see the calls of PyNative
mode. One process has one debugger, as in msprobe: a second one is the first.
"""

from __future__ import annotations

import atexit
import os
from pathlib import Path
from typing import Any, ClassVar

from harness.debugger import config as call_config
from harness.debugger.calls import Calls, ordered
from harness.debugger.step import CallFiles, CallStep
from harness.dump.environment import DISTRIBUTED, rank_and_device
from harness.dump.msprobe import config as probe_config
from harness.errors import SettingTypeError, StateError, UnsupportedError
from harness.framework import context
from harness.framework.runtime import session
from harness.framework.tensor import watch

__all__ = ["PrecisionDebugger"]

_VARIABLE = "MSDUMP_MSPROBE_CONFIG"


class PrecisionDebugger:
    """Dumps according to ``config.json``.

    Args:
        config_path: the file; None for ``./config.json``.
        task, dump_path, level, step: given here, they take the place of the file's (level L2: set them in the file).

    Raises:
        UnsupportedError: level debug, or a setting outside the file with level L2.
        DumpConfigError: the file is refused; the message names the field.
    """

    _instance: ClassVar[PrecisionDebugger | None] = None
    _calls: _CallDebugger | None
    _path: Path
    _started: bool

    def __new__(cls, *_args: Any, **_kwargs: Any) -> PrecisionDebugger:
        """The process's debugger."""
        return cls._instance or super().__new__(cls)

    def __init__(
        self, config_path: str | None = None, task: Any = None, dump_path: Any = None, level: Any = None,
        step: Any = None,
    ) -> None:  # fmt: skip
        if PrecisionDebugger._instance is not None:
            return
        given = {"task": task, "dump_path": dump_path, "level": level, "step": step}
        given = {name: value for name, value in given.items() if value is not None}
        self._path = probe_config.resolve(config_path or "./config.json")
        values = call_config.read(self._path, given)
        asked = call_config.level_of(values)
        self._started = False
        self._calls = None
        if asked in call_config.CALL_LEVELS:
            self._calls = _CallDebugger(call_config.parse(values, os.fspath(self._path)))
        elif given:
            raise UnsupportedError(
                f"PrecisionDebugger({next(iter(given))}=...) with level {asked} is not supported; write it into the "
                "file, or use level L0, L1 or mix"
            )
        elif asked == "debug":
            raise UnsupportedError("PrecisionDebugger: level debug is not supported here; L0, L1, mix and L2 are")
        else:
            probe_config.parse(self._path)
        PrecisionDebugger._instance = self

    @classmethod
    def start(cls, model: Any = None, token_range: Any = None, rank_id: Any = None) -> None:
        """Dumps from now on, to the next ``stop`` (level L2: every graph compiled from now on).

        Raises:
            StateError: there is no debugger; level L2, and the process dumps in another way; graph mode with another
                level than L2.
        """
        self = cls._the_one("start")
        self._started = True
        if self._calls is not None:
            self._calls.start(model, token_range, rank_id)
            return
        if os.environ.get(_VARIABLE, os.fspath(self._path)) != os.fspath(self._path):
            raise StateError(f"PrecisionDebugger: {_VARIABLE} names another configuration, {os.environ[_VARIABLE]!r}")
        os.environ[_VARIABLE] = os.fspath(self._path)

    @classmethod
    def stop(cls) -> None:
        """Ends what ``start`` began, and writes it; level L2 dumps whole steps, so there it does nothing."""
        self = cls._the_one("stop")
        if self._calls is not None:
            self._calls.stop()

    @classmethod
    def step(cls) -> None:
        """Begins the next step; with level L2 graphs count their own. ``StateError`` before ``start``."""
        self = cls._the_one("step")
        if not self._started:
            raise StateError("PrecisionDebugger: step comes after start")
        if self._calls is not None:
            self._calls.next_step()

    @classmethod
    def _the_one(cls, method: str) -> PrecisionDebugger:
        if cls._instance is None:
            raise StateError(f"PrecisionDebugger.{method}: make a PrecisionDebugger first")
        return cls._instance


class _CallDebugger:
    """Levels L0, L1 and mix."""

    def __init__(self, config: call_config.CallConfig) -> None:
        self._config = config
        self._number = 0
        self._mounted: list[Any] = []
        self._model: Any = None
        self._calls = Calls(config)
        self._files: CallFiles | None = None
        self._rank: int | None = None
        atexit.register(self._write)

    def start(self, model: Any, token_range: Any, rank_id: Any) -> None:
        if token_range is not None:
            raise UnsupportedError("PrecisionDebugger.start(token_range=...) is not supported; accepted: None")
        if context.get_context("mode") == context.GRAPH_MODE:
            raise StateError(
                f"PrecisionDebugger: level {self._config.level} sees the calls of PyNative mode, the mode is "
                "GRAPH_MODE (the real one refuses it on a CPU, too); use level L2, or set_context(mode=PYNATIVE_MODE)"
            )
        self._model = self._model if model is None else model
        if self._model is None and self._config.level != "L1":
            raise SettingTypeError(f"PrecisionDebugger.start: level {self._config.level} needs the model")
        if self._model is not None and not any(each is self._model for each in self._mounted):
            self._calls.mount(self._model)
            self._mounted.append(self._model)
        if self._files is None:
            self._files = self._begun(rank_id)
        wanted = not self._config.steps or self._number in self._config.steps
        ranked = not self._config.ranks or (self._rank or 0) in self._config.ranks
        if wanted and ranked and self._config.enabled:
            self._calls.running = True
            watch(self._calls)

    def _begun(self, rank_id: Any) -> CallFiles:
        if os.environ.get(DISTRIBUTED) == "1":
            self._rank = rank_and_device(os.environ)[0]
        self._rank = self._rank if rank_id is None else rank_id
        directory = f"proc{os.getpid()}" if self._rank is None else f"rank{self._rank}"
        return CallFiles(self._config, session.current().configured_device(), directory)

    def stop(self) -> None:
        self._calls.running = False
        watch(None)
        self._write()

    def next_step(self) -> None:
        self._write()
        self._calls.reset()
        self._number += 1

    def _write(self) -> None:
        step = self._calls.step
        if self._files is None or not step.data or step.written:
            return
        in_order = CallStep()
        in_order.data, in_order.parents, in_order.stacks = dict(ordered(step)), step.parents, step.stacks
        if self._config.level == "L1":
            in_order.parents = {}
        self._files.write(self._number, in_order)
        step.written = True
