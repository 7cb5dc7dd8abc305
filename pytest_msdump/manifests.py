"""When all tests are done, a session's goldens take effect together with their manifests, and its bundles are sealed.

Imports ``harness``; imported when needed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.atomic import DEFAULT_TIMEOUT
from harness.errors import HarnessError
from harness.escape import line
from harness.gate.provenance import origin
from harness.store import GoldenStore, RunId, manifest
from harness.store.journal import is_being_put_in_place
from harness.store.layout.schema import parse_run, run_text
from harness.store.sizes import large
from pytest_msdump.gate_test import SEED
from pytest_msdump.options import Settings
from pytest_msdump.report import LEFT_OUT, Result, Summary

if TYPE_CHECKING:
    from harness.store import Transaction


def provenance(config: pytest.Config) -> dict[str, Any]:
    """The origin of this session's new goldens: versions, machine, seed, commit, and what the hooks add."""
    facts = origin(config.rootpath, SEED)
    for given in reversed(config.hook.pytest_msdump_provenance(config=config)):
        facts.update(given)
    return facts


#: Seconds between two looks at a change that another session makes.
_PAUSE = 0.05
_STAGED: pytest.StashKey[Transaction | HarnessError] = pytest.StashKey()


def staged(config: pytest.Config, settings: Settings) -> Transaction:
    """The transaction that collects this session's goldens; it begins at the first request, under xdist on the
    controller.

    Raises:
        HarnessError: another session writes these goldens, or they cannot be written.
    """
    found = config.stash.get(_STAGED, None)
    if isinstance(found, HarnessError):  # each test would wait for the same lock again
        raise found
    if found is None:
        worker = hasattr(config, "workerinput")
        from harness.store import Transaction  # a session that only checks writes nothing

        try:
            found = config.stash[_STAGED] = Transaction(settings.golden, joined=worker)
        except HarnessError as error:
            config.stash[_STAGED] = error
            raise
        if not worker:
            config.add_cleanup(found.drop)
    return found


def begin(config: pytest.Config, settings: Settings) -> None:
    """Begins the transaction before anything is written; ``pytest.UsageError`` if the goldens cannot be written."""
    try:
        staged(config, settings)
    except HarnessError as error:
        raise pytest.UsageError(f"msdump: {line(str(error))}") from None


def complete(settings: Settings) -> None:
    """Completes the change that a killed session had decided; ``pytest.UsageError`` if that fails."""
    from harness.store import recover

    try:
        recover(settings.golden)
    except HarnessError as error:
        raise pytest.UsageError(f"msdump: {line(str(error))}") from None


def rebuild(config: pytest.Config, settings: Settings, summary: Summary, *, interrupted: bool = False) -> list[str]:
    """Puts this session's goldens in place and writes their manifests; returns the problems in words. Large goldens are
    noted in ``summary``."""
    problems = []
    act = "regenerated" if settings.regen else "learned"
    unwritten = [each["unwritten"] for each in _all(summary) if each["unwritten"]]
    if (settings.regen or settings.learn) and interrupted:
        problems.append(f"the session was interrupted: nothing was {act}")
    elif unwritten:
        more = f" (and {len(unwritten) - 1} more)" if len(unwritten) > 1 else ""
        problems.append(f"a golden could not be written{more}: {unwritten[0]}; nothing was {act}")
    elif settings.regen or settings.learn:
        written = [each for each in _all(summary) if each["verdict"] not in ("not compared", LEFT_OUT)]
        problems += _take_effect(config, settings, written, act)
        shown = {os.path.relpath(settings.golden / each["golden"], config.invocation_params.dir) for each in written}
        summary.notes += large(shown)
    bundles: dict[str, list[Result]] = {}
    for each in _all(summary):
        if each["candidate"]:
            bundles.setdefault(each["candidate"], []).append(each)
    for bundle, results in bundles.items():
        from harness.store import seal

        problems += _told(partial(seal, settings.root / bundle, _keys(config, results)))
    return problems


def inspect(settings: Settings, summary: Summary) -> None:
    """Notes in ``summary`` the runs that no test uses, and those that differ from their manifest."""
    if not summary.results:
        return
    results = _all(summary)
    try:
        known = manifest.read(settings.golden, {each["golden"] for each in results})["stores"]
    except HarnessError as error:
        summary.undescribed = [str(error)]
        return
    used: dict[str, set[str]] = {}
    for each in results:
        if each["used_runs"] is not None:
            used.setdefault(each["golden"], set()).update(each["used_runs"])
    facts = settings.variants
    for store, names in sorted(used.items()):
        there = _entry(known, store, "runs") or {}
        others = [run for run in sorted(there) if run not in names]
        if others and facts:
            from pytest_msdump.accepted import is_used

            others = [run for run in others if not is_used(parse_run(run), names, facts)]
        summary.unused_runs += [f"{store}: {run}" for run in others]
    checked = {(each["golden"], run_text(RunId(*each["against_key"]))): each["checksum"] for each in results}
    for (store, run), checksum in sorted(checked.items()):
        if checksum and _entry(known, store, "runs", run, "checksum") != checksum:
            if _agree(settings.golden, store, run):
                summary.notes.append(f"{store}: run {run} was replaced by another session while this one checked it")
            else:
                summary.undescribed.append(f"{store}: run {run}")


def _agree(golden: Path, store: str, run: str) -> bool:
    """Whether a store and its manifest agree once another session, if one is at it, has put both in place."""
    for _ in range(round(DEFAULT_TIMEOUT / _PAUSE)):
        if not is_being_put_in_place(golden):
            break
        time.sleep(_PAUSE)
    try:
        with GoldenStore.open(golden / store) as opened:
            checksum = opened.run(*parse_run(run)).checksum
        known = manifest.read(golden, [store])["stores"]
    except (HarnessError, OSError):
        return False
    return bool(_entry(known, store, "runs", run, "checksum") == checksum)


def _entry(table: Any, *path: str) -> Any:
    """A value of nested JSON objects; None where there is none."""
    for name in path:
        table = table.get(name) if isinstance(table, Mapping) else None
    return table


def _all(summary: Summary) -> list[Result]:
    return [each for results in summary.results.values() for each in results]


def _take_effect(config: pytest.Config, settings: Settings, written: list[Result], act: str) -> list[str]:
    change = config.stash.get(_STAGED, None)
    if change is None or isinstance(change, HarnessError):
        return []
    names = {each["golden"] for each in written}
    # Learning tolerances does not change where a run comes from.
    facts = _keys(config, written) if settings.regen else None
    try:
        change.commit(facts, describe=names)
    except HarnessError as error:
        return [str(error) if change.unfinished else f"{error}; nothing was {act}"]
    finally:
        change.drop()
    return []


def _keys(config: pytest.Config, results: list[Result]) -> dict[manifest.RunKey, dict[str, Any]]:
    """The manifest's key of each result's run."""
    facts = provenance(config)
    return {manifest.RunKey(each["golden"], RunId(*each["key"])): {**facts, **each["facts"]} for each in results}


def _told(write: Callable[[], object]) -> list[str]:
    try:
        write()
    except HarnessError as error:
        return [f"the goldens' manifests were not written: {error}"]
    return []
