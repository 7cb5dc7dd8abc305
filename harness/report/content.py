"""The content of a comparison's page: plain values, with large parts kept small."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.capture.statements import statements
from harness.compare.divergence import Execution, execution_of
from harness.compare.first_divergence import first_divergence
from harness.compare.policy import HOLDING
from harness.compare.smallest_tolerance import rounded_up
from harness.compare.spread import MEANING, Role, Spread
from harness.compare.table import COLUMNS, as_json, row
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.errors import HarnessError
from harness.explain import Explanation
from harness.explain.graphs import Graphs, Texts
from harness.records import Record, SlotKey
from harness.report.artefacts import artefacts
from harness.report.drift import drift
from harness.report.network import NOTHING, network
from harness.report.pictures import picture

#: Number of slots with pictures besides those of the first divergence: half are the earliest that differ, half the
#: noisiest.
DETAILS = 150
#: Largest tensor that gets pictures.
MAX_ELEMENTS = 1 << 22
#: Operators whose statement in the graph is kept, and characters of a line of it.
STATEMENTS, _STATEMENT = 200, 300

Detail = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """One comparison for a page.

    Attributes:
        name: heading on the page.
        expected, found: names of the sides.
        comparison, spread, explanation: the results of the comparison.
        text: the failure in words.
        artefacts: text artefacts of both sides, by path.
        notes: lines about where the sides come from (emulated or real, versions).
        pictured: whether the page has a picture of the network.
        graphs: the graphs of both sides, as their engines described them; None: those in ``artefacts``.
        verdict: the judgement's, in one word or two; see ``compare.policy.Judgement.verdict``.
        records: gives the expected side's records again; without it, statistics over iterations have gaps at identical
            slots.
    """

    name: str
    expected: str
    found: str
    comparison: Comparison
    spread: Spread
    explanation: Explanation | None = None
    text: str = ""
    artefacts: tuple[Mapping[str, bytes], Mapping[str, bytes]] = field(default=({}, {}))
    notes: Sequence[str] = ()
    records: Callable[[], Iterable[Record]] | None = None
    pictured: bool = True
    graphs: tuple[Graphs, Graphs] | None = None
    verdict: str = field(kw_only=True)


def content(run: Run) -> dict[str, Any]:
    """A run as JSON values: what ``render`` puts on a page."""
    comparison = run.comparison
    places = {slot.key: at for at, slot in enumerate(comparison.slots)}
    divergence = first_divergence(comparison)
    steps = {step.where: at for at, step in enumerate(run.spread.steps)}
    first = _told(run, steps) or (None if divergence is None else divergence.where)
    return {
        "name": run.name,
        "expected": run.expected,
        "found": run.found,
        "notes": list(run.notes),
        "holds": run.verdict in HOLDING,
        "verdict": run.verdict,
        "counts": {verdict.value: count for verdict, count in comparison.counts.items()},
        "text": run.text,
        "first": None if first is None else steps.get(first),
        "explanation": _explanation(run, places),
        "columns": list(COLUMNS),
        "slots": [_slot(slot) for slot in (*comparison.slots, *comparison.gaps)],
        "roles": {role.value: meaning for role, meaning in MEANING.items()},
        "steps": _steps(run, steps),
        "details": {str(places[key]): value for key, value in _details(run, divergence).items()},
        "ir": _statements(run, first, steps),
        "network": network(comparison, run.graphs or _in_texts(run), first) if run.pictured else NOTHING,
        "drift": as_json(drift(comparison, first, lambda: _by_key(run))),
        "artefacts": artefacts(*run.artefacts),
        "cut": [],
    }


def _in_texts(run: Run) -> tuple[Graphs, Graphs]:
    one, other = run.artefacts
    return Texts(one), Texts(other)


def _told(run: Run, steps: Mapping[Execution, int]) -> Execution | None:
    """The execution that the explanation calls the first divergence, so that text and picture agree; None if the
    comparison has no such step."""
    origin = run.explanation.origin if run.explanation is not None else None
    if origin is None:
        return None
    where = Execution(*origin.key[:5])._replace(operator=origin.operator)
    return where if where in steps else None


def _explanation(run: Run, places: Mapping[SlotKey, int]) -> dict[str, Any] | None:
    """The explanation of the failure; for its origin also the ``place`` of the slot on the page."""
    if run.explanation is None:
        return None
    told: dict[str, Any] = as_json(run.explanation.to_json())
    if run.explanation.origin is not None:
        told["origin"]["place"] = places.get(run.explanation.origin.key)
    return told


def _statements(run: Run, first: Execution | None, places: Mapping[Execution, int]) -> dict[str, list[str]]:
    """The statement of an operator in the graph of the expected side, else of the found one, by the step's place."""
    try:
        known = statements(run.artefacts[0]) or statements(run.artefacts[1])
    except HarnessError:
        return {}  # a damaged text is among the artefacts to look at
    differing = [step.where for step in run.spread.steps if step.role is not Role.AGREES]
    wanted = [*([first] if first is not None and first in places else []), *differing][:STATEMENTS]
    return {
        str(places[where]): node.statement(_STATEMENT)
        for where in wanted
        if (node := known.get((where.graph, where.operator))) is not None
    }


