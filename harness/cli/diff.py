"""``msdump diff``: compares two runs, in stores or dump trees."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import environment
from harness.atomic import write_held
from harness.backends.align import lay_beside
from harness.cli.check import tell_idle, tell_lost, warn
from harness.cli.diff_texts import Texts, texts_of
from harness.cli.mapping import mapped
from harness.cli.operands import Side, beside, open_side, watched_side
from harness.compare import Comparison
from harness.compare.check import Judging
from harness.compare.collector import PausedCollector
from harness.compare.extending import Measured
from harness.compare.judge import SlotJudge
from harness.compare.pairing import ambiguous
from harness.compare.pairing import as_json as pairing_as_json
from harness.compare.pairing import lines as paired_lines
from harness.compare.policy import Judgement, Match, Party, judge, judged_by_texts
from harness.compare.shards import Shard, holder, joined, left_out, parse_all
from harness.compare.spread import Role, Spread, spread
from harness.compare.table import COLUMNS, as_json, row, stored
from harness.compare.tolerances import NOISE
from harness.errors import HarnessError
from harness.escape import cell, coloured, show, text
from harness.explain import Commands, Evidence, Explanation, Subject, explained, origin_lines, painted, settle, told
from harness.explain.sides import operators_of, rules_of
from harness.gate.ranks import put_in
from harness.gate.ranks import told as of_ranks
from harness.replaying import engine_of
from harness.report import Run, content, render, results
from harness.report.exports import endings, exported, view_of
from harness.scale import Keep, Scale, session
from harness.suggest import command, operand

if TYPE_CHECKING:
    from harness.explain.budget import Budget
    from harness.scale import Session

_STANDARD = Path("-")


@dataclass(frozen=True)
class Found:
    """The result of comparing two sides.

    Attributes:
        sides: the expected and the found side.
        judged: the judgement; every slot that differs is measured.
        explanation: explanation of the difference; None if nothing differs.
        texts: graphs, execution orders, artefacts of the recorder.
        shared: workers that read the sides; None if this process does.
    """

    sides: tuple[Side, Side]
    judged: Judgement
    explanation: Explanation | None
    texts: Texts
    shared: Session | None = None

    @property
    def comparison(self) -> Comparison:
        """Every slot's verdict."""
        return self.judged.comparison

    @cached_property
    def ranks(self) -> list[str]:
        """Which rank left first, in words; nothing for sides of one rank."""
        one, other = (side.read() for side in self.sides)
        return of_ranks(one, other, self.judged, whole=self.shared.whole if self.shared else None)

    @cached_property
    def spread(self) -> Spread:
        """How the difference spreads, for outputs that list all operators."""
        return spread(self.comparison)


@dataclass(frozen=True)
class Outputs:
    """Files that receive the result beside the text; ``-`` is standard output, instead of the text."""

    as_json: Path | None = None
    as_csv: Path | None = None
    report: Path | None = None
    exports: Sequence[Path] = ()

    @property
    def all(self) -> tuple[Path | None, Path | None, Path | None]:
        """The destinations of the JSON, the CSV and the page, in this order."""
        return self.as_json, self.as_csv, self.report

    @property
    def keep(self) -> Keep:
        """What of slots that hold the files need."""
        if self.report is not None or self.exports:
            return "all"
        return "counts" if self.as_json is None and self.as_csv is None else "reasoned"


