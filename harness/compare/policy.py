"""The one judgement: which tolerance applies, how slots are paired, what counts, and the verdict.

The gate, ``msdump check``, ``diff``, ``judge``, ``learn``, ``audit`` and the report use it and decide nothing
themselves. Runs are first compared by name and digest; operators are paired by data flow only if something does not
hold.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from harness.compare.check import Judging, check
from harness.compare.gaps import with_gaps
from harness.compare.identities import NOBODY, TYPE
from harness.compare.interiors import INSIDE, leave_out_interiors
from harness.compare.judge import SlotJudge
from harness.compare.party import HERE, MODULES, NOISE_RULE, TABLE, are_ordered, made_elsewhere, made_here, ruling
from harness.compare.party import Party as Party
from harness.compare.party import have_equal_names as have_equal_names
from harness.compare.party import is_of_calls as is_of_calls
from harness.compare.party import texts_count as texts_count
from harness.compare.party import tolerances_of as tolerances_of
from harness.compare.texts import TextVerdict
from harness.compare.ties import admit_ties
from harness.compare.tolerances import Tolerances
from harness.compare.unwritten import leave_out_unwritten
from harness.compare.verdict import Altered, Comparison, Verdict
from harness.exit_status import CANNOT_TELL, DIFFERS, HOLDS
from harness.records import Record
from harness.stats.printed import MISSING, PrintedStatistics
from harness.store import RunId
from harness.words import counted

if TYPE_CHECKING:
    from harness.compare.idle import Idle
    from harness.compare.pairing import Pairing
    from harness.compare.renumbering import Renumbered

RENAMED = "Renamed: {}; of one backend that is a difference (--match flow takes it for none)"

#: Verdicts on a whole run that a gate lets pass.
HOLDING = (Verdict.IDENTICAL.value, Verdict.WITHIN.value, Verdict.STATISTICS.value)

#: What pairs operators: names, scope, type and data flow, or names first, then the rest if that compares more.
Match = Literal["auto", "names", "flow"]


#: the mode that has everything
_WHOLE_MODE = "tensor"

#: how a module is called that has no path of its own
WHOLE = "the whole module"


#: Aligns runs of two backends whose graphs differ in known ways; None for any other two runs.
Layout = Callable[[Party, Party], tuple[list[Record], list[Record]] | None]

#: Under ``noise``: accepts differences that rounding explains, given both sides.
Settle = Callable[[Comparison, Party, Party], Comparison]


@dataclass(frozen=True, repr=False)
class Judgement:
    """The result of comparing two sides.

    Attributes:
        comparison: every slot's verdict.
        tolerances: the tolerances applied.
        rule: which tolerance ruled, and why, in words.
        pairing: how operators of other names were found; None if slots were compared by name.
        tried: how operators would have been paired, if that was tried.
        renamed: operators with another name on the found side, if that is a difference.
        texts_hold: whether the texts that are results hold; None if none was compared.
        texts: those of them that do not hold.
        lost: files of both sides that could not be used: what they hold was not compared. (Slots that could not be read
            are ``comparison.gaps``.)
        empty_holds: whether two empty sides agree, because only what goes wrong was kept.
        notes: lines about what the verdict does not cover.
        idle: keys of a table of tolerances, given or stored, to which nothing belongs.
    """

    comparison: Comparison
    tolerances: Tolerances
    pairing: Pairing | None = None
    tried: Pairing | None = None
    renamed: int = 0
    texts_hold: bool | None = None
    texts: Sequence[TextVerdict] = ()
    lost: int = 0
    empty_holds: bool = False
    notes: tuple[str, ...] = ()
    rule: str = ""
    idle: tuple[Idle, ...] = ()

    def __repr__(self) -> str:
        return f"<Judgement: {self._said}>"

    def _repr_html_(self) -> str:
        """As a notebook shows it: the verdict, and the slots that differ first."""
        from harness import notebook

        apart = [each for each in self.comparison.slots if each.verdict is not Verdict.IDENTICAL]
        rows = (
            (each.key.operator, each.key.slot_name, f"{each.dtype}{list(each.shape)}", each.verdict.value, each.reason)
            for each in apart
        )
        return notebook.table(self._said, ("operator", "slot", "type", "verdict", "how"), rows, len(apart))

    @property
    def _said(self) -> str:
        counts = ", ".join(f"{count} {verdict.value}" for verdict, count in self.comparison.counts.items() if count)
        return f"{self.verdict}; {counted(self.comparison.total, 'slot')}{': ' if counts else ''}{counts}"

    @property
    def slots_hold(self) -> bool:
        """Whether every slot and every name holds; ignores texts."""
        empty = (
            not self.comparison.total
            and not self.comparison.altered
            and (self.empty_holds or self.texts_hold is not None)
        )
        return (self.comparison.holds or empty) and not self.renamed

    @property
    def holds(self) -> bool:
        """Whether a gate lets the found side pass."""
        return self.code == HOLDS

    @property
    def code(self) -> int:
        """``HOLDS``, ``DIFFERS``, or ``CANNOT_TELL``: if nothing was compared, values were not kept, or files could not
        be used."""
        if self.renamed or self.texts_hold is False:
            return DIFFERS
        code = outcome(self.comparison, self.empty_holds or self.texts_hold is not None)
        return CANNOT_TELL if code == HOLDS and self.lost else code

    @property
    def verdict(self) -> str:
        """The verdict of the slot that agrees least."""
        code = self.code
        if code == CANNOT_TELL:
            counts = self.comparison.counts
            unsure = counts[Verdict.UNSURE] or (self.lost and self.comparison.compared)
            return Verdict.UNSURE.value if unsure else Verdict.NOT_COMPARED.value
        if code == DIFFERS:
            return Verdict.DIFFERS.value
        counts = self.comparison.counts
        partly = (Verdict.WITHIN, Verdict.STATISTICS)
        return next((each.value for each in partly if counts[each]), Verdict.IDENTICAL.value)


def outcome(comparison: Comparison, empty_holds: bool = False) -> int:
    """The exit code of a comparison of slots."""
    counts = comparison.counts
    nothing = not comparison.compared and not (empty_holds and not comparison.unnamed)
    return exit_code(
        differs=bool(counts[Verdict.DIFFERS] + counts[Verdict.MISSING] + counts[Verdict.UNEXPECTED])
        or comparison.order is not None
        or bool(comparison.altered),
        unsure=nothing or bool(counts[Verdict.UNSURE] + counts[Verdict.NOT_COMPARED]),
    )


def exit_code(*, differs: bool, unsure: bool) -> int:
    """A certain difference counts more than a doubt."""
    return DIFFERS if differs else CANNOT_TELL if unsure else HOLDS


def judge(
    expected: Party, found: Party, asked: Any = None, *, lay: Layout, settle: Settle | None = None,
    match: Match = "auto", measured: bool = True, by_statistics: bool = False, judging: Judging = SlotJudge,
    by: str = "the command",
) -> Judgement:  # fmt: skip
    """Judges ``found`` against ``expected``.

    Args:
        expected, found: the golden side and the run.
        asked: the tolerance of a command, a marker or a hook; it counts before all others.
        lay: aligns runs of two emulated backends.
        settle: the additional rule of ``noise`` beyond the table by dtype; by default none.
        match: ``names`` compares slots of equal names, ``flow`` pairs operators by scope, type and data flow whatever
            their names are, ``auto`` does the same, with names deciding last, if slots by name do not hold and this
            compares more. Under ``auto`` another name is a difference if both sides should have equal names.
        measured: whether slots within their tolerance are measured too.
        by_statistics: whether to accept statistics within the tolerance if one side kept no values.
        judging: see ``check``.
        by: who asked for the tolerance, in words.

    Raises:
        ToleranceError: ``asked``, or the stored tolerance, cannot be read.
        RecordError: see ``check``.
    """
    laid = lay(expected, found)
    tolerances, rule = ruling(expected, found, asked, beside=laid is not None, by=by)
    # A run in mode statistic asks for statistics.
    if by_statistics or "statistic" in (expected.mode, found.mode):
        tolerances = replace(tolerances, statistics=True)
    seek = partial(_sought, expected, found, laid, match, measured, judging)
    comparison, pairing, tried = seek(tolerances)
    # The manifest, which knows the environment, is read if bits differ.
    apart = comparison.counts[Verdict.WITHIN] or not comparison.holds
    if rule is TABLE and apart and made_here(expected, found):
        tolerances, rule = replace(Tolerances.parse("exact"), statistics=tolerances.statistics), HERE
        comparison, pairing, tried = seek(tolerances)
    if rule is TABLE and not comparison.holds and settle is not None and made_elsewhere(expected, found):
        tolerances, rule = replace(tolerances, noise=True), NOISE_RULE
    if tolerances.noise and settle is not None and not comparison.holds:
        comparison = settle(comparison, expected, found)
    if expected.granularity == MODULES and not comparison.holds:
        comparison = leave_out_interiors(comparison)
    # No release and no backend chooses the names of the values that a test gives.
    own = not have_equal_names(expected, found)
    renamed = pairing.renamed(given=own) if pairing is not None and match == "auto" else 0
    lost, notes = expected.lost() + found.lost(), tuple(_notes(expected, found, comparison))
    stated = asked is not None or expected.tolerance is not None
    without: tuple[Idle, ...] = ()
    if stated and (tolerances.patterns or tolerances.types):
        from harness.compare.idle import idle  # few tables have keys

        without = tuple(idle(tolerances, comparison.every()))
    return Judgement(comparison, tolerances, pairing, tried, renamed, lost=lost, notes=notes, rule=rule, idle=without)


def _sought(
    expected: Party, found: Party, laid: tuple[Any, Any] | None, match: Match, measured: bool, judging: Judging,
    tolerances: Tolerances,
) -> tuple[Comparison, Pairing | None, Pairing | None]:  # fmt: skip
    """The comparison, the pairing it rests on, and the one that was tried; see ``judge``."""
    pairing = tried = under = None
    by_name = laid is None
    if match == "flow":
        comparison, pairing = _paired(expected, found, tolerances, by_name=False, measured=measured)
    else:
        sides: tuple[Any, Any] = laid or (expected.content, found.content)
        ordered = laid is None and are_ordered(expected, found)
        comparison = check(*sides, tolerances, order=ordered, measured=measured, judging=judging)
        comparison = _gapped(comparison, expected, found)
        flows = False
        if match == "auto" and not comparison.holds and laid is None:
            from harness.compare.renumbering import under_golden_names  # most comparisons hold

            under, flows = under_golden_names(expected, found, comparison, tolerances, measured, judging)
            if under is not None:
                comparison = _gapped(under.comparison, expected, found, under)
        misnamed = match == "auto" and not flows and _may_be_misnamed(comparison, laid is not None)
        if misnamed and not comparison.holds:
            paired, tried = _paired(expected, found, tolerances, measured=measured)
            if _renames(tried) and _compared(paired) > _compared(comparison):
                comparison, pairing, under = paired, tried, None
    comparison = _admitted(comparison, expected, found, tolerances)
    _describe(comparison, expected, found, by_name and pairing is None, under)
    return comparison, pairing, tried


def references(
    own: RunId, others: Iterable[str], there: Container[RunId], *, emulated: bool, beside_tensors: bool
) -> list[RunId]:
    """The runs of a golden that a run is held against: that of its own backend, and those of others it names.

    A run in the same mode counts; where there is none, the one in mode ``tensor``, which has everything.

    Args:
        own: the run.
        others: backends it is to agree with as well.
        there: the runs the golden has; a run given back may be missing there.
        emulated: whether an emulated device made the run.
        beside_tensors: whether its mode says something beside another backend's tensors.
    """
    found = []
    for backend in (own.backend, *others):
        same = own if backend == own.backend else own._replace(backend=backend, variant="")
        if same in there:
            found.append(same)
        elif backend == own.backend or beside_tensors:
            found.append(same._replace(mode=_WHOLE_MODE))
    # A real engine gives other bits on other machines: another backend's golden may replace its own.
    if len(found) > 1 and own not in there and not emulated:
        del found[0]
    return found


def _admitted(comparison: Comparison, expected: Party, found: Party, tolerances: Tolerances) -> Comparison:
    """The comparison without what MindSpore leaves unwritten; indices that scores show to tie are within tolerance."""
    if expected.is_real_mindspore or found.is_real_mindspore:
        comparison = leave_out_unwritten(comparison)
    if comparison.holds:
        return comparison
    return admit_ties(comparison, expected.records, found.records, tolerances, expected.identities.operators)


def _gapped(
    comparison: Comparison, expected: Party, found: Party, under: Renumbered | None = None
) -> Comparison:  # fmt: skip
    """The comparison with what a side could not read; the run's slots have the golden's names that ``under`` gives."""
    named = (*expected.named, *found.named)
    ours = found.gaps() if under is None else [gap._replace(key=under.key(gap.key)) for gap in found.gaps()]
    return with_gaps(comparison, expected.gaps(), ours, accepted=expected.accepts, patterns=named)


def _describe(comparison: Comparison, expected: Party, found: Party, by_name: bool, under: Renumbered | None) -> None:
    """Notes what the operators of both sides are, and those of one name and backend that are not the same."""
    theirs = found.identities if under is None else under.identities(found.identities)
    if by_name and texts_count(expected, found):
        told = expected.identities.altered(theirs, exact=found.emulated)
        comparison.altered = (*told, *_other_types(comparison, expected, found))
    comparison.described = expected.identities.operators, theirs.operators


def _other_types(comparison: Comparison, expected: Party, found: Party) -> Iterable[Altered]:
    """Operators of another type under one name, where nobody described them: as far as their slots differ."""
    if expected.identities is not NOBODY and found.identities is not NOBODY and comparison.pairs:
        known = {key for side in (expected, found) for key in side.identities.operators()}
    else:
        known = set()
    seen = set()
    for one, other in comparison.pairs.values():
        key = one.key.rank, one.key.graph, one.key.operator
        if one.op_type != other.op_type and one.key == other.key and key not in known and key not in seen:
            seen.add(key)
            yield Altered(*key, TYPE, one.op_type, other.op_type, other.source or one.source)


def _paired(expected: Party, found: Party, *rest: Any, **how: Any) -> tuple[Comparison, Pairing]:
    """See ``pairing.check_paired``; most comparisons pair nothing, and importing it takes longer than they do."""
    from harness.compare.pairing import check_paired

    comparison, pairing = check_paired(expected.content, found.content, *rest, **how)
    return _gapped(comparison, expected, found), pairing


def _notes(expected: Party, found: Party, comparison: Comparison) -> Iterator[str]:
    for name, party in (("golden", expected), ("run", found)):
        if party.compiled:
            modules = ", ".join(path or WHOLE for path in party.compiled[:3])
            yield f"Compiled ({name}): {modules}; code that inductor made is recorded by what it reads and gives"
    counts = comparison.counts
    # Where operators came or went, others follow: their order says nothing of its own.
    if (exchanged := comparison.exchanged) and not counts[Verdict.MISSING] + counts[Verdict.UNEXPECTED]:
        one, other = exchanged[0]
        more = f" and {len(exchanged) - 1} more" if len(exchanged) > 1 else ""
        number = counted(len(exchanged), "operator")
        yield (
            f"Order: {number} of equal content run in another order ({one} as {other}{more}), "
            "as where a program walks a set (PYTHONHASHSEED)"
        )
    if renamed := comparison.renamed:
        one, other = renamed[0]
        more = f" and {len(renamed) - 1} more" if len(renamed) > 1 else ""
        yield f"Other names: {counted(len(renamed), 'name')} ({one} is {other}{more})"
    yield from _half_known(comparison)
    inside = [gap for gap in comparison.gaps if gap.reason == INSIDE] if counts[Verdict.ACCEPTED] else []
    if inside:
        yield f"Not compared, accepted: {counted(len(inside), 'slot')} {INSIDE} ({inside[0].key.operator})"
    accepted = counts[Verdict.ACCEPTED] - len(inside)
    if accepted:
        yield f"Not compared, accepted: {counted(accepted, 'slot')} that could not be read"
    unwritten = sum(not each.carries and each.key.io == "output" for s in comparison.uncompared.values() for each in s)
    if unwritten:
        yield f"Not compared: {counted(unwritten, 'output')} that MindSpore's kernels leave unwritten"
    if any(comparison.composed):
        ours, theirs = comparison.composed
        yield (
            f"In groups: {counted(ours, 'operator')} of the golden and {theirs} of the run do the same together; "
            "compared was what goes in and what comes out"
        )


def exactly(expected: Party, found: Party, judging: Judging = SlotJudge) -> Comparison:
    """Measures every difference of two runs that should have none; tolerances are learned from it. Another order counts
    where it does for ``judge``."""
    ordered = are_ordered(expected, found)
    comparison = check(expected.content, found.content, "exact", order=ordered, judging=judging)
    if expected.is_real_mindspore or found.is_real_mindspore:
        comparison = leave_out_unwritten(comparison)
    return comparison


def _half_known(comparison: Comparison) -> Iterator[str]:
    """A line about statistics that one side alone states, of slots that hold."""
    found = []
    for slot in comparison.apart() if comparison.pairs else ():
        if not (slot.by_statistics and slot.verdict.holds and slot.key in comparison.pairs):
            continue
        one, other = comparison.pairs[slot.key]
        if one.numbers and other.numbers and bool(one.numbers[4]) == bool(other.numbers[4]):
            continue
        rows = [each.extra.row for each in (one, other)]
        if all(isinstance(row, PrintedStatistics) for row in rows):
            items = [{item for item in row if row[item] != MISSING} for row in rows]
            found += [(slot.key, item) for item in sorted(items[0] ^ items[1])]
    if found:
        key, item = found[0]
        many = counted(len(found), "statistic")
        yield f"Not compared: {many} that one side alone states ({item} of {key.operator}, {key.slot_name})"


def judged_by_texts(hold: bool | None, texts: Sequence[TextVerdict] = ()) -> Judgement:
    """The judgement if one side has texts alone; ``hold`` is None if the other side has none of their kind."""
    return Judgement(Comparison([]), Tolerances(), texts_hold=hold, texts=texts)


def _compared(comparison: Comparison) -> tuple[int, int]:
    """The number of slots of equal shape on both sides, and how many of them agree."""
    counts = comparison.counts
    agree = sum(count for verdict, count in counts.items() if verdict.holds)
    agree -= counts[Verdict.ACCEPTED]
    both = agree + counts[Verdict.DIFFERS] + counts[Verdict.UNSURE]
    return both - sum(a.shape != b.shape for a, b in comparison.pairs.values()), agree


def _may_be_misnamed(comparison: Comparison, beside: bool) -> bool:
    """Whether equal names may belong to different operators: one side has an extra operator, or numbers them
    differently.

    Args:
        comparison: comparison by names.
        beside: whether known differences of two backends were removed: then most slots must lack a counterpart, as in a
            capture of a PyTorch module.
    """
    counts = comparison.counts
    if beside:
        return min(counts[Verdict.MISSING], counts[Verdict.UNEXPECTED]) > _compared(comparison)[0]
    one_sided = counts[Verdict.MISSING] + counts[Verdict.UNEXPECTED]
    return bool(one_sided) or any(a.shape != b.shape for a, b in comparison.pairs.values())


def _renames(pairing: Pairing) -> bool:
    """Whether operators of different names are paired by more than their types.

    If each operator is paired with the one of its own name, another shape is a difference. Among operators outside
    every cell, one of the same type may be anything.
    """
    from harness.compare.pairing.matching import SCOPE
    from harness.compare.pairing.scopes import place_of

    pairs = [pair for step in pairing.steps for pair in step.pairs]
    scoped = any(pair.by != SCOPE or place_of(pair.expected.operator, "").path for pair in pairs)
    return scoped and any(here != there for here, there in pairing.slots())