def _by_key(run: Run) -> dict[SlotKey, Record]:
    return {} if run.records is None else {record.key: record for record in run.records()}


def _slot(slot: SlotVerdict) -> list[Any]:
    """Values in the order of ``COLUMNS``, up to the last known one."""
    known = row(slot)
    for name in ("smallest_atol", "smallest_rtol"):
        # The page shows few digits; a tolerance it names must pass.
        known[name] = None if known[name] is None else float(rounded_up(known[name]))
    values = [as_json(known[name]) for name in COLUMNS]
    while values and values[-1] is None:
        values.pop()
    return values


def _steps(run: Run, places: Mapping[Execution, int]) -> list[dict[str, Any]]:
    first: dict[Execution, list[int]] = {}
    for at, slot in enumerate(run.comparison.slots):
        first.setdefault(execution_of(slot.key), []).append(at)
    return [
        {
            "where": list(step.where), "type": step.op_type, "source": step.source, "role": step.role.value,
            "in": as_json(step.noise_in), "out": as_json(step.noise_out), "slots": first.get(step.where, []),
            "fed_by": [places[each] for each in step.fed_by], "feeds": [places[each] for each in step.feeds],
        }
        for step in run.spread.steps
    ]  # fmt: skip


def _details(run: Run, divergence: Any) -> dict[SlotKey, Detail]:
    """Pictures of the slots a reader is most likely to open."""
    noisy = {step.where: step.noise_out or 0.0 for step in run.spread.of(Role.NEW, Role.CARRIED, Role.GIVEN)}
    first = divergence.where if divergence is not None else None
    differing = [s for s in run.comparison.slots if s.verdict in (Verdict.DIFFERS, Verdict.WITHIN)]
    own = [slot for slot in differing if execution_of(slot.key) == first]
    loud = sorted(differing, key=lambda slot: (slot.key.io != "output", -noisy.get(execution_of(slot.key), 0.0)))
    # The first differing slots show how it began, the noisiest how bad it is.
    wanted = {slot.key: slot for slot in [*own, *differing[: DETAILS // 2], *loud[: DETAILS // 2]]}
    found: dict[SlotKey, Detail] = {}
    for slot in wanted.values():
        detail = _detail(run.comparison, slot)
        if detail is not None:
            found[slot.key] = detail
    return found


def _detail(comparison: Comparison, slot: SlotVerdict) -> Detail | None:
    pair = comparison.pairs.get(slot.key)
    if pair is None or pair[0].dtype != pair[1].dtype or pair[0].shape != pair[1].shape:
        return None
    try:
        expected, found = (record.load() for record in pair)
    except HarnessError:
        return None
    if expected is None or found is None or expected.dtype.kind == "c" or not 0 < expected.size <= MAX_ELEMENTS:
        return None
    drawn: Detail = as_json(picture(expected, found.reshape(expected.shape), slot.dtype))
    return drawn
