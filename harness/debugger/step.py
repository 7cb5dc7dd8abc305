"""What one step's calls leave: the contents of ``dump.json``, ``stack.json`` and ``construct.json``."""

from __future__ import annotations

import errno
import json
import linecache
import os
import sys
from pathlib import Path
from typing import Any

from harness.debugger.config import CallConfig
from harness.debugger.entries import described
from harness.devices import Device
from harness.dtypes import DType
from harness.dump import npy
from harness.dump.asynchronous.layout import MARK
from harness.dump.msprobe.observer import FILE_MODE, FRAMEWORK
from harness.dump.msprobe.step_files import CONSTRUCT, DUMP, FORMULA, STACK, TENSORS
from harness.dump.writer import Directory, Tree
from harness.errors import DumpWriteError
from harness.framework.nn.watching import Array

_OURS = f"{Path(__file__).parents[1]}{os.sep}"
#: fields of an entry whose file names have another word
_FILE_WORDS = {"input_args": "input", "input_kwargs": "kwargs"}
PARAMETERS_GRAD = "parameters_grad"


class CallStep:
    """The entries of one step, in the order their last part was computed."""

    def __init__(self) -> None:
        self.data: dict[str, dict[str, Any]] = {}
        self.parents: dict[str, str | None] = {}
        self.stacks: dict[tuple[str, ...], list[str]] = {}
        self.written = False

    def copy(self) -> CallStep:
        """As it is now; values are shared."""
        made = CallStep()
        made.data = {key: dict(entry) for key, entry in self.data.items()}
        made.parents = dict(self.parents)
        made.stacks = {lines: list(names) for lines, names in self.stacks.items()}
        return made

    def add(self, entry: str, **parts: Any) -> None:
        """Adds parts (from ``call_entries.taken``) to an entry; a cell's moves to the end."""
        held = self.data.pop(entry, {}) if entry.startswith("Cell.") else self.data.get(entry, {})
        self.data[entry] = held | parts
        self.written = False

    def note_stack(self, entry: str) -> None:
        """Notes where the running call is written, innermost line first."""
        lines: list[str] = []
        frame = sys._getframe(1)
        while frame is not None:
            path = frame.f_code.co_filename
            text = linecache.getline(path, frame.f_lineno).strip()
            if text and not path.startswith((_OURS, "<")):
                shown = f"File {path}, line {frame.f_lineno}, in {frame.f_code.co_name}, \n {text}"
                lines.append(FORMULA.sub("; ", shown))
            frame = frame.f_back  # type: ignore[assignment]
        self.stacks.setdefault(tuple(lines), []).append(entry)


class CallFiles:
    """Writes steps below ``dump_path``.

    Raises (``write``): ``DumpWriteError``: the disk failed, or holds another run's dump of a step.
    """

    def __init__(self, config: CallConfig, device: Device, directory: str) -> None:
        self._config = config
        self._device = device
        self._directory = directory
        self._tree = Tree(config.dump_path)
        self._begun: set[int] = set()

    def write(self, number: int, step: CallStep) -> None:
        """Writes or replaces the files of a step; ``dump.json`` is the last."""
        with self._tree.opened(f"step{number}", self._directory) as directory:
            if directory is None:
                return
            if number not in self._begun and directory.exists(DUMP):
                text = "holds the dump of another run; name another dump_path, or remove it"
                raise DumpWriteError(errno.EEXIST, text, directory.path)
            self._begun.add(number)
            keeps = any(self._config.keeps(entry) for entry in step.data)
            tensors = self._tree.open(f"step{number}", self._directory, TENSORS) if keeps else None
            try:
                data = {entry: self._entry(entry, parts, tensors) for entry, parts in step.data.items()}
            finally:
                if tensors is not None:
                    tensors.close()
            if self._config.extra_info:
                stacks = {str(at): [names, list(lines)] for at, (lines, names) in enumerate(step.stacks.items())}
                directory.write(STACK, [json.dumps(stacks, indent=1).encode()], FILE_MODE)
                directory.write(CONSTRUCT, [json.dumps(step.parents, indent=1).encode()], FILE_MODE)
            header = self._header(None if tensors is None else os.path.join(directory.path, TENSORS))
            directory.write(DUMP, [json.dumps({**header, "data": data}, indent=1).encode()], FILE_MODE)

    def _header(self, tensors: str | None) -> dict[str, Any]:
        return {
            "task": self._config.task,
            "level": self._config.level,
            "framework": FRAMEWORK,
            "dump_data_dir": tensors,
            MARK: True,
            "device": self._device.name,
            "rules": dict(self._device.rules),
        }

    def _entry(self, entry: str, parts: dict[str, Any], tensors: Directory | None) -> dict[str, Any]:
        def write(name: str, array: Array, dtype: DType) -> None:
            assert tensors is not None
            tensors.write(name, npy.encode(array, dtype), FILE_MODE)

        keeps = self._config.keeps(entry) and tensors is not None
        how = (write if keeps else None, self._config.items, self._config.high_precision)
        if f".{PARAMETERS_GRAD}." in entry:
            return {name: [described(value, f"{entry}.{name}", *how)] for name, value in parts.items()}
        return {
            field: described(value, f"{entry}.{_FILE_WORDS.get(field, field)}", *how) for field, value in parts.items()
        }
