"""Inspects a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain
from typing import Any

from harness.capture import Capture
from harness.capture.overflow_flags import overflow_flags
from harness.capture.tree_records import RankRecords
from harness.compare.collector import FrozenObjects, PausedCollector
from harness.errors import SettingTypeError
from harness.explain.sides import operators_of, rules_of
from harness.inspect.causes import folded
from harness.inspect.columns import Columns, columns_of
from harness.inspect.finding import Finding, Report
from harness.inspect.flow import link
from harness.inspect.long import Thinned
from harness.inspect.missing import left_nothing, what_is_missing
from harness.inspect.rule import Context, chosen, settings_of
from harness.inspect.run import Run
from harness.records import Record
from harness.replaying import engine_of
from harness.store import StoredRun
from harness.words import counted


def inspect(
    capture: Capture | StoredRun,
    rules: Iterable[str] | None = None,
    off: Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
) -> Report:
    """Looks at one run alone: overflow, explosion, vanishing, dead units; where each began, and why.

    Args:
        capture: a run in memory, a dump tree as ``read_tree`` gives it, or a run of a golden store. Tensors,
            statistics or both.
        rules: names, globs or groups of rules (``["mindinsight"]``, ``["nonfinite", "dead-*"]``); ``+NAME`` adds to the
            default ones. None asks the default ones.
        off: names or globs of rules that are not asked; ``RULE:GLOB`` leaves out a rule's findings at operators,
            layers or lines that match.
        settings: parameters of rules, ``{"dead-units.share": 0.5}``.

    Returns:
        See ``Report``.

    Raises:
        SettingError: a rule or a parameter does not exist.
        SettingTypeError: ``capture`` is no run.

    Examples:
        >>> from harness.capture import read_tree
        >>> from harness.inspect import inspect
        >>> report = inspect(read_tree("dump"))
        >>> report.code, len(report.errors)
        (0, 0)
    """
    return examined(capture, rules, off, settings)[0]


def examined(
    capture: Capture | StoredRun,
    rules: Iterable[str] | None = None,
    off: Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
) -> tuple[Report, Run]:
    """``inspect``, and the run as the rules saw it."""
    if not isinstance(capture, (Capture, StoredRun)):
        raise SettingTypeError(f"inspect takes a Capture or a run of a golden store, got {type(capture).__name__}")
    texts = [rules] if isinstance(rules, str) else rules
    switched = [off] if isinstance(off, str) else list(off)
    asked = chosen(texts, [each for each in switched if ":" not in each])
    numbers = settings_of(asked, settings or {})
    run, lost, read = _read(capture)
    mode = capture.mode if isinstance(capture, Capture) else capture.id.mode
    sampled = [each.name for each in asked if each.name != "nonfinite"] if mode == "sample" else []
    findings: list[Finding] = []
    untold: list[str] = []
    with FrozenObjects():
        for each in asked:
            if each.name not in sampled:
                each.ask(Context(run, each, numbers[each.name], findings, untold))
    kept = folded([each for each in findings if not _is_off(each, switched)], _placed(run))
    iterations = sorted({step for steps in run.iterations.values() for step in steps})
    name = capture.network if isinstance(capture, Capture) else str(capture.id)
    untold += [*what_is_missing(run, iterations, not read.left), *read.untold()]
    if isinstance(capture, Capture):
        untold += left_nothing(run, capture)
    if sampled:
        untold.append(f"a sample of each tensor was kept: {counted(len(sampled), 'rule')} about whole ones not asked")
    report = Report(
        name, kept, untold, [each.name for each in asked], run.slots, run.blind + lost, iterations,
        sorted(run.iterations),
    )  # fmt: skip
    return report, run


def _read(capture: Capture | StoredRun) -> tuple[Run, int, Columns | Thinned]:
    """The run, linked; how many files of it could not be read; and what read it, which knows what it left out."""
    columns = columns_of(capture) if isinstance(capture, Capture) else None
    read = columns or Thinned(chain(capture.records(), capture.failed if isinstance(capture, Capture) else ()))
    with PausedCollector():
        run, lost = opened(capture, read)
        link(run)
    if isinstance(capture, Capture):
        sources = [each for each in capture.sources if isinstance(each, RankRecords)]
        run.flags = lambda: {flag for each in sources for flag in overflow_flags(each)}
    if columns is not None:
        run.series, run.table = columns.of, columns.table
    return run, lost, read


def _placed(run: Run) -> Callable[[Finding], int | None]:
    """Place of the execution that a finding names; None if it names none."""
    places: dict[tuple[int, int, str], int] = {}
    for op in run.ops:
        places.setdefault((op.where.rank, op.where.iteration, op.name), op.at)
    return lambda each: places.get((each.rank, each.iteration, each.operator))


def opened(capture: Capture | StoredRun, records: Iterable[Record]) -> tuple[Run, int]:
    """The run of a capture or a store with these of its records, and how many files of it could not be read."""
    backend = capture.backend if isinstance(capture, Capture) else capture.id.backend
    told: Any = {"operators": partial(operators_of, capture), "engine": engine_of(rules_of(capture), backend)}
    if isinstance(capture, Capture):
        run = Run(records, lambda: capture.artefacts, capture.backend, capture.emulated, capture.places, **told)
        return run, len(capture.lost)
    emulated = bool(capture.attrs.get("emulated"))
    return Run(records, capture.artefacts, capture.id.backend, emulated, **told), 0


def _is_off(finding: Finding, switched: Iterable[str]) -> bool:
    from fnmatch import fnmatchcase

    for each in switched:
        name, colon, pattern = each.partition(":")
        places = (finding.operator, finding.layer, finding.source)
        if colon and fnmatchcase(finding.rule, name or "*") and any(fnmatchcase(p, pattern) for p in places):
            return True
    return False