def diff(
    expected: str,
    found: str,
    rank: int | None,
    tolerances: Any,
    outputs: Outputs,
    match: Match = "auto",
    by_statistics: bool = False,
    scale: Scale | None = None,
    shard: Sequence[str] = (),
    mapping: Sequence[Path] = (),
) -> int:
    """Compares ``expected`` and ``found`` (see ``open_side``) and prints or writes the result.

    Args:
        rank: rank to read from dump trees with several.
        tolerances: requested tolerances; None for the default, see ``tolerances_of``.
        outputs: files to write.
        match, by_statistics: see ``harness.compare.policy.judge``.
        scale: workers that share the work; by default this process does it alone.
        shard: slots to join, see ``Shard.parse``.
        mapping: msprobe's mapping files, see ``harness.cli.mapping``; then names alone pair operators.

    Returns:
        0 if everything holds; 1 if something differs; 2 if there was nothing to compare, the result is uncertain, or
        what was compared holds and files of a dump could not be used.

    Raises:
        HarnessError: a side cannot be read.
        OSError: a file cannot be written.
    """
    if outputs.all.count(_STANDARD) > 1:
        raise HarnessError("only one of --json, --csv and --report can be -, standard output")
    if unknown := next((path for path in outputs.exports if view_of(path.name) is None), None):
        raise HarnessError(f"--export {unknown}: its name ends with none of {', '.join(endings())}")
    shards = parse_all(shard)
    if mapping and scale is not None and (scale.workers or scale.scheduler):
        raise HarnessError("--mapping is for one process; leave out --workers and --scheduler")
    job = {"diff": (expected, found), "shards": shards, "rank": rank, "options": (tolerances, match, by_statistics)}
    with (
        session(scale, **job) as shared,
        open_side(expected, rank, shared) as one,
        open_side(found, rank, shared) as other,
    ):
        (one, other), notes = ((one, other), []) if shared else _laid(one, other, mapping)
        notes += [*one.aside, *other.aside]
        match = "names" if mapping and match == "auto" else match
        result = compare_sides(one, other, tolerances, match, by_statistics, shared, shards, outputs.keep, notes)
        try:
            _write_files(result, outputs)
        finally:
            _print(result, outputs)
        tell_idle(result.judged)
        return _code(result, outputs)


def _laid(one: Side, other: Side, mapping: Sequence[Path]) -> tuple[tuple[Side, Side], list[str]]:
    """Both sides under common names, steps and ranks, and lines that say so."""
    notes: list[str] = []
    if mapping:
        other, notes = mapped(one, other, mapping)
    one, other, more = beside(one, other)
    return (one, other), [*notes, *more]


def _code(result: Found, outputs: Outputs) -> int:
    """The exit code, after lines about what of the sides could not be used."""
    sides = [side for side in result.sides if side.capture is not None]
    for side in sides:
        warn(side.capture)  # type: ignore[arg-type]  # it has one
    where = sys.stderr if _STANDARD in outputs.all else sys.stdout
    told = sides if result.comparison.total else []
    for side in told:
        tell_lost(side.capture, side.name, where)  # type: ignore[arg-type]  # likewise
    return result.judged.code


def compare_sides(
    one: Side,
    other: Side,
    tolerances: Any = None,
    match: Match = "auto",
    by_statistics: bool = False,
    shared: Session | None = None,
    shards: Sequence[Shard] = (),
    keep: Keep = "all",
    notes: Sequence[str] = (),
) -> Found:
    """Measures every slot that differs, and traces how the difference spreads.

    Args:
        one, other: the expected and the found side.
        tolerances, match, by_statistics: see ``harness.compare.policy.judge``.
        shared: workers that measure.
        shards: slots to join; then this process measures.
        keep: what of slots that hold is needed, see ``harness.scale.driver.Session.judging``.
        notes: further lines about what was compared.
    """
    parties = joined(one.party, other.party if shared else watched_side(other), shards)
    alone = one.holds_texts_alone or other.holds_texts_alone
    light = all(side.capture is not None and side.capture.stated for side in (one, other))
    with PausedCollector() if light else nullcontext():
        judged = judged_by_texts(None) if alone else judge(
            *parties, tolerances, lay=lay_beside, settle=settle, match=match, by_statistics=by_statistics,
            judging=judging_of(one, other, None if shards else shared, keep),
        )  # fmt: skip
    # After the slots: some texts are found while those are read.
    texts = texts_of(one, other)
    hold = texts.results.holds if texts.results.names else None
    notes = (*judged.notes, *notes, *_left_out(shards, (one, other)))
    failing = texts.results.failures
    judged = judged_by_texts(hold, failing) if alone else replace(judged, texts_hold=hold, texts=failing, notes=notes)
    sides = [_evidence(side, party if shards else side) for side, party in zip((one, other), parties, strict=True)]
    changed = [] if judged.holds else environment.changes(one.environment, other.environment)
    under_noise = partial(judge, *parties, NOISE, lay=lay_beside, settle=settle, match=match)
    about = _subject(one, other), sides[0], sides[1], _others(judged)
    explanation = explained(judged, *about, changed=changed, again=under_noise)
    if explanation is not None and (lines := [*_of_shards(parties, shards, explanation)]):
        explanation = replace(explanation, others=(*lines, *explanation.others))
    return Found((one, other), judged, explanation, texts, shared)


def _of_shards(parties: tuple[Party, Party], shards: Sequence[Shard], explanation: Explanation) -> Iterator[str]:
    """Which rank holds the element where joined shards first differ."""
    origin = explanation.origin
    if origin is not None and origin.element is not None and shards:
        for party in parties:
            if held := holder(party.records(), origin.key, origin.element.index):
                yield f"Held by {held}"


