"""Which rank left the others, of one run without a golden: values that should be equal, collectives that should meet,
reductions that should be their inputs'."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from harness.compare.ranks import rank_list
from harness.explain.ranks import causes
from harness.explain.ranks.finding import Cause, Finding, RanksReport, merged
from harness.explain.ranks.replay import gives
from harness.explain.ranks.timeline import GRADIENT, PARAMETER, Execution, Meeting, Run
from harness.words import counted

_REPLICAS = 3


def alone(run: Run, replicated: Sequence[str] = ()) -> RanksReport:
    """What is known of ranks that differ where they should not.

    Args:
        run: of several ranks.
        replicated: patterns of slots that must be equal on all ranks: a parameter's name, or ``OPERATOR:SLOT``.
            Parameters that a majority of at least three ranks holds alike are held to be replicated, too.
    """
    report = RanksReport(tuple(run.ranks))
    report.compared = sum(len(each.outputs) for line in run.timeline.values() for each in line)
    findings = [*_met(run), *_replicated(run, replicated)]
    findings.sort(key=lambda each: run.when(each.execution))
    findings = merged(findings)
    report.first = findings[0] if findings else None
    seen = set(report.first.ranks) if report.first is not None else set()
    for each in findings[1:]:
        fresh = report.first is not None and run.when(each.execution)[:2] == run.when(report.first.execution)[:2]
        if fresh and not seen.issuperset(each.ranks):
            report.others.append(each)
            seen.update(each.ranks)
    for each in findings:
        for rank in each.ranks:
            report.earliest.setdefault(rank, run.placed[rank].get(each.execution.place, each.execution))
    return report


def matches(execution: Execution, patterns: Sequence[str]) -> bool:
    """Whether patterns name an execution: by its parameter, or as ``OPERATOR:SLOT``."""
    names = [f"{execution.operator}:output.{at}" for at in range(len(execution.outputs))]
    if execution.op_type in (PARAMETER, GRADIENT):
        names.append(execution.operator)
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _met(run: Run) -> Iterator[Finding]:
    """Collectives that did not meet, or did not give what they should."""
    met = _unmet(run)
    if met is not None:
        yield met
        return
    for meeting in run.meetings:
        if meeting.known and set(meeting.calls) == set(meeting.group):
            yield from _wrong(run, meeting)


def _wrong(run: Run, meeting: Meeting) -> Iterator[Finding]:
    """The calls of one collective whose results are not their inputs', by cause."""
    wrong: dict[str, list[Finding]] = {}
    made = Counter(call.made for call in meeting.calls.values())
    inputs = {rank: values for rank, call in meeting.calls.items() if (values := call.values("input"))}
    fit = {
        rank: gives(call, inputs, meeting.group, call.settings.get("reduce_op", "SUM"))
        for rank, call in meeting.calls.items()
    }
    good = next((meeting.calls[rank] for rank, fits in fit.items() if fits), None)
    for rank, call in meeting.calls.items():
        cause = causes.of_collective(run, meeting, call) if fit[rank] is False else None
        cause = cause or _of_majority(meeting, call, made)
        if cause is None and fit[rank] is False:
            values = good.values() if good is not None and call.kind == "all_reduce" else None
            cause = causes.of_bits(call, values, f"of rank {good.rank}'s") if values and good is not None else None
            cause = cause or Cause("computed", "its result is not what its group's inputs give",
                                   "computed again from all inputs, it does not fit")  # fmt: skip
        if cause is not None:
            wrong.setdefault(cause.name, []).append(Finding((rank,), call, "output.0", cause))
    for findings in wrong.values():
        ranks = tuple(each.ranks[0] for each in findings)
        rest = [rank for rank in meeting.group if rank not in ranks]
        said = f"{counted(len(rest), 'rank')} of the group, whose result the inputs give" if rest else "the inputs"
        yield Finding(ranks, findings[0].execution, "output.0", findings[0].cause, said)


def _of_majority(meeting: Meeting, call: Execution, made: Counter[tuple[bytes, ...]]) -> Cause | None:
    """One bit of a result that its group should share: a flip that rounding would hide."""
    if call.kind not in ("all_reduce", "all_gather", "broadcast") or len(made) < 2:
        return None
    most, count = made.most_common(1)[0]
    if call.made == most or 2 * count <= len(meeting.calls):
        return None
    other = next(each for each in meeting.calls.values() if each.made == most)
    values = other.values()
    return causes.of_bits(call, values, f"of rank {other.rank}'s") if values else None


