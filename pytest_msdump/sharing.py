"""What the failures of a session share: one cause, so many tests.

The parts that read manifests import ``harness`` when they are called.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_msdump.report import Result, row_of

if TYPE_CHECKING:
    from harness.environment import Changed
    from harness.explain import Cause, Commands, Explanation
    from harness.store import RunId

#: Verdicts that make a test fail.
FAILED = ("differs", "missing", "not compared", "cannot tell")
ENVIRONMENT, CANNOT_TELL = "environment", "cannot tell"
#: so many failures of one cause, or more, are told in one text
MANY = 3
_PLACES = 3


class Group(NamedTuple):
    """Failures that share something.

    Attributes:
        shares: what they share: a cause, a parameter, a place, a change of the environment.
        filed: ``fault``, ``environment`` or ``cannot tell``.
        members: test ids and results, in the order of the session.
    """

    shares: str
    filed: str
    members: list[tuple[str, Result]]

    @property
    def tests(self) -> list[str]:
        """The ids of its tests, each once, in order."""
        return list(dict.fromkeys(nodeid for nodeid, _ in self.members))


def since(golden: Path, store: str, run: RunId) -> list[Changed]:
    """What changed of the environment since a golden run was made, as its manifest knows; empty if it does not."""
    from harness import environment
    from harness.store.manifest import environment_of
    from pytest_msdump.gate_test import SEED

    made = environment_of(golden, store, run)
    return environment.changes(made, environment.facts(SEED)) if made else []


def note(result: Result, explanation: Explanation, steps: Commands) -> None:
    """Notes in a result what an explanation says: cause, environment, what others may share, and what to run next."""
    from harness.environment import told
    from harness.report import results

    plain = results.explained(explanation) | {"suggestions": results.suggested(steps)}
    result["explained"] = json.dumps(plain, allow_nan=False)

    cause = explanation.cause
    if cause is not None:
        result["cause"] = cause_line(cause)
    result["environment"] = told(explanation.environment)[:400]
    result["filed"] = explanation.filed
    result["shares"] = _shared(cause, explanation, result)[:400]


def cause_line(cause: Cause) -> str:
    """A cause in one line, with its line of the user's script."""
    place = f" ({cause.source})" if cause.source else ""
    return f"{cause.certainty.value}: {cause.text}"[: 400 - len(place)] + place


def _shared(cause: Cause | None, explanation: Explanation, result: Result) -> str:
    if explanation.environment and explanation.filed != "fault":
        # What looks alike may be one thing; what looks otherwise is kept apart from it.
        alike = f": {cause.kind}" if explanation.filed == CANNOT_TELL and cause is not None else ""
        return result["environment"] + alike
    source = f" ({cause.source})" if cause is not None and cause.source else ""
    if cause is not None and cause.changes:
        names = [each.name if cause.source or not each.expected else str(each) for each in cause.changes[:3]]
        return ", ".join(names) + source
    if cause is not None:
        return cause.text + source
    origin = explanation.origin
    return "" if origin is None else f"{origin.operator} {origin.key.slot_name}"


def groups(results: Mapping[str, Sequence[Result]]) -> list[Group]:
    """The failures of a session by what they share, the largest group first.

    Args:
        results: by test id.
    """
    found: dict[tuple[str, str], list[tuple[str, Result]]] = defaultdict(list)
    for nodeid, given in results.items():
        for each in given:
            if each["verdict"] in FAILED and each["shares"]:
                # What cannot be told is grouped with the drift of its environment, and counted there.
                kind = ENVIRONMENT if each["filed"] == CANNOT_TELL else each["filed"]
                found[kind, each["shares"]].append((nodeid, each))
    made = [
        Group(_title(shares, members), CANNOT_TELL if all(_is_unsure(each) for _, each in members) else kind, members)
        for (kind, shares), members in found.items()
    ]
    return sorted(made, key=lambda group: -len(group.tests))


def _is_unsure(result: Result) -> bool:
    return bool(result["filed"] == CANNOT_TELL)


def _title(shares: str, members: Sequence[tuple[str, Result]]) -> str:
    """The cause, if all have the same, else what they share."""
    causes = {each["cause"].partition(": ")[2] for _, each in members}
    return next(iter(causes)) if len(causes) == 1 and "" not in causes else shares


def many(found: Iterable[Group]) -> list[Group]:
    """The groups that are told in one text."""
    return [group for group in found if len(group.tests) >= MANY]


def head(group: Group) -> str:
    """A group in one line: ``133 tests, one cause: the environment, numpy 2.4.6 -> 2.5.5``."""
    from harness.words import counted

    unsure = sum(_is_unsure(each) for _, each in group.members)
    said = f" ({counted(unsure, 'comparison')} beyond rounding: cannot tell)" if unsure else ""
    known = group.shares.startswith("the environment")
    lead = {ENVIRONMENT: "the environment, ", CANNOT_TELL: "maybe the environment, "}.get(group.filed, "")
    lead = "" if known else lead
    # What only looks alike (a factor, a place) need not have one cause.
    one = ", one cause" if group.filed == ENVIRONMENT or _has_place(group) else ""
    return f"{counted(len(group.tests), 'test')}{one}: {lead}{group.shares}{said}"


def _has_place(group: Group) -> bool:
    """Whether its cause is a line of the user's."""
    return group.shares.endswith(")") and all(each["cause"].endswith(")") for _, each in group.members)


def lines(found: Iterable[Group]) -> Iterable[str]:
    """The large groups, each with its first places, for the closing section."""
    for group in many(found):
        yield head(group)
        for nodeid, each in group.members[:_PLACES]:
            yield f"  {nodeid}: {each['where']}"
        if len(group.members) > _PLACES:
            yield f"  and {len(group.members) - _PLACES} more (-v shows each of them whole)"


def others(found: Iterable[Group]) -> set[str]:
    """The tests whose failures are told by the first one of their group."""
    told = [group.tests for group in many(found)]
    return {nodeid for tests in told for nodeid in tests[1:]} - {tests[0] for tests in told}


def rows(found: Iterable[Group]) -> set[tuple[str, ...]]:
    """The rows of the closing table that repeat the first one of their group."""
    return {row_of(each) for group in many(found) for _, each in group.members[1:]}


def hide(found: Iterable[Group], reports: Iterable[Any]) -> None:
    """Lets pytest tell only the first failure of each large group; all stay in its counts and its list.

    Args:
        reports: those of failed tests, as the terminal reporter keeps them.
    """
    alike = others(found)
    for report in reports:
        if report.nodeid in alike and report.when == "call":
            report._pdbshown = True  # what pytest marks a failure with that was shown already


def as_json(found: Iterable[Group]) -> list[dict[str, Any]]:
    """The groups as JSON values."""
    return [
        {
            "shares": group.shares,
            "filed": group.filed,
            "tests": group.tests,
            "cannot_tell": sum(_is_unsure(each) for _, each in group.members),
        }
        for group in found
    ]
