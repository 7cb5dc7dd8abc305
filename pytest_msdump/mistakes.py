"""Short messages for mistakes in a test that raise an error inside the harness."""

from __future__ import annotations

import inspect
import linecache
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_msdump import advice

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
        f"emulated devices; `{command('msdump', 'run', 'SCRIPT')}` runs an unchanged script, and "
        f"`{command('msdump', 'run', '-m', 'pytest', '--msdump')}` unchanged tests; "
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
    """Puts a short message into a failed test's report if the error arose inside the harness, came through it, or is a
    wrong use of the fixture."""
    error = excinfo.value
    if isinstance(error, (pytest.fail.Exception, pytest.skip.Exception, KeyboardInterrupt)):
        return
    entries = _from_test(item, excinfo.traceback)
    paths = [str(entry.path) for entry in entries]
    ours = [at for at, path in enumerate(paths) if path.startswith(_OURS)]
    users = [at for at, path in enumerate(paths) if _is_users(path)]
    if lacks_mindspore(error):
        more = [f"  {without_mindspore()}"]
    elif misused := advice.on_misuse(error) or advice.on_absence(error):
        more = misused
    elif not ours or not users or users[0] > ours[-1]:
        return
    elif isinstance(error, AssertionError):
        _without_ours(item, report, excinfo, [entries[at] for at in ours])
        return
    else:
        more = [*_given(error, entries), *(f"  {note}" for note in getattr(error, "__notes__", ()))]
    places = _places(entries, users, item)
    _replace(item, report, [*_message(error, [entries[at] for at in users]), *places, *more])
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None and users:
        crash.path, crash.lineno = paths[users[-1]], entries[users[-1]].lineno + 1
        crash.message = _message(error, entries)[0]


def _from_test(item: pytest.Item, entries: Sequence[Any]) -> list[Any]:
    """The entries from the test's function on, without the hooks that call it; all of them in a fixture."""
    code = getattr(inspect.unwrap(getattr(item, "obj", None) or _from_test), "__code__", None)
    start = next((at for at, entry in enumerate(entries) if entry.frame.code.raw is code), 0)
    return list(entries[start:])


def explain_stranger(
    item: pytest.Item, report: pytest.TestReport, excinfo: pytest.ExceptionInfo[BaseException]
) -> None:
    """Like ``explain``, for a test without the fixture: an error that says that it wants it, or one of ours, of
    ``harness.check`` in a plain test."""
    entries = _from_test(item, excinfo.traceback)
    more = advice.on_absence(excinfo.value)
    if more:
        entries = [entry for entry in entries if _is_users(str(entry.path))]
        places = _places(entries, range(len(entries)), item)
        _replace(item, report, [*_message(excinfo.value, entries), *places, *more])
        return
    ours = [entry for entry in entries if str(entry.path).startswith(_OURS)]
    errors = sys.modules.get("harness.errors")
    if ours and errors is not None and len(ours) < len(entries) and isinstance(excinfo.value, errors.HarnessError):
        _without_ours(item, report, excinfo, ours)


def _replace(item: pytest.Item, report: pytest.TestReport, lines: Sequence[str]) -> None:
    try:
        pytest.fail("\n".join(lines), pytrace=False)
    except pytest.fail.Exception:
        report.longrepr = item.repr_failure(pytest.ExceptionInfo.from_current())


def _without_ours(
    item: pytest.Item,
    report: pytest.TestReport,
    excinfo: pytest.ExceptionInfo[BaseException],
    ours: Sequence[Any],
) -> None:
    """Shows an assertion of a network's as pytest does, without the frames that lie between it and the test."""
    hidden = {id(entry._rawentry) for entry in ours}
    kept = [entry._rawentry for entry in excinfo.traceback if id(entry._rawentry) not in hidden]
    # pytest makes its own list of the frames again, from the error.
    for at, entry in enumerate(kept):
        entry.tb_next = kept[at + 1] if at + 1 < len(kept) else None
    report.longrepr = item.repr_failure(excinfo)


def _is_users(path: str) -> bool:
    library = path.startswith(("<", os.path.dirname(os.__file__))) or any(part in path for part in _LIBRARIES)
    return not library and not path.startswith(_OURS)


def _message(error: BaseException, entries: Sequence[Any]) -> list[str]:
    told = [line for line in str(error).splitlines() if line.strip()] or [""]
    # The tracer's own words for a place that stands below.
    shown, separator, place = told[0].rpartition(" -- at ")
    if separator and any(place.startswith(f"{each.path}:{each.lineno + 1}") for each in entries):
        told[0] = shown
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


def _given(error: BaseException, entries: Sequence[Any]) -> list[str]:
    """Types and shapes of what the test gave to the fixture, and what to do about them."""
    for entry in entries:
        known = entry.frame.f_locals
        if "network" not in known or not str(entry.path).startswith(_HERE):
            continue
        if "inputs" in known:
            inputs = known["inputs"]
            parts = [_kind(known["network"]), *map(_kind, inputs)]
            return [f"  given: msdump.run({', '.join(parts)})"[:_LINE], *advice.on_inputs(error, inputs)]
        if "given" in known:
            parts = [_kind(known[name]) for name in ("network", "loss", "optimizer")]
            inputs = known["given"][0] if known["given"] else ()
            batch = f"[({', '.join(map(_kind, inputs))}), ...]"
            return [f"  given: msdump.train({', '.join([*parts, batch])})"[:_LINE], *advice.on_inputs(error, inputs)]
    return []


def _kind(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    try:
        shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    except Exception:  # PyTorch's nested tensors have none, and say so with an error
        return type(value).__name__
    if shape is None or dtype is None:
        return type(value).__name__
    return f"{type(value).__name__} {str(dtype).removeprefix('torch.')}{list(shape)}"
