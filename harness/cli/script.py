"""Runs a script as ``python SCRIPT ARGS`` does, in a process that was prepared for it."""

from __future__ import annotations

import builtins
import importlib.util
import io
import os
import re
import runpy
import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType, TracebackType

from harness.cli.amount import verbose
from harness.errors import UnsupportedNameError, users_frames


class ScriptNotFoundError(OSError):
    """The script does not exist or cannot be read."""


def load(path: str) -> bytes:
    """The bytes of the script; ``ScriptNotFoundError`` if it cannot be read."""
    try:
        with io.open_code(os.path.abspath(path)) as file:
            return file.read()
    except OSError as error:
        raise ScriptNotFoundError(f"cannot open script {path!r}: {error.strerror}") from error


def run(path: str, arguments: Sequence[str]) -> int:
    """Runs the script in this interpreter as its main program.

    ``sys.argv``, ``sys.path[0]`` and ``__main__`` are as under ``python``; an uncaught exception goes to
    ``sys.excepthook``, its traceback starting in the script.

    Args:
        path: the script, as the user wrote it.
        arguments: its arguments.

    Returns:
        0, or 1 after an uncaught exception. ``SystemExit`` and ``KeyboardInterrupt`` of the script pass through,
        so that the interpreter ends the process as it would have.

    Raises:
        ScriptNotFoundError: before anything was changed.
    """
    source, file = load(path), os.path.abspath(path)
    main = ModuleType("__main__")
    main.__dict__.update(
        __file__=file, __builtins__=builtins, __cached__=None, __loader__=SourceFileLoader("__main__", file)
    )
    sys.argv = [path, *arguments]
    sys.path[0:1] = [os.path.dirname(os.path.realpath(path))]
    sys.modules["__main__"] = main
    try:
        exec(_compile(source, file), main.__dict__)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        if isinstance(error, ImportError):
            _explain(error)
        trace = _from_script(error.__traceback__, file)
        trace = trace if verbose() else users_frames(error, trace)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    return 0


def run_module(name: str, arguments: Sequence[str]) -> int:
    """Runs a module in this interpreter as its main program, as ``python -m`` does; arguments and results as of
    ``run``.

    Returns:
        0; 2 if there is no such module, which is said.
    """
    sys.argv = [name, *arguments]
    sys.path[0:1] = [os.getcwd()]
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        found = None
    if found is None:
        print(f"msdump: there is no module {name!r} in {sys.executable}", file=sys.stderr)
        return 2
    if name == "pytest":
        # They are loaded already, which pytest would warn of, since it cannot rewrite their assertions.
        for package in ("harness", "pytest_msdump"):
            if (loaded := sys.modules.get(package)) is not None:
                loaded.__doc__ = f"{loaded.__doc__}\nPYTEST_DONT_REWRITE"
    runpy.run_module(name, run_name="__main__", alter_sys=True)
    return 0


def _compile(source: bytes, path: str) -> CodeType:
    # dont_inherit: this module's future statements must not apply to the script.
    return compile(source, path, "exec", dont_inherit=True)


def _explain(error: ImportError) -> None:
    """Shows the harness's own message for a name it lacks, which ``from MODULE import NAME`` hides."""
    asked = re.match(r"cannot import name '(\w+)'", str(error.msg))
    module = sys.modules.get(error.name or "")
    if asked is None or module is None or module.__name__.partition(".")[0] != "harness":
        return
    try:
        getattr(module, asked[1])
    except UnsupportedNameError as told:
        error.msg = f"cannot import name {asked[1]!r}: {told}"
    except AttributeError:
        return


def _from_script(trace: TracebackType | None, path: str) -> TracebackType | None:
    """The traceback without the frames that started the script; None for a syntax error."""
    while trace is not None and trace.tb_frame.f_code.co_filename != path:
        trace = trace.tb_next
    return trace
