"""``ModelCheckpoint``: saves a training while it runs.

Source of the rules: MindSpore 2.10.0, measured (``tests/interop/test_checkpoints.py``).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import log
from harness.errors import SettingError, SettingTypeError
from harness.framework.context import GRAPH_MODE, get_context
from harness.framework.runtime import session
from harness.framework.train.callback.base import Callback, RunContext
from harness.framework.train.callback.checkpoint_config import CheckpointConfig
from harness.framework.train.checkpoint.save import save_checkpoint, write_file
from harness.graph import pb

_LOG = log.get("train")
_FORMATS = (".ckpt", ".safetensors")
_BREAKPOINT = "_breakpoint.ckpt"
#: MindSpore uses the directory it was imported in
_START = os.getcwd()


class ModelCheckpoint(Callback):
    """Saves ``<prefix>-<epoch>_<step in it>.ckpt`` after steps, and at the end.

    Args:
        prefix: of the files' names; ``_1``, ``_2``, ... is added if such files exist already. Or a function that gets
            the facts of the run and returns the whole name, without its extension.
        directory: created if it is missing; None for the directory that the process started in. Or a function, as for
            ``prefix``.
        config: see ``CheckpointConfig``.

    Attributes:
        latest_ckpt_file_name: the file saved last; empty before.
    """

    def __init__(
        self,
        prefix: str | Callable[[Any], str] = "CKP",
        directory: str | Callable[[Any], str] | None = None,
        config: CheckpointConfig | None = None,
    ) -> None:
        super().__init__()
        if config is not None and not isinstance(config, CheckpointConfig):
            raise SettingTypeError(f"ModelCheckpoint: config must be a CheckpointConfig, got {type(config).__name__}")
        self.config = CheckpointConfig() if config is None else config
        self._prefix_func = prefix if callable(prefix) else None
        self._directory_func = directory if callable(directory) else None
        self._given_prefix = "" if callable(prefix) else _prefix(prefix)
        self._directory = "" if callable(directory) else _START if directory is None else make_directory(directory)
        self._prefix = self._given_prefix
        if not (self._prefix_func or self._directory_func):
            self._prefix = _free_prefix(self._directory, self._given_prefix)
        self._append = dict(self.config.append_dict or {})
        self._added = {name: self._append.get(name, 0) for name in ("epoch_num", "step_num")}
        self._last_step = 0
        self._last_time = self._last_kept = time.time()
        self._graph_saved = False
        self.latest_ckpt_file_name = ""

    def step_end(self, run_context: RunContext) -> None:
        run = run_context.original_args()
        if self._prefix_func is not None:
            self._prefix = _prefix(self._prefix_func(run))
        if self._directory_func is not None:
            self._directory = make_directory(self._directory_func(run))
        if not self._graph_saved:
            _save_graph(run.train_network, Path(self._directory, f"{self._prefix}-graph.meta"))
            self._graph_saved = True
        self._save(run)

    def end(self, run_context: RunContext) -> None:
        self._save(run_context.original_args(), last=True)

    # -- when ----------------------------------------------------------------------------------------------------------
    def _is_due(self, step: int, last: bool) -> bool:
        if self.config.save_checkpoint_steps:
            return last or step >= self._last_step + self.config.save_checkpoint_steps
        if not self.config.save_checkpoint_seconds:
            return False
        now = time.time()
        if last or now - self._last_time > self.config.save_checkpoint_seconds:
            self._last_time = now
            return True
        return False

    def _save(self, run: Any, last: bool = False) -> None:
        step = run.cur_step_num
        if step == self._last_step or not self._is_due(step, last):
            return
        name = self._prefix
        if self._prefix_func is None:
            name += f"-{run.cur_epoch_num}_{int((step - 1) % run.batch_num + 1)}"
        self._make_room()
        self._last_kept = time.time()
        self._last_step = step
        network = self.config.saved_network or run.train_network
        path = os.path.join(self._directory, f"{name}.{self.config.format}")
        self._write(network, path, run.cur_epoch_num, step, self.config.format)
        self.latest_ckpt_file_name = path

    def save_breakpoint(self, network: Any, epoch: int, step: int) -> None:
        """Saves ``network`` where an exception ended the training; only with ``exception_save``."""
        if self.config.exception_save:
            prefix = _free_prefix(self._directory, self._given_prefix, breakpoints=True)
            path = os.path.join(self._directory, f"{prefix}-{epoch}_{step}{_BREAKPOINT}")
            self._write(network, path, epoch, step, "ckpt")

    def _write(self, network: Any, path: str, epoch: int, step: int, format: str) -> None:
        if self.config.remove_redundancy:
            raise SettingTypeError("ModelCheckpoint: remove_redundancy is for several processes, there is one")
        for name, count in (("epoch_num", epoch), ("step_num", step)):
            if name in self._append:
                self._append[name] = self._added[name] + count
        save_checkpoint(
            network, path, self.config.integrated_save, self.config.async_save, self._append,
            crc_check=self.config.crc_check, format=format, remove_redundancy=False,
        )  # fmt: skip

    # -- what is kept --------------------------------------------------------------------------------------------------
    def _files(self) -> list[Path]:
        """Files of this prefix, the oldest first."""
        end, start = f".{self.config.format}", f"{self._prefix}-"
        found = [
            path
            for path in Path(self._directory).iterdir()
            if path.suffix == end
            and path.name.startswith(start)
            and not any(letter.isalpha() for letter in path.name[len(self._prefix) : -len(end)])
        ]
        return sorted(found, key=lambda path: path.stat().st_mtime)

    def _make_room(self) -> None:
        files = self._files()
        most, minutes = self.config.keep_checkpoint_max, self.config.keep_checkpoint_per_n_minutes
        if most:
            if len(files) >= most:
                _remove(files[0])
        elif minutes:
            now = time.time()
            if now - self._last_kept < minutes * 60:
                young = [path for path in files if now - path.stat().st_mtime < minutes * 60]
                for path in young[1:]:
                    _remove(path)


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        _LOG.warning("the older checkpoint %s cannot be removed: %s", path, error)


def _prefix(given: Any) -> str:
    if not isinstance(given, str) or "/" in given:
        raise SettingError(f"ModelCheckpoint: prefix must be a str without '/', or give one, got {given!r}")
    return given


def make_directory(directory: Any, name: str = "ModelCheckpoint: directory") -> str:
    """The real path of a directory, made (mode 0700) where it is not there; ``name`` is what errors call it."""
    if not isinstance(directory, str):
        raise SettingTypeError(f"{name} must be a str, got {type(directory).__name__}")
    if not directory.strip():
        raise SettingError(f"{name} must not be empty")
    path = os.path.realpath(directory)
    missing = [each for each in (Path(path), *Path(path).parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
    return path


def _free_prefix(directory: str, prefix: str, *, breakpoints: bool = False) -> str:
    """``prefix``, with the next free number if it has files already."""
    number = 0
    for name in os.listdir(directory) if os.path.isdir(directory) else []:
        if name.endswith(_BREAKPOINT) != breakpoints or os.path.splitext(name)[1] not in _FORMATS:
            continue
        used, dash, _ = name.removeprefix(prefix).partition("-")
        if not name.startswith(prefix) or not dash:
            continue
        if not used:
            number = max(number, 1)
        elif used[1:].isdigit() and not used[0].isalpha():
            number = max(number, int(used[1:]) + 1)
    return f"{prefix}_{number}" if number else prefix


def _save_graph(network: Any, path: Path) -> None:
    """The compiled graph of ``network``, in graph mode."""
    if get_context("mode") != GRAPH_MODE:
        return
    graph = session.current().graph_of(network)
    if graph is not None:
        write_file(path, [pb.write(graph)], mode=0o600)
