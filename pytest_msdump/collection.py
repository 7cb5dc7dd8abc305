"""What a session knows about its tests before the first one runs: which test owns which golden, and which goldens have
no owner.

Three sets are kept apart: *collected* (before any deselection: ``-k``, ``-m``, ``--deselect``), *selected*, and
*run*. A golden is unused only if no collected test owns it, and the file that would hold its test no longer exists, or
was collected completely and does not define that test: a function that is there and was not collected (another
``python_functions``, a condition on the platform) may be one elsewhere.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_msdump import keys
from pytest_msdump.options import SETTINGS
from pytest_msdump.variants import FIXTURE, Variant, is_gate_test, variant_of


class Identity(NamedTuple):
    """The names of a gate test.

    Attributes:
        network: its id without backend and mode, as stores and tables name it.
        golden: path of its golden, relative to the golden directory.
    """

    network: str
    golden: str


class Found(NamedTuple):
    """How many gate tests a session collected, and how many were left after deselection."""

    collected: int
    selected: int


#: the goldens that no test owns, for a test without one; None if that could not be judged
UNUSED: pytest.StashKey[list[str] | None] = pytest.StashKey()
_IDENTITY: pytest.StashKey[Identity] = pytest.StashKey()


def identity_of(item: pytest.Item) -> Identity:
    """The test's network and golden."""
    known = item.stash.get(_IDENTITY, None)
    if known is None:
        case, chosen = keys.parse(item.nodeid), variant_of(item)
        case = case._replace(path=from_root(item.config, case.path))
        if (again := without_repetition(item, case.params)) is not None:
            case = case._replace(params=again or None)
        if chosen is not None:
            case = keys.without_variant(case, chosen.id)
        known = item.stash[_IDENTITY] = Identity(str(case), keys.golden_path(case))
    return known


def without_repetition(item: pytest.Item, params: str | None) -> str | None:
    """The parameters of a test that another plugin repeats (pytest-repeat, flake-finder), without the number of the
    repetition; None for any other test. Such a plugin's parameter begins with two underscores, and neither the test nor
    a mark names it."""
    callspec = getattr(item, "callspec", None)
    numbers = [name for name in getattr(callspec, "params", ()) if name.startswith("__")]
    if not numbers:
        return None
    ids = [str(each) for each in getattr(callspec, "_idlist", ())]
    if "-".join(ids) != params:
        return None
    together: dict[str, object] = {}
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
        listed = [each.strip() for each in names.split(",")] if isinstance(names, str) else list(names)
        together.update(dict.fromkeys(listed, id(mark)))
    groups = list(dict.fromkeys(together.get(name, name) for name in callspec.params))  # type: ignore[union-attr]
    left_out = {groups.index(name) for name in numbers if name not in together}
    if len(groups) != len(ids) or not left_out:
        return None
    return "-".join(each for at, each in enumerate(ids) if at not in left_out)


def from_root(config: pytest.Config, path: str) -> str:
    """Makes a test id's path relative to the project's root; pytest gives it relative to its own rootdir."""
    prefix = config.stash[SETTINGS].prefix
    return f"{prefix}/{path}" if prefix else path


