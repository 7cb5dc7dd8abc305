"""Runs a program in a child and ends it, or fails it, at the n-th call that changes the file system.

    outcome = run(action, under=tmp_path)                        # counts: outcome.steps
    run(action, under=tmp_path, at=3, how=BEFORE)                # SIGKILL before the third call
    run(action, under=tmp_path, at=3, how=AFTER)                 # SIGKILL after it
    run(action, under=tmp_path, at=3, how=errno.ENOSPC)          # the third call raises OSError(ENOSPC)

A call counts if it opens a file for writing, writes, flushes to the disk, renames, links, unlinks, truncates, or makes
or removes a directory, by Python's ``os``, ``open`` or anything made of them, and its path lies below ``under``. What C
code writes by itself (``ndarray.tofile``) is not seen. The child is forked: it costs no interpreter, and it sees what
the parent has imported.
"""

from __future__ import annotations

import builtins
import io
import itertools
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

BEFORE, AFTER = "before", "after"
#: What takes a file descriptor, and what takes one path or two.
_DESCRIPTORS = (
    "write", "pwrite", "writev", "pwritev", "fsync", "fdatasync", "ftruncate", "sendfile", "copy_file_range",
)  # fmt: skip
_PATHS = ("unlink", "remove", "mkdir", "rmdir", "truncate", "replace", "rename", "link", "symlink")
_SECOND = ("link", "symlink", "replace", "rename")  # the path that changes is the second one
_SECONDS = 120


class Step(NamedTuple):
    """One call: its name, and the path it changes, relative to ``under``."""

    call: str
    path: str


@dataclass(frozen=True)
class Outcome:
    """What became of a child.

    Attributes:
        code: its exit status; None where it was killed.
        output: what it printed, on either stream.
        steps: every call it made; empty where it was killed.
        modules: what it had imported in the end; empty where it was killed.
    """

    code: int | None
    output: str
    steps: list[Step]
    modules: list[str]


def run(
    action: Callable[[], object],
    under: Path,
    *,
    at: int | None = None,
    how: str | int = BEFORE,
    counts: Callable[[Step], bool] | None = None,
) -> Outcome:
    """Calls ``action`` in a child; its exit status is 0, what ``SystemExit`` says, or 70 after any other exception.

    Args:
        under: only calls on paths below this directory count.
        at: number of the call to stop at, from 1 on; None to let every call pass.
        how: ``BEFORE`` or ``AFTER`` kill the child there; a number is the errno the call fails with.
        counts: says which calls ``at`` counts; None for all. Where several threads write, only this names a step.
    """
    with TemporaryFile() as output, TemporaryFile() as told:
        child = os.fork()
        if child == 0:
            _child(action, Layer(os.path.realpath(under), at, how, counts), output.fileno(), told.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        told.seek(0)
        steps, modules = json.loads(told.read() or b"[[], []]")
        killed = code == -signal.SIGKILL
        assert code >= 0 or killed, f"the child ended by signal {-code}: {output.read().decode(errors='replace')}"
        said = output.read().decode(errors="replace")
        return Outcome(None if killed else code, said, [Step(*each) for each in steps], modules)


def _child(action: Callable[[], object], layer: Layer, output: int, told: int) -> None:
    """The forked child; never returns."""
    code = 70
    try:
        signal.alarm(_SECONDS)  # a child that hangs ends by SIGALRM, which the parent reports
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout, sys.stderr = (open(fd, "w", encoding="utf-8", closefd=False) for fd in (1, 2))  # noqa: SIM115
        write = os.write
        layer.install()
        try:
            action()
            code = 0
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else int(error.code is not None)
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        layer.at = None
        write(told, json.dumps([layer.steps, [*sys.modules]]).encode())
    finally:
        os._exit(code)


class Layer:
    """Calls of this process that change the file system, counted.

    Attributes:
        steps: those that were made, in order.
        at: the one to stop at, among those that count.
    """

    def __init__(self, under: str, at: int | None, how: str | int, counts: Callable[[Step], bool] | None) -> None:
        self.steps: list[Step] = []
        self.at = at
        self._under, self._how = under, how
        self._counts = counts or (lambda step: True)
        self._passed = itertools.count(1)

    def install(self) -> None:
        """Puts itself between this process and ``os``, for good."""
        for name in _DESCRIPTORS:
            setattr(os, name, self._counted(name, getattr(os, name), _of_descriptor))
        for name in _PATHS:
            setattr(os, name, self._counted(name, getattr(os, name), _second if name in _SECOND else _first))
        os.open = self._opening(os.open)
        builtins.open = io.open = self._files()  # type: ignore[assignment]

    def step(self, call: str, path: str, act: Callable[[], Any]) -> Any:
        """Does one call, unless it is the one to stop at."""
        path = os.path.normpath(os.path.join(os.getcwd(), path))
        inside = path == self._under or path.startswith(self._under + os.sep)
        if not inside:
            return act()
        step = Step(call, os.path.relpath(path, self._under))
        self.steps.append(step)
        here = self._counts(step) and next(self._passed) == self.at
        if here and self._how == BEFORE:
            os.kill(os.getpid(), signal.SIGKILL)
        if here and isinstance(self._how, int):
            raise OSError(self._how, os.strerror(self._how), path)
        try:
            return act()
        finally:  # a call that fails by itself is a step, too
            if here and self._how == AFTER:
                os.kill(os.getpid(), signal.SIGKILL)

    def _counted(self, name: str, real: Any, where: Callable[..., str]) -> Any:
        def call(*args: Any, **more: Any) -> Any:
            return self.step(name, where(*args, **more), lambda: real(*args, **more))

        return call

    def _opening(self, real: Any) -> Any:
        writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

        def call(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> Any:
            if not flags & writes:
                return real(path, flags, mode, dir_fd=dir_fd)
            return self.step("open", _first(path, dir_fd=dir_fd), lambda: real(path, flags, mode, dir_fd=dir_fd))

        return call

    def _files(self) -> Any:
        layer, real = self, io.open

        class Raw(io.FileIO):
            def write(self, data: Any, /) -> Any:
                return layer.step("write", _of_descriptor(self.fileno()), lambda: super(Raw, self).write(data))

            def truncate(self, size: int | None = None, /) -> int:
                act = lambda: super(Raw, self).truncate(size)  # noqa: E731
                return int(layer.step("truncate", _of_descriptor(self.fileno()), act))

        def opened(
            file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None, errors: str | None = None,
            newline: str | None = None, closefd: bool = True, opener: Any = None,
        ) -> Any:  # fmt: skip
            if not set(mode) & set("wax+"):
                return real(file, mode, buffering, encoding, errors, newline, closefd, opener)
            make = lambda: Raw(file, mode.replace("b", "").replace("t", ""), closefd, opener)  # noqa: E731
            raw = make() if isinstance(file, int) or opener is not None else layer.step("open", _first(file), make)
            if buffering == 0:
                return raw
            buffer = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            if "b" in mode:
                return buffer
            return io.TextIOWrapper(buffer, encoding, errors, newline, line_buffering=buffering == 1)

        return opened


def _of_descriptor(descriptor: int, *_: Any, **__: Any) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")


def _first(path: Any, *_: Any, dir_fd: int | None = None, **__: Any) -> str:
    text = os.fsdecode(path)
    return text if dir_fd is None else os.path.join(_of_descriptor(dir_fd), text)


def _second(_: Any, path: Any, *__: Any, dst_dir_fd: int | None = None, **___: Any) -> str:
    return _first(path, dir_fd=dst_dir_fd)