def _unmet(run: Run) -> Finding | None:
    """The first call that a rank makes otherwise than the rest of its group."""
    steps: dict[tuple[int, int], dict[int, list[Execution]]] = {}
    for rank, line in run.timeline.items():
        for each in line:
            if each.kind and each.kind not in ("send", "recv") and run.group_of(each)[1]:
                steps.setdefault(each.place[:2], {}).setdefault(rank, []).append(each)
    groups = list(dict.fromkeys(meeting.group for meeting in run.meetings if meeting.known))
    for step in sorted(steps):
        found = [finding for group in groups if (finding := _apart(run, steps[step], group)) is not None]
        if found:
            found.sort(key=lambda each: (each.cause is None or each.cause.name != "group", run.when(each.execution)))
            return found[0]
    return None


def _apart(run: Run, lines: dict[int, list[Execution]], group: tuple[int, ...]) -> Finding | None:
    """The rank of a group whose calls of one step are not those of the others."""
    mine = {rank: [each for each in lines.get(rank, []) if run.group_of(each)[0] == group] for rank in group}
    kinds = {rank: tuple(_call(each) for each in line) for rank, line in mine.items()}
    usual, count = Counter(kinds.values()).most_common(1)[0]
    other = [rank for rank in group if kinds[rank] != usual]
    if not other:
        return None
    if 2 * count > len(group):
        return _told(run, mine, (other[0], next(rank for rank in group if kinds[rank] == usual)), sure=True)
    if len(group) == 2:
        few, many = sorted(group, key=lambda rank: len(mine[rank]))
        return _told(run, mine, (few, many), sure=False)
    return None  # nobody's calls are the usual ones


def _call(each: Execution) -> tuple[object, ...]:
    shapes = () if each.kind in ("broadcast", "gather", "scatter", "reduce") else each.shapes
    return each.kind, shapes, each.settings.get("reduce_op", "")


def _told(run: Run, mine: dict[int, list[Execution]], pair: tuple[int, int], sure: bool) -> Finding | None:
    """What a rank (the first of ``pair``) calls otherwise than another; of two, nobody knows who is right."""
    rank, usual = pair
    a, b = mine[usual], mine[rank]
    calls = [_call(each) for each in a], [_call(each) for each in b]
    right = "the other ranks of the group" if sure else ""
    who = (rank,) if sure else tuple(sorted(pair))
    if len(b) < len(a):
        return _lacking(run, mine, pair, right)
    at = next((at for at, (x, y) in enumerate(zip(*calls, strict=False)) if x != y), len(a))
    if len(b) > len(a):
        return _more(run, b[at], pair, right)
    if sorted(calls[0], key=repr) == sorted(calls[1], key=repr):
        text = f"rank {rank} calls its collectives in another order than rank {usual}"
        return Finding(who, b[at], "", Cause("order", text, "both make the same calls, in another order"), right)
    if calls[0][at][2] != calls[1][at][2]:
        asked = [each[at].settings.get("reduce_op", "") for each in (a, b)]
        pairs = {("SUM", "AVG"): "mean-for-sum", ("AVG", "SUM"): "sum-for-mean"}
        name = pairs.get((asked[0], asked[1]), "reduction") if sure else "reduction"
        text = f"rank {rank} asks for {asked[1]}, rank {usual} for {asked[0]}"
        return Finding(who, b[at], "", Cause(name, text, "their arguments were compared"), right)
    shapes = [", ".join(f"{dtype}{list(shape)}" for dtype, shape in each[at].shapes) for each in (a, b)]
    text = f"rank {rank} calls {b[at].kind} with {shapes[1]}, rank {usual} with {shapes[0]}"
    return Finding(who, b[at], "", Cause("shape", text, "the shapes of their inputs were compared"), right)


def _more(run: Run, call: Execution, pair: tuple[int, int], right: str) -> Finding:
    """A rank that makes a call that its group does not make."""
    rank, usual = pair
    there = run.placed[usual].get(call.place)
    if there is not None and there.kind and there.group != call.group:
        return Finding((rank,), call, "", _other_group(call, there), right)
    text = f"rank {rank} calls {call.operator}, which rank {usual} does not call"
    return Finding((rank,), call, "", Cause("structure", text, f"rank {usual} has no such call"), right)


