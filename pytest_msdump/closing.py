"""The closing section of a session: its table, what its failures share, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_msdump import commands, sharing, unseen
from pytest_msdump.options import Settings
from pytest_msdump.report import LEFT_OUT, Result, Row, Summary, natural, table

MAX_NAMED = 20


def listed(items: Sequence[str]) -> Iterator[str]:
    """At most ``MAX_NAMED`` lines naming ``items``."""
    yield from (f"  {item}" for item in items[:MAX_NAMED])
    if len(items) > MAX_NAMED:
        yield f"  ... and {len(items) - MAX_NAMED} more"


def closing(summary: Summary, settings: Settings, start: Path, verbose: int) -> Iterator[str]:
    """Lines of the closing section; empty if the session had nothing to compare.

    Args:
        summary: the session's results.
        settings: the session's.
        start: where pytest was started.
        verbose: pytest's verbosity; below zero only rows that need attention are shown.
    """
    rows = summary.rows()
    yield from _table(summary, rows if verbose >= 0 else [row for row in rows if not row.calm], verbose > 0)
    if not (rows or summary.results or summary.skipped or summary.stale or summary.notes):
        return
    yield _proof(summary)
    identical = summary.total("identical")
    if verbose > 0 and identical and not (settings.regen or settings.learn):
        verify, slots = commands.verify(settings, start), _counted(identical, "slot")
        yield f"not read: the goldens' values of {slots} with equal digests (`{verify}` reads them)"
    for reason in sorted(set(summary.skipped.values())):
        yield f"skipped {list(summary.skipped.values()).count(reason)}: {reason}"
    yield from _left_out(summary)
    if summary.stale:
        prune = commands.prune(settings, start)
        yield f"unused goldens, which no test owns; the session fails until `{prune}` has removed them:"
        yield from listed(summary.stale)
    if summary.undescribed:
        fix = commands.describe(settings, start)
        yield f"the manifests do not describe these goldens as they are (`{fix}` rewrites them):"
        yield from listed(summary.undescribed)
    yield from summary.problems
    yield from summary.notes
    yield from listed(list(_learned(summary)))
    yield from listed(list(_chosen(summary)))
    yield from _idle(summary)
    yield from unseen.closing(summary.results.values())
    candidates = _candidates(summary.results.values())
    if candidates:
        if settings.in_ci:
            review = commands.review(settings, candidates, start)
            accept = commands.accept(settings, candidates, start)
            yield f"candidate bundle left: look at it with `{review}`, take it over with `{accept}`"
        else:
            yield f"to see what changed, and take it over or not: `{commands.review(settings, candidates, start)}`"


def _table(summary: Summary, rows: Sequence[Row], verbose: bool) -> Iterator[str]:
    """The table, but for rows that repeat the first one of their group, and what the groups share."""
    alike = set() if verbose else sharing.rows(summary.groups)
    few = [row for row in rows if row.names not in alike]
    if few:
        yield from table(few, verbose)
    if len(few) < len(rows):
        yield f"... and {len(rows) - len(few)} more whose causes stand above them (-v lists them)"
    yield from sharing.lines(summary.groups)


def _counted(number: int, what: str) -> str:
    from harness.words import counted

    return counted(number, what)


def _proof(summary: Summary) -> str:
    from harness.words import counted

    compared = summary.total("slots") - summary.total("new")
    unused = "not judged" if summary.unused is None else str(len(summary.stale))
    texts = f" and {counted(summary.total('texts'), 'text')}" if summary.total("texts") else ""
    runs = summary.count("identical", "within tolerance", "differs", "updated")
    parts = [
        f"compared {counted(compared, 'slot')}{texts} in {counted(runs, 'run')}",
        f"new {summary.total('new')}",
        f"missing goldens {summary.count('missing')}",
        f"not compared {summary.count('not compared')}",
        f"skipped {len(summary.skipped)}",
        f"unused goldens {unused}",
    ]
    gaps, accepted = summary.total("gaps"), summary.total("accepted_gaps")
    if gaps or accepted:
        parts[0] += f"; {counted(gaps + accepted, 'slot')} could not be compared, of which {accepted} accepted"
    return "; ".join(parts)


def _learned(summary: Summary) -> Iterator[str]:
    for result in (each for results in summary.results.values() for each in results if each["learned"]):
        yield f"learned: {result['network']} [{result['backend']}-{result['mode']}]: {result['learned']}"


def _chosen(summary: Summary) -> Iterator[str]:
    """Which variants of goldens were used or written, and why."""
    found = [each["chosen"] for results in summary.results.values() for each in results if each["chosen"]]
    for why in sorted(set(found), key=natural):
        yield f"variants: {_counted(found.count(why), 'run')} {why}"


def _idle(summary: Summary) -> Iterator[str]:
    """Keys of tables of tolerances to which nothing belongs."""
    if any(each["keys"] for results in summary.results.values() for each in results):
        from pytest_msdump import idle

        if without := list(idle.told(summary.results.values())):
            yield f"tolerances that apply to nothing in this session: {len(without)}"
            yield from listed(without)


def _left_out(summary: Summary) -> Iterator[str]:
    names = {r["network"] for group in summary.results.values() for r in group if r["verdict"] == LEFT_OUT}
    if names:
        yield "left out, because marked xfail (what is known to be wrong is no golden; --runxfail takes it):"
        yield from listed(sorted(names, key=natural))


def _candidates(results: Iterable[Sequence[Result]]) -> str:
    return next((each["candidate"] for group in results for each in group if each["candidate"]), "")