class Collection:
    """Follows one session's collection.

    Attributes:
        found: gate tests before deselection, and those that will run; on xdist's controller what a worker says.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._whole: set[str] = set()
        self._broken: set[str] = set()
        self._owned: set[str] = set()
        self._ids: list[str] = []
        self._files: dict[str, pytest.Collector] = {}
        self.found = Found(0, 0)

    def saw_collector(self, collector: pytest.Collector) -> None:
        """Notes a file that is about to be collected, before ``--lf`` drops any of its tests."""
        if isinstance(collector, pytest.File):
            self._files[from_root(self._config, keys.parse(collector.nodeid).path)] = collector

    def saw_report(self, report: pytest.CollectReport) -> None:
        """Notes whether a file could be collected."""
        path = keys.parse(report.nodeid).path
        named = from_root(self._config, path)
        if not report.passed:
            self._broken.add(named)
        elif path == report.nodeid:
            self._whole.add(named)

    def saw_items(self, items: list[pytest.Item]) -> list[pytest.CollectReport]:
        """Takes the collected tests; returns a failed report for each golden that two tests would share.

        Such tests are taken out of ``items``: a session that goes on after collection errors must not run them.
        """
        self._ids = [item.nodeid for item in items]
        owners: dict[tuple[str, Variant | None], list[pytest.Item]] = {}
        for item in items:
            if is_gate_test(item):
                self.found = self.found._replace(collected=self.found.collected + 1)
                path = identity_of(item).golden
                self._owned.add(path)
                owners.setdefault((path, variant_of(item)), []).append(item)
        clashes = {path: shared for (path, _), shared in owners.items() if len(shared) > 1 and not _are_one(shared)}
        if clashes:
            barred = {id(item) for shared in clashes.values() for item in shared}
            items[:] = [item for item in items if id(item) not in barred]
        return [_collision(path, shared) for path, shared in clashes.items()]

    def saw_selection(self, items: Iterable[pytest.Item]) -> None:
        """Takes the tests that deselection left."""
        self.found = self.found._replace(selected=sum(map(is_gate_test, items)))

    def unused(self, golden: Path) -> list[str] | None:
        """Golden files under ``golden`` that no test owns, sorted, relative and ``/``-separated; None if no test was
        collected, so that ownership cannot be judged."""
        partial = self._partial_files()
        root = self._config.stash[SETTINGS].root
        unused, unjudged, idle = [], False, _Idle(self._config, self._ids)
        for path in stores(golden):
            module = keys.owner_module(path)
            if path in self._owned or module is None:
                continue
            gone = not (root / module).exists()
            whole = partial is not None and module in self._whole - self._broken and root / module not in partial
            if gone or (whole and not self._is_left_out(path, module) and not idle.defined(path, module)):
                unused.append(path)
            unjudged |= partial is None
        return None if unjudged and not unused else unused

    def _is_left_out(self, golden: str, module: str) -> bool:
        """Whether ``golden`` belongs to a test that ``--lf`` left out during collection.

        ``--lf`` reports files it skips or filters as if that were all they hold; such a file is collected again, by
        itself. A file that cannot be collected may own any golden.
        """
        if not self._config.getoption("lf", default=False):
            return False
        collector = self._files.pop(module, None)
        if collector is not None:
            try:
                items = list(_items(collector))
            except Exception:  # whatever a test module raises when it is imported
                self._broken.add(module)
                return True
            self._owned.update(identity_of(item).golden for item in items if is_gate_test(item))
        return golden in self._owned

    def _partial_files(self) -> set[Path] | None:
        """The files of which only some tests were requested; None if this is unknown, and so may hold for every
        file."""
        config = self._config
        parts = [argument.partition("::")[0] for argument in config.args if "::" in argument]
        if parts and config.getoption("pyargs", default=False):
            return None
        return {Path(os.path.abspath(config.invocation_params.dir / part)) for part in parts}


class _Idle:
    """Functions that test files define and that gave no test."""

    def __init__(self, config: pytest.Config, ids: Iterable[str]) -> None:
        self._config, self._ids = config, ids
        self._known: dict[str, set[str]] = {}

    @cached_property
    def _collected(self) -> set[tuple[str, tuple[str, ...]]]:
        cases = (keys.parse(each) for each in self._ids)
        return {(from_root(self._config, case.path), case.names) for case in cases}

    def defined(self, golden: str, module: str) -> bool:
        """Whether ``module`` defines the test of ``golden``, and not one case of it was collected."""
        names = keys.owner_names(golden)
        if not names or (module, names) in self._collected:
            return False
        if module not in self._known:
            self._known[module] = set(_definitions(self._config.stash[SETTINGS].root / module))
        return self._known[module].issuperset(names)


def _definitions(path: Path) -> Iterator[str]:
    """Names of the classes and functions of a Python file; none if it is none."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    yield from (each.name for each in ast.walk(tree) if isinstance(each, kinds))


def _items(collector: pytest.Collector) -> Iterator[pytest.Item]:
    """The tests of a collector, without the hooks that may leave some out."""
    for node in collector.collect():
        if isinstance(node, pytest.Item):
            yield node
        elif isinstance(node, pytest.Collector):
            yield from _items(node)


def _are_one(items: Sequence[pytest.Item]) -> bool:
    """Whether they are repetitions of one test, which are held to one golden."""
    return len({without_repetition(item, keys.parse(item.nodeid).params) for item in items}) == 1 and all(
        without_repetition(item, keys.parse(item.nodeid).params) is not None for item in items
    )


def _collision(path: str, items: Sequence[pytest.Item]) -> pytest.CollectReport:
    names = [f"  {item.nodeid} ({_place(item)})" for item in items[:8]]
    more = [f"  ... and {len(items) - 8} more"] if len(items) > 8 else []
    text = "\n".join(
        [f"msdump: {len(items)} tests would share one run of the golden {path}:", *names, *more, "Give them other ids."]
    )
    return pytest.CollectReport(items[0].nodeid, "failed", text, [])


def _place(item: pytest.Item) -> str:
    path, line, _ = item.reportinfo()
    where = f"{os.path.basename(path)}:{(line or 0) + 1}"
    callspec = getattr(item, "callspec", None)
    given = {name: value for name, value in callspec.params.items() if name != FIXTURE} if callspec else {}
    return where + "".join(f", {name}={_short(repr(value))}" for name, value in given.items())


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def stores(golden: Path) -> list[str]:
    """Every golden file under ``golden``, sorted, relative and ``/``-separated; hidden files are not goldens."""
    found = []
    for folder, folders, files in os.walk(golden):
        folders[:] = [name for name in folders if not name.startswith(".")]
        base = Path(folder).relative_to(golden).as_posix()
        before = "" if base == "." else f"{base}/"
        found += [before + name for name in files if name.endswith(keys.SUFFIX) and not name.startswith(".")]
    return sorted(found)
