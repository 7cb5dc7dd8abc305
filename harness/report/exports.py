"""A comparison as other tools show it: SARIF (code scanning), CTRF (test reports), a Chrome trace (Perfetto).

Each operator execution is an item, in execution order; what is said of it is its role (see ``harness.compare.spread``).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from harness.compare.spread import MEANING, Role, SpreadRow
from harness.explain.explanation import Explanation
from harness.registry import Registry, instance_of

_TOOL = "pytest-msdump"
_URI = "https://json.schemastore.org/sarif-2.1.0.json"
_PLACE = re.compile(r"(.+):(\d{1,9})")
#: Roles that are differences.
_BAD = frozenset({Role.NEW, Role.GIVEN, Role.CARRIED, Role.ABSENT, Role.UNKNOWN})
#: Names of colours that trace viewers know, by the noise up to which they stand.
_COLOURS = ((1e-6, "good"), (1e-3, "olive"), (1e-1, "bad"), (math.inf, "terrible"))
_AGREES, _UNKNOWN = "grey", "yellow"
#: Results of SARIF that one file may hold.
_MOST = 1000

Export = Callable[[str, Explanation | None, Sequence[SpreadRow]], dict[str, Any]]


def sarif(title: str, explanation: Explanation | None, steps: Sequence[SpreadRow]) -> dict[str, Any]:
    """The first divergence as an error, and each further operator that differs as a note, at its source line.

    Args:
        title: says what differs from what.
        explanation: of the difference; None if there is none.
        steps: every operator execution, in order.
    """
    differing = [step for step in steps if step.role in _BAD]
    origin = explanation.origin if explanation is not None else None
    results = []
    if explanation is not None:
        cause = explanation.cause.text if explanation.cause is not None else ""
        said = [title, cause, f"{origin.operator}: {origin.what}" if origin is not None else ""]
        results.append(
            _result("first-divergence", "error", ". ".join(filter(None, said)), origin.source if origin else None,
                    origin.operator if origin else "")
        )  # fmt: skip
    rows = [step for step in differing if origin is None or step.where.operator != origin.operator]
    results += [
        _result(step.role.value, "note", f"{step.where.operator}: {MEANING[step.role]}", step.source,
                step.where.operator)
        for step in rows[:_MOST]
    ]  # fmt: skip
    rules = [{"id": "first-divergence", "shortDescription": {"text": "the first operator whose results differ"}}]
    rules += [
        {"id": role.value, "shortDescription": {"text": MEANING[role]}} for role in Role if role is not Role.AGREES
    ]
    driver = {"name": _TOOL, "rules": rules}
    return {
        "$schema": _URI, "version": "2.1.0",
        "runs": [{
            "tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints",
            "properties": {"title": title, "operators": len(steps), "differing": len(differing),
                           "notListed": max(0, len(rows) - _MOST)},
        }],
    }  # fmt: skip


def _result(rule: str, level: str, text: str, source: str | None, operator: str) -> dict[str, Any]:
    found: dict[str, Any] = {"ruleId": rule, "level": level, "message": {"text": text}}
    place: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": operator, "kind": "function"}]}
    if source and (match := _PLACE.fullmatch(source)):
        region = {"startLine": max(1, int(match[2]))}
        place["physicalLocation"] = {"artifactLocation": {"uri": match[1].lstrip("/")}, "region": region}
    return found | {"locations": [place]}


def ctrf(title: str, explanation: Explanation | None, steps: Sequence[SpreadRow]) -> dict[str, Any]:
    """A test for each operator execution: failed where it differs, else passed. Arguments: as ``sarif``."""
    tests = [_test(step) for step in steps]
    counted = {status: sum(each["status"] == status for each in tests) for status in ("passed", "failed")}
    summary = {"tests": len(tests), **counted, "pending": 0, "skipped": 0, "other": 0, "start": 0, "stop": 0}
    extra = {"title": title, "explanation": None if explanation is None else explanation.to_json()}
    return {
        "reportFormat": "CTRF", "specVersion": "0.0.0",
        "results": {"tool": {"name": _TOOL}, "summary": summary, "tests": tests, "extra": extra},
    }  # fmt: skip


def _test(step: SpreadRow) -> dict[str, Any]:
    status = "failed" if step.role in _BAD else "passed"
    made: dict[str, Any] = {"name": _name(step), "status": status, "duration": 0, "suite": [step.op_type]}
    if status != "passed":
        made["message"] = MEANING[step.role]
    if step.source:
        made["filePath"] = step.source
    return made


def _name(step: SpreadRow) -> str:
    rank, graph, iteration, operator, execution = step.where
    return f"rank {rank}, graph {graph}, iteration {iteration}, {operator}" + (f" ({execution})" if execution else "")


def trace(title: str, explanation: Explanation | None, steps: Sequence[SpreadRow]) -> dict[str, Any]:
    """A slice for each operator execution, as long as any other, coloured by its outputs' noise; arrows lead along the
    difference. A rank is a process, a graph a thread. Arguments: as ``sarif``."""
    places = {step.where: at for at, step in enumerate(steps)}
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": rank, "args": {"name": f"rank {rank}"}}
        for rank in dict.fromkeys(step.where.rank for step in steps)
    ]
    number = 0
    for at, step in enumerate(steps):
        noise = {"noise in": _finite(step.noise_in), "noise out": _finite(step.noise_out)}
        args = {"role": step.role.value, "meaning": MEANING[step.role], "source": step.source,
                "iteration": step.where.iteration, **noise}  # fmt: skip
        where: dict[str, Any] = {"pid": step.where.rank, "tid": step.where.graph}
        events.append(
            {"ph": "X", "name": step.where.operator, "cat": step.op_type, "ts": at, "dur": 1, "cname": colour(step),
             "args": args} | where
        )  # fmt: skip
        for other in step.feeds:
            if (there := places.get(other)) is not None:
                number += 1
                events += _arrow(number, at, there, where, steps[there])
    return {
        "traceEvents": events, "displayTimeUnit": "ns",
        "otherData": {"title": title, "explanation": None if explanation is None else explanation.to_json()},
    }  # fmt: skip


def _arrow(number: int, at: int, there: int, where: Mapping[str, Any], other: SpreadRow) -> Iterator[dict[str, Any]]:
    same: dict[str, Any] = {"cat": "difference", "name": "difference", "id": number}
    yield {"ph": "s", "ts": at + 0.5} | same | dict(where)
    yield {"ph": "f", "bp": "e", "ts": there + 0.5, "pid": other.where.rank, "tid": other.where.graph} | same


def colour(step: SpreadRow) -> str:
    """The name of an execution's colour: grey where it agrees, else by the noise of its outputs, and the last one where
    only one side has it."""
    if step.role in (Role.AGREES, Role.CANCELLED):
        return _AGREES
    if step.role is Role.ABSENT:
        return _COLOURS[-1][1]
    if step.noise_out is None:
        return _UNKNOWN
    return next(name for most, name in _COLOURS if step.noise_out <= most)


def _finite(number: float | None) -> float | str | None:
    """A number that JSON has."""
    return number if number is None or math.isfinite(number) else str(number)


class View:
    """A form in which ``msdump diff --export FILE`` shows a comparison.

    Class attributes:
        required: what a view of another package must define.
        name: of its entry point.
        ending: of the names of its files (``.sarif``).

    Examples:
        >>> from harness.report import View
        >>> class Lines(View):
        ...     name, ending = "lines", ".lines"
        ...     def export(self, title, explanation, steps):
        ...         return "".join(f"{step.where.operator} {step.role.value}\\n" for step in steps)
        >>> Lines().export("a title", None, [])
        ''
    """

    required: ClassVar[tuple[str, ...]] = ("name", "ending", "export")
    name: ClassVar[str]
    ending: ClassVar[str]

    def export(self, title: str, explanation: Explanation | None, steps: Sequence[SpreadRow]) -> Any:
        """The file's content: JSON values, or a text.

        Args:
            title: says what differs from what.
            explanation: of the difference; None if there is none.
            steps: every operator execution, in order.
        """
        raise NotImplementedError


def _view(name: str, ending: str, made: Export) -> View:
    def export(self: View, title: str, explanation: Explanation | None, steps: Sequence[SpreadRow]) -> Any:
        return made(title, explanation, steps)

    return type(name, (View,), {"name": name, "ending": ending, "export": export})()  # type: ignore[no-any-return]


def _populate() -> None:
    for name, ending, made in (
        ("sarif", ".sarif", sarif),
        ("ctrf", ".ctrf.json", ctrf),
        ("trace", ".trace.json", trace),
    ):
        REPORTS.register(name, _view(name, ending, made))


#: packages outside add to it through the entry-point group ``harness.reports``
REPORTS: Registry[View] = Registry("report view", "harness.reports", _populate, instance_of(View))


def endings() -> list[str]:
    """The endings of names that ``--export`` accepts."""
    return sorted(REPORTS.get(name).ending for name in REPORTS)


def view_of(name: str) -> View | None:
    """What writes a file of this name: the view with the longest ending; None if there is none."""
    views = [REPORTS.get(each) for each in REPORTS]
    fitting = [view for view in views if name.endswith(view.ending)]
    return max(fitting, key=lambda view: len(view.ending), default=None)


def exported(name: str, title: str, explanation: Explanation | None, steps: Sequence[SpreadRow]) -> str:
    """The text of the file; ``name`` ends like one of ``endings``."""
    view = view_of(name)
    assert view is not None
    made = view.export(title, explanation, steps)
    return made if isinstance(made, str) else json.dumps(made, indent=1, allow_nan=False) + "\n"