def _left_out(shards: Sequence[Shard], sides: tuple[Side, Side]) -> Iterator[str]:
    """What a table of placements leaves out, in one line."""
    if any(shard.kind == "Ignore" for shard in shards):
        counts = [left_out(side.records(), shards) for side in sides]
        yield f"left out by the table of placements: {counts[0]} and {counts[1]} of the sides' slots"


def judging_of(one: Side, other: Side, shared: Session | None, keep: Keep = "all") -> Judging:
    """The function that judges the slots of two sides: the workers, if there are any."""
    if shared is None:
        return SlotJudge
    store = None if one.capture is not None else Path(one.name.partition("::")[0])
    return shared.judging(one.capture or one.content, other.capture or other.content, store, keep)


def _evidence(side: Side, records: Side | Party) -> Evidence:
    content: Any = side.content if side.capture is None else side.capture
    known: Any = {"operators": partial(operators_of, content), "engine": engine_of(rules_of(content), side.backend)}
    capture = side.capture
    if capture is None or records is not side:
        return Evidence(records.records, lambda: side.artefacts, side.backend, side.emulated, **known)
    return Evidence(
        records.records, lambda: side.artefacts, side.backend, side.emulated, None, capture.execution, capture.stated,
        **known,
    )  # fmt: skip


def evidence_of(side: Side) -> Evidence:
    """A side as explanations take it."""
    return _evidence(side, side)


def _subject(one: Side, other: Side) -> Subject:
    return Subject(f"{other.network or 'a run'} [{other.backend}-{other.mode}] of {other.name}", one.name)


def _others(judged: Judgement) -> list[str]:
    """The result of pairing, in a few lines."""
    if judged.pairing is not None:
        return list(dict.fromkeys([*paired_lines(judged.pairing)[:1], *ambiguous(judged.pairing)[:1]]))
    unsure = ambiguous(judged.tried) if judged.tried is not None else []
    return [f"Compared by names; pairing operators of other names is {unsure[0].strip()}"] if unsure else []


def _commands(result: Found) -> Commands:
    named = [operand(side.name) for side in result.sides]
    return Commands(
        command("msdump", "diff", *named, "--json=diff.json"), command("msdump", "diff", *named, "--report=report.html")
    )


def _text(result: Found, colour: bool = False) -> list[str]:
    (one, other), judged = result.sides, result.judged
    commands = _commands(result)
    lines = [told(judged, _subject(one, other), result.explanation, commands, colour, _others(judged))]
    if not result.comparison.total and result.texts.results.names:
        alone = [side for side in (one, other) if side.holds_texts_alone]
        why = "no tensor on either side" if len(alone) != 1 else f"no tensor was compared, {alone[0].name} holds none"
        known = result.explanation
        origin = origin_lines(known.origin) if known is not None and known.origin is not None else []
        lines = [f"{one.name} and {other.name}: {why}", *map(painted if colour else str, origin)]
    return [put_in(lines[0], result.ranks), *lines[1:], *result.texts.lines()]


def report(result: Found) -> dict[str, Any]:
    """The whole result as JSON values, which ``judge`` can read again.

    Keys: those of ``harness.report.results``, ``sides``, ``holds``, ``renamed`` (operators whose changed name counts
    as a difference), ``lost`` (files that could not be used), ``counts``, ``explanation`` (see
    ``harness.explain.Explanation.to_json``; None if nothing differs), ``steps`` (operator executions that do not
    agree), ``budget`` (the parts of the error, see ``harness.explain.budget.Budget``; None if nothing differs or no
    graph is known), ``texts`` (see ``harness.report.artefacts``), ``texts_hold`` (whether the texts that count agree;
    None if none counts), ``slots`` (each slot that is not identical, see ``harness.compare.table.stored``) and
    ``pairing`` (None, or see ``harness.compare.pairing.as_json``).
    """
    comparison = result.comparison
    one, other = result.sides
    told = results.comparison(
        result.judged, result.explanation, network=other.network, backend=other.backend, mode=other.mode,
        golden=one.name, found=other.name, suggestions=results.suggested(_commands(result)),
        gaps=[each for side in result.sides if side.capture is not None for each in side.capture.lost],
    )  # fmt: skip
    return results.document("diff", result.judged.code, [told]) | {
        "sides": [
            {"name": s.name, "network": s.network, "backend": s.backend, "mode": s.mode, "emulated": s.emulated}
            for s in result.sides
        ],
        "holds": result.judged.holds,
        "renamed": result.judged.renamed,
        "lost": result.judged.lost,
        "counts": {verdict.value: count for verdict, count in comparison.counts.items()},
        "order_changed": comparison.order is not None,
        "altered": [each._asdict() for each in comparison.altered],
        "explanation": result.explanation.to_json() if result.explanation is not None else None,
        "budget": parts.to_json() if (parts := _budget(result)) is not None else None,
        "steps": [_step(step) for step in result.spread.steps if step.role is not Role.AGREES],
        "texts": result.texts.rows,
        "texts_hold": result.texts.results.holds if result.texts.results.names else None,
        "slots": list(_slots(comparison)),
        "pairing": pairing_as_json(result.judged.pairing) if result.judged.pairing is not None else None,
    }


