"""The explanation of a failure, ready to be shown as text, JSON, page or annotation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from harness.environment import Changed
from harness.records import SlotKey

if TYPE_CHECKING:
    from harness.explain.claim import Check


class Certainty(Enum):
    """How certain a cause is.

    Attributes:
        REPLAY: proven: the operator was computed again with this one change, and gave the found result.
        BITS: proven: the bits of both sides show it.
        GRAFT: proven: the test ran on with the golden's tensor in the suspect's place, and all that followed held.
        LIKELY: it fits everything that is known, but nothing proves it.
    """

    REPLAY = "proven by replay"
    BITS = "proven bit for bit"
    GRAFT = "proven by graft"
    LIKELY = "likely"

    @property
    def proven(self) -> bool:
        """Whether a replay, a graft, or the bits themselves proved it."""
        return self is not Certainty.LIKELY


@dataclass(frozen=True)
class Change:
    """One changed value.

    Attributes:
        name: ``learning_rate``, ``pad_mode``, ``fc2.weight``.
        expected: the golden's value as text; empty if it is too long.
        found: this run's value as text; empty if it is too long.
    """

    name: str
    expected: str = ""
    found: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.expected} -> {self.found}" if self.expected or self.found else self.name


@dataclass(frozen=True)
class Cause:
    """Why the origin's output differs.

    Attributes:
        certainty: how certain the statement is.
        kind: ``attribute``, ``constant``, ``parameter``, ``data``, ``replaced``, ``inserted``, ``removed``, ``moved``,
            ``iterations``, ``exchanged``,
            ``another operator``, ``another setting``, ``stale``, ``stale input``, ``another parameter``,
            ``carried``, ``narrower input``, ``narrower sum``, ``origin`` (a graft shows where, not why), or a
            pattern's name.
        text: the statement.
        changes: the changed values it names.
        source: line of the user's script, if known.
        slot: name of the slot it concerns, if it concerns one (``output.0``, ``input.1``).
        check: what was applied to the golden, and what it gave; None where nothing could be applied.

    Examples:
        >>> from harness.explain import Cause, Certainty, Explanation, block
        >>> cause = Cause(Certainty.REPLAY, "constant", "learning_rate 0.1 -> 0.05")
        >>> print(block(Explanation("a run differs from its golden", None, cause)))
        a run differs from its golden
        Cause, proven by replay: learning_rate 0.1 -> 0.05
        0 of 0 slots are identical
    """

    certainty: Certainty
    kind: str
    text: str
    changes: tuple[Change, ...] = ()
    source: str | None = None
    slot: str = ""
    check: Check | None = None


@dataclass(frozen=True)
class Element:
    """The worst element of a slot."""

    index: tuple[int, ...]
    expected: str
    found: str


@dataclass(frozen=True)
class Origin:
    """The first divergence, in the form that is shown.

    Attributes:
        what: ``output.0 Float32[5]``, or ``replaced``, ``inserted``, ``removed``, ``moved``.
        operator: full name on the expected side (on the found side for an inserted operator).
        found_as: its name on the found side, if it differs.
        key: key of the slot that is shown.
        source: the user's source line.
        element: the worst element; None if none was measured.
        differing: number of elements outside the tolerance; 0 if not measured.
        count: number of all elements; 0 if not measured.
        reason: why it differs, in words, if no element shows it.
        inputs: the state of its inputs, in words.
        before: the operator before it on both sides.
        ranks: the ranks on which the slot differs, in words.
    """

    what: str
    operator: str
    key: SlotKey
    found_as: str = ""
    source: str | None = None
    element: Element | None = None
    differing: int = 0
    count: int = 0
    reason: str = ""
    inputs: str = ""
    before: str = ""
    ranks: str = ""


@dataclass(frozen=True)
class Explanation:
    """Everything that is said about a failure.

    Attributes:
        title: says what differs from what.
        origin: the first divergence; None if only order or texts differ.
        cause: its cause; None if it is unknown.
        others: further statements, most important first (parameters that differ from the start, order, texts).
        after: number of differing operator executions after the origin.
        identical: number of identical slots.
        slots: number of all slots.
        seconds: how many seconds the explanation took.
        environment: what changed of the environment since the golden was made, most telling first.
        tolerance: the tolerance in force at the origin, and which rule chose it; empty for equal bits of emulated runs.
        filed: ``fault``, ``environment`` or ``cannot tell``: what the failure is filed as; see ``explain.filed``.

    Examples:
        >>> from harness.explain import Explanation, block
        >>> print(block(Explanation("a run differs from its golden", None, None, others=("1 of 3 texts differs",))))
        a run differs from its golden
        1 of 3 texts differs
        0 of 0 slots are identical
    """

    title: str
    origin: Origin | None
    cause: Cause | None
    others: Sequence[str] = ()
    after: int = 0
    identical: int = 0
    slots: int = 0
    seconds: float = 0.0
    environment: Sequence[Changed] = ()
    filed: str = "fault"
    tolerance: str = ""

    def to_json(self) -> dict[str, Any]:
        """The explanation as JSON values, for pages and ``diff --json``."""
        cause, origin = self.cause, self.origin
        return {
            "title": self.title, "filed": self.filed, "tolerance": self.tolerance,
            "environment": [each._asdict() for each in self.environment],
            "cause": None if cause is None else {
                "certainty": cause.certainty.value, "proven": cause.certainty.proven, "kind": cause.kind,
                "text": cause.text, "source": cause.source, "slot": cause.slot,
                "check": None if cause.check is None else cause.check.to_json(),
                "changes": [{"name": c.name, "expected": c.expected, "found": c.found} for c in cause.changes],
            },
            "origin": None if origin is None else {
                "what": origin.what, "operator": origin.operator, "found_as": origin.found_as,
                "slot": list(origin.key), "source": origin.source, "reason": origin.reason,
                "element": None if origin.element is None else {
                    "index": list(origin.element.index), "expected": origin.element.expected,
                    "found": origin.element.found,
                },
                "differing": origin.differing, "count": origin.count, "inputs": origin.inputs,
                "before": origin.before, "ranks": origin.ranks,
            },
            "others": list(self.others),
            "after": self.after, "identical": self.identical, "slots": self.slots,
        }  # fmt: skip
