"""Findings, and the report of an inspection."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from harness.exit_status import CANNOT_TELL, DIFFERS, HOLDS


class Severity(Enum):
    """Whether a finding fails."""

    ERROR = "error"
    NOTE = "note"


class Certainty(Enum):
    """How a reason is known: a replay gave it, the numbers show it, or they suggest it."""

    PROVEN = "proven"
    SHOWN = "shown"
    LIKELY = "likely"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a rule.

    Attributes:
        rule: name of the rule.
        kind: what it is, in a word or two that a program can compare (``log of zero``, ``vanishing gradient``).
        severity: an error fails, a note does not.
        text: one sentence.
        operator: full name of the operator or parameter where it began.
        layer: its layer.
        iteration: label of the first step that shows it.
        rank: rank of the process.
        source: line of the script, if known.
        certainty: how the reason is known.
        reason: why, in words; empty if that cannot be told.
        elements: inputs that did it, each in words.
        folded: numbers of operators and steps that only follow from it, in words.
        details: numbers behind it, by name.

    Examples:
        >>> from harness.capture import read_tree
        >>> from harness.inspect import inspect
        >>> report = inspect(read_tree("dump"))
        >>> [finding.kind for finding in report.errors]
        []
    """

    rule: str
    kind: str
    severity: Severity
    text: str
    operator: str = ""
    layer: str = ""
    iteration: int = 0
    rank: int = 0
    source: str = ""
    certainty: Certainty = Certainty.SHOWN
    reason: str = ""
    elements: tuple[str, ...] = ()
    folded: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def is_error(self) -> bool:
        """Whether it fails."""
        return self.severity is Severity.ERROR


@dataclass(frozen=True, slots=True)
class Report:
    """What an inspection found.

    Attributes:
        network: name of the network.
        findings: errors first, each in order of time and data flow.
        untold: what could not be told, and why, a line each.
        rules: names of the rules that were asked.
        slots: number of slots read.
        unread: number of slots without any known number, and of files that could not be read.
        iterations: labels of the steps.
        ranks: ranks of the run.

    Examples:
        >>> from harness.capture import read_tree
        >>> from harness.inspect import inspect
        >>> report = inspect(read_tree("dump"))
        >>> report.code, report.slots > 0
        (0, True)
    """

    network: str
    findings: Sequence[Finding]
    untold: Sequence[str]
    rules: Sequence[str]
    slots: int
    unread: int
    iterations: Sequence[int]
    ranks: Sequence[int]

    @property
    def errors(self) -> list[Finding]:
        """The findings that fail."""
        return [each for each in self.findings if each.is_error]

    @property
    def notes(self) -> list[Finding]:
        """The findings that do not fail."""
        return [each for each in self.findings if not each.is_error]

    @property
    def code(self) -> int:
        """Exit code: 1 if something is wrong, 2 if nothing could be read or files are missing, else 0."""
        if self.errors:
            return DIFFERS
        return CANNOT_TELL if self.unread or not self.slots else HOLDS

    def as_json(self) -> str:
        """The report as JSON: its attributes, and ``code``."""
        found = [
            {**asdict(each), "severity": each.severity.value, "certainty": each.certainty.value}
            for each in self.findings
        ]
        whole = {
            "network": self.network, "code": self.code, "findings": found, "untold": list(self.untold),
            "rules": list(self.rules), "slots": self.slots, "unread": self.unread,
            "iterations": list(self.iterations), "ranks": list(self.ranks),
        }  # fmt: skip
        return json.dumps(whole, indent=2, default=_plain, allow_nan=True)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)
