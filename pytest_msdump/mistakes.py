"""Short messages for mistakes in a test that raise an error inside the harness."""

from __future__ import annotations

import linecache
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

_HERE = os.path.dirname(os.path.abspath(__file__))
_OURS = (_HERE + os.sep, os.path.join(os.path.dirname(_HERE), "harness") + os.sep)
_LIBRARIES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}_pytest{os.sep}", f"{os.sep}pluggy{os.sep}")
_MESSAGE_LINES, _LINE = 2, 400
GIVEN = (
    "msdump: @given draws other examples from run to run, so that no golden can hold what they give\n"
    "  (hypothesis says it too, by its health check function_scoped_fixture: one fixture serves all examples).\n"
    "  Give the cases by @pytest.mark.parametrize, or by @example alone, which are the same in every run:\n"
    "  @settings(phases=[Phase.explicit], suppress_health_check=[HealthCheck.function_scoped_fixture])"
)


def lacks_mindspore(error: object) -> bool:
    """Whether ``error`` comes from ``import mindspore`` without MindSpore installed."""
    return isinstance(error, ModuleNotFoundError) and str(error.name or "").partition(".")[0] == "mindspore"


def without_mindspore() -> str:
    """What to do where MindSpore is not installed."""
    from harness.suggest import command, install

    return (
        "MindSpore is not installed here. `from harness import nn, ops, Tensor` has the same names and runs on "
        f"emulated devices; `{command('msdump', 'run', 'SCRIPT')}` runs an unchanged script; "
        f"`{install('mindspore')}` gets the real one"
    )


def draws(item: pytest.Item) -> bool:
    """Whether hypothesis draws the test's examples, or refuses to give it the fixture."""
    test = getattr(item, "obj", None)
    if not getattr(test, "is_hypothesis_test", False):
        return False
    settings = getattr(test, "_hypothesis_internal_use_settings", None)
    phases = {phase.name for phase in getattr(settings, "phases", ())}
    suppressed = {check.name for check in getattr(settings, "suppress_health_check", ())}
    return phases != {"explicit"} or "function_scoped_fixture" not in suppressed


def explain(item: pytest.Item, report: pytest.TestReport, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
    """Puts a short message into a failed test's report if the error arose inside the harness."""
    error = excinfo.value
    if isinstance(error, (pytest.fail.Exception, pytest.skip.Exception, KeyboardInterrupt, AssertionError)):
        return
    entries = list(excinfo.traceback)
    paths = [str(entry.path) for entry in entries]
    ours = [at for at, path in enumerate(paths) if path.startswith(_OURS)]
    users = [at for at, path in enumerate(paths) if not path.startswith(_OURS) and not _is_library(path)]
    if lacks_mindspore(error):
        lines = [f"{type(error).__name__}: {error}", *_places(entries, users, item), f"  {without_mindspore()}"]
    elif ours and users and users[-1] < ours[-1]:
        lines = [*_message(error), *_places(entries, users, item), *_given(entries)]
    else:
        return
    text = "\n".join(lines)
    try:
        pytest.fail(text, pytrace=False)
    except pytest.fail.Exception:
        report.longrepr = item.repr_failure(pytest.ExceptionInfo.from_current())
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None and users:
        crash.path, crash.lineno, crash.message = paths[users[-1]], entries[users[-1]].lineno + 1, lines[0]


def _is_library(path: str) -> bool:
    return path.startswith(("<", os.path.dirname(os.__file__))) or any(part in path for part in _LIBRARIES)


def _message(error: BaseException) -> list[str]:
    told = [line for line in str(error).splitlines() if line.strip()] or [""]
    head = f"{type(error).__name__}: {told[0]}"[: 2 * _LINE]
    return [head, *(f"  {line.strip()}"[:_LINE] for line in told[1:_MESSAGE_LINES])]


def _places(entries: Sequence[Any], users: Sequence[int], item: pytest.Item) -> list[str]:
    """The lines of the test and of the network that led to the error."""
    chosen = dict.fromkeys((users[0], users[-1])) if users else {}
    return [f"  at {_place(entries[at], item.config.rootpath)}" for at in chosen]


def _place(entry: Any, root: Path) -> str:
    path = Path(str(entry.path))
    shown = path.relative_to(root) if path.is_relative_to(root) else path
    source = linecache.getline(str(path), entry.lineno + 1).strip()
    return f"{shown}:{entry.lineno + 1}: {source}"[:_LINE]


def _given(entries: Sequence[Any]) -> list[str]:
    """Types and shapes of what the test gave to the fixture."""
    for entry in entries:
        known = entry.frame.f_locals
        if "inputs" in known and "network" in known and str(entry.path).startswith(_HERE):
            inputs = known["inputs"]
            parts = ", ".join([type(known["network"]).__name__, *map(_kind, inputs)])
            lines = [f"  given: msdump.run({parts})"[:_LINE]]
            if any(isinstance(each, (str, list, tuple, dict)) for each in inputs):
                lines.append("  cells take tensors, numpy arrays and numbers; of a list: Tensor([...], float32)")
            return lines
    return []


def _kind(value: Any) -> str:
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is None or dtype is None:
        return type(value).__name__
    return f"{type(value).__name__} {str(dtype).removeprefix('torch.')}{list(shape)}"
