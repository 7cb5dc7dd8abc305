"""Removes goldens and runs that no test owns, at the end of a whole collection: ``msdump prune`` loads this plugin."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_msdump.collection import identity_of, stores
from pytest_msdump.gate import NAME, Gate
from pytest_msdump.options import SETTINGS, given_on_command_line
from pytest_msdump.variants import is_gate_test, marker_arguments, used_runs

REPORT, DRY = "MSDUMP_PRUNE_REPORT", "MSDUMP_PRUNE_DRY"
_SELECTING = {"keyword": "-k", "markexpr": "-m", "deselect": "--deselect", "lf": "--lf", "ignore": "--ignore"}
_SELECTING |= {"ignore_glob": "--ignore-glob", "stepwise": "--sw"}


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Removes the goldens without an owner, and writes a report."""
    path = os.environ.get(REPORT)
    if not path:
        return
    from harness.errors import HarnessError
    from harness.escape import line

    try:
        told = list(_pruned(session))
    except HarnessError as error:
        told = [f"msdump: nothing was removed: {error}"]
    Path(path).write_text("".join(f"{line(each)}\n" for each in told), encoding="utf-8")


def _pruned(session: pytest.Session) -> Iterator[str]:
    gate = session.config.pluginmanager.get_plugin(NAME)
    why = _refusal(session)
    if why or not isinstance(gate, Gate):
        yield f"msdump: nothing was removed: {why or 'the gate is not on'}"
        return
    golden = session.config.stash[SETTINGS].golden
    files = gate.summary.unused or []
    runs = sorted(_unused_runs(session.items, golden))
    renamed = _renamed(session.items, golden, files)
    if renamed:
        yield f"msdump: nothing was removed: {renamed}"
        return
    from harness.store import RunId

    dry = bool(os.environ.get(DRY))
    if not dry and (files or runs):
        from harness.store.read import GoldenStore
        from harness.store.transaction import Transaction

        with Transaction(golden) as change:
            for name in files:
                change.remove(name)
            for name in dict.fromkeys(name for name, _ in runs):
                gone = {RunId(*run): None for store, run in runs if store == name}
                with GoldenStore.open(golden / name) as store:
                    network = store.network
                change.update(name, network, gone)
            change.commit()
    act = "unused" if dry else "removed"
    yield from (f"{act}: {name}" for name in files)
    yield from (f"{act}: {name}: run {RunId(*run)}" for name, run in runs)
    kept = _not_judged(session.items, golden, files)
    if kept or not (files or runs):
        yield kept or f"nothing to remove: a test owns each golden in {golden}"


def _not_judged(items: Sequence[pytest.Item], golden: Path, unused: Sequence[str]) -> str:
    """How many goldens have no owner here and may have one elsewhere, in words; empty if there are none."""
    from harness.words import counted

    owned = {identity_of(item).golden for item in items if is_gate_test(item)}
    kept = [name for name in stores(golden) if name not in owned and name not in unused]
    if not kept:
        return ""
    return f"not judged: {counted(len(kept), 'golden')} whose files or tests pytest did not collect, such as {kept[0]}"


def _refusal(session: pytest.Session) -> str:
    """Why this collection cannot tell which goldens have no owner; empty if it can."""
    config = session.config
    selecting = [flag for name, flag in _SELECTING.items() if config.getoption(name, default=None)]
    selecting += [flag for flag in ("--msdump-backend", "--msdump-mode") if _given(config, flag)]
    if selecting:
        return f"{', '.join(selecting)} leaves tests or runs out; every test must be collected"
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        return f"{' '.join(config.args)}: every test must be collected; leave the names out"
    from pytest_msdump import commands

    settings, start = config.stash[SETTINGS], config.invocation_params.dir
    if start != settings.root:
        return f"from here not every test is collected; `{commands.prune(settings, start)}`"
    if session.testsfailed:
        return f"not every file could be collected; `{commands.collect(settings)}` says why"
    return "in CI goldens are not removed" if settings.in_ci else ""


def _renamed(items: Sequence[pytest.Item], golden: Path, unused: Sequence[str]) -> str:
    """Why most goldens seem to have lost their owner, if tests without a golden are there instead: then something
    renames the tests; empty if it is not so."""
    there = stores(golden)
    new = {identity_of(item).golden for item in items if is_gate_test(item)} - set(there)
    if len(unused) * 2 <= len(there) or not new:
        return ""
    from harness.words import counted

    return (
        f"{len(unused)} of {counted(len(there), 'golden')} would go, while {counted(len(new), 'test', 'have')} none; "
        "an option or a plugin that renames the tests makes goldens look unused. Were the tests renamed on purpose, "
        "write the new goldens first"
    )


def _given(config: pytest.Config, flag: str) -> bool:
    return given_on_command_line(config, flag.lstrip("-").replace("-", "_"))


def _unused_runs(items: Sequence[pytest.Item], golden: Path) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The runs that the owning tests of a store do not use."""
    from harness.errors import HarnessError
    from harness.store.read import GoldenStore
    from pytest_msdump.accepted import is_used

    facts = items[0].config.stash[SETTINGS].variants if items else ()
    used: dict[str, set[str]] = {}
    for item in items:
        if is_gate_test(item):
            runs = used_runs(item.config, marker_arguments(item))
            used.setdefault(identity_of(item).golden, set()).update(runs or ())
    for name, wanted in used.items():
        try:
            with GoldenStore.open(golden / name) as store:
                there = list(store.runs())
        except (FileNotFoundError, HarnessError):
            continue  # `msdump verify` says what is wrong with it
        yield from ((name, tuple(run)) for run in there if not is_used(run, wanted, facts))