def _other_group(call: Execution, there: Execution) -> Cause:
    text = (
        f"rank {call.rank} calls {call.operator} in group {list(call.group or ())}, "
        f"rank {there.rank} in {list(there.group or ())}"
    )
    return Cause("group", text, "their arguments were compared")


def _lacking(run: Run, mine: dict[int, list[Execution]], pair: tuple[int, int], right: str) -> Finding | None:
    """A rank that lacks a call of its group: it calls another group, or nothing."""
    rank, usual = pair
    for call in mine[usual]:
        there = run.placed[rank].get(call.place)
        if there is not None and there.kind and there.group != call.group:
            return Finding((rank,), there, "", _other_group(there, call), right)
    at = _left_out(mine, rank, usual)
    call = mine[usual][at]
    text = f"rank {rank} does not call {call.operator}, which rank {usual} calls"
    return Finding((rank,), call, "", Cause("missing-collective", text, f"rank {rank} has a call less"), right)


def _left_out(mine: dict[int, list[Execution]], rank: int, usual: int) -> int:
    """Which of the others' calls a rank left out: the one without which the rest fit their results."""
    a, b = mine[usual], mine[rank]
    if len(b) + 1 != len(a):
        calls = [_call(each) for each in a], [_call(each) for each in b]
        return next((at for at, (x, y) in enumerate(zip(*calls, strict=False)) if x != y), len(b))
    for at in range(len(a)):
        rest = [each for place, each in enumerate(a) if place != at]
        if all(_call(x) == _call(y) and x.made == y.made for x, y in zip(rest, b, strict=True)):
            return at
    return len(b)


def _replicated(run: Run, patterns: Sequence[str]) -> Iterator[Finding]:
    """Values that should be equal on all ranks, and are not."""
    places: dict[tuple[object, ...], dict[int, Execution]] = {}
    for rank in run.ranks:
        for each in run.timeline[rank]:
            stated = patterns and matches(each, patterns)
            if stated or (len(run.ranks) >= _REPLICAS and each.op_type == PARAMETER and run.is_weight(each)):
                places.setdefault(each.place, {})[rank] = each
    gone: set[tuple[object, ...]] = set()
    for place, by_rank in places.items():
        first = next(iter(by_rank.values()))
        stated = bool(patterns) and matches(first, patterns)
        if len(by_rank) < 2 or (place[0], place[2], place[3]) in gone:
            continue
        made = Counter(each.made for each in by_rank.values())
        most, count = made.most_common(1)[0]
        if len(made) == 1 or not (stated or (2 * count > len(by_rank) and _telling(by_rank, most))):
            continue
        gone.add((place[0], place[2], place[3]))
        yield _unequal(run, by_rank, most, count, stated)


def _telling(by_rank: dict[int, Execution], most: tuple[bytes, ...]) -> bool:
    """Whether content that a majority holds can hardly be alike by chance: it is not one number throughout."""
    values = next(each for each in by_rank.values() if each.made == most).values()
    return bool(values) and any(each.size > 1 and bool((each != each.ravel()[0]).any()) for each in values or ())


def _unequal(run: Run, by_rank: dict[int, Execution], most: tuple[bytes, ...], count: int, stated: bool) -> Finding:
    ranks = tuple(rank for rank, each in by_rank.items() if each.made != most)
    rest = [rank for rank, each in by_rank.items() if each.made == most]
    sure = 2 * count > len(by_rank)
    first = by_rank[ranks[0]] if sure else next(iter(by_rank.values()))
    right = f"the majority: {counted(len(rest), 'rank')} of {len(by_rank)}" if sure else ""
    values = by_rank[rest[0]].values()
    flip = causes.of_bits(first, values, f"of rank {rest[0]}'s") if sure and values and len(ranks) == 1 else None
    name = "declared to be replicated" if stated else "equal on the others"
    text = f"{first.operator} has other values than on ranks {rank_list(rest)}"
    cause = flip or Cause("replicated", text, f"it is {name}, and its bits were compared")
    return Finding(ranks if sure else tuple(by_rank), first, "output.0", cause, right)