def _slots(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Each slot that is not identical; with the measures of other packages, if there are any."""
    more = Measured()
    for slot in comparison.reasoned():
        values = stored(slot)
        yield values | {"measures": as_json(more.of(comparison.pairs.get(slot.key)))} if more.names else values


def _budget(result: Found) -> Budget | None:
    """The parts of the error; None if nothing differs, or no graph says what leads to what."""
    from harness.explain.budget import budget  # most sides are compared without it

    return budget(result.comparison, _evidence(result.sides[0], result.sides[0]))


def _page(result: Found) -> dict[str, Any]:
    one, other = result.sides
    run = Run(
        name=f"{other.network} [{other.backend}-{other.mode}]",
        expected=one.name,
        found=other.name,
        comparison=result.comparison,
        spread=result.spread,
        verdict=result.judged.verdict,
        explanation=result.explanation,
        text="\n".join(_text(result)),
        artefacts=(result.texts.expected, result.texts.found),
        records=one.records,
        graphs=(_evidence(one, one).graphs, _evidence(other, other).graphs),
        notes=[
            *(f"{name}: {side.backend}, {'emulated' if side.emulated else 'real'}" for name, side in _named(result)),
            *([parts.line()] if (parts := _budget(result)) is not None and parts.line() else []),
        ],
    )
    return content(run)


def _named(result: Found) -> list[tuple[str, Side]]:
    return list(zip(("expected", "found"), result.sides, strict=True))


def _step(step: Any) -> dict[str, Any]:
    return {
        "where": step.where._asdict(), "type": step.op_type, "source": step.source, "role": step.role.value,
        "noise_in": as_json(step.noise_in), "noise_out": as_json(step.noise_out),
        "fed_by": [list(each) for each in step.fed_by], "feeds": [list(each) for each in step.feeds],
    }  # fmt: skip


def _csv(comparison: Comparison) -> str:
    """Writes a row for every slot, identical ones included."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    more = Measured()
    writer.writerow([*COLUMNS, *more.names])
    for slot in comparison.every():
        values = row(slot) | (more.of(comparison.pairs.get(slot.key)) if more.names else {})
        writer.writerow([cell(values[name]) for name in (*COLUMNS, *more.names)])
    return text.getvalue()


_RENDERED: Sequence[Callable[[Found], str]] = (
    lambda result: json.dumps(report(result), indent=1, allow_nan=False) + "\n",
    lambda result: _csv(result.comparison),
    lambda result: render([_page(result)], f"msdump diff: {result.sides[0].network}"),
)


def _write_files(result: Found, outputs: Outputs) -> None:
    """Writes the files before anything is printed, because the reader of the output may go away."""
    for path, rendered in zip(outputs.all, _RENDERED, strict=True):
        if path is not None and path != _STANDARD:
            _write(path, rendered(result))
    for path in outputs.exports:
        title = _text(result)[0].partition("\n")[0]
        _write(path, exported(path.name, title, result.explanation, result.spread.steps))


def _print(result: Found, outputs: Outputs) -> None:
    """Prints the text, or the file that replaces it on standard output."""
    if _STANDARD in outputs.all:
        sys.stdout.write(_RENDERED[outputs.all.index(_STANDARD)](result))
    else:
        block, *others = _text(result, coloured(sys.stdout))
        show("\n".join([block, *map(text, others)]))


def _write(path: Path, text: str) -> None:
    """Writes a file whole or not at all; ``OSError`` names ``path``."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    try:
        write_held(path, text.encode())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
