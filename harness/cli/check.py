"""``msdump check``: compares a dump tree with a golden run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, TextIO

from harness.backends.align import lay_beside
from harness.capture import Capture, read_tree
from harness.cli.amount import limit
from harness.cli.beside import labels_of, laid_beside
from harness.cli.check_texts import holding, stated_texts
from harness.cli.recorder import check_recorder, is_only_recorded, recorded
from harness.cli.watched import Watched
from harness.compare.judge import SlotJudge
from harness.compare.pairing import lines
from harness.compare.policy import Judgement, Match, Party, judge, judged_by_texts, texts_count
from harness.compare.shards import joined, parse_all
from harness.compare.texts import TextVerdict
from harness.compare.tolerance_file import chosen_tolerances
from harness.compare.verdict import Verdict
from harness.errors import StoreError
from harness.escape import clipped, coloured, line, show
from harness.explain import Commands, Subject, explained, see_slot, settle, side_of, told
from harness.gate.ranks import put_in
from harness.gate.ranks import told as of_ranks
from harness.gate.sides import choose_run, left_aside, party_of
from harness.scale import Scale, session
from harness.store import GoldenStore, StoredRun, recover_around
from harness.suggest import command, operand
from harness.words import counted

_MAX_PROBLEMS = 10
#: Files that are named although all have the same problem.
_ALIKE = 3


def check_tree(
    tree: Path | str,
    golden: Path,
    run: str,
    rank: int | None,
    network: str | None,
    rtol: float | None,
    atol: float | None,
    exact: bool,
    match: Match = "auto",
    by_statistics: bool = False,
    scale: Scale | None = None,
    standard: str | None = None,
    shard: Sequence[str] = (),
    keep: dict[str, Any] | None = None,
) -> int:
    """Judges every slot of ``tree`` and of the golden run, and prints the result.

    Args:
        tree: dump tree, directory of the Running Data Recorder, or both in one.
        golden: the golden store.
        run: see ``choose_run``; empty for the tree's own backend and mode, or the only run.
        rank: rank of the tree; None for all.
        network: network to read from a tree with several.
        rtol, atol: tolerances for floating values.
        exact: admit equal bits only.
        standard: ``exact``, ``default`` or ``noise``; None for none.
        match, by_statistics: see ``harness.compare.policy.judge``.
        scale: workers that share the work; by default this process does it alone.
        shard: slots to join, see ``Shard.parse``.
        keep: receives what ``--json`` writes.

    Returns:
        0 if everything holds; 1 if something differs; 2 if there was nothing to compare, the result is uncertain, or
        what was compared holds and files of the tree could not be used.

    Raises:
        HarnessError: tree or store cannot be read, or the run cannot be chosen.
    """
    texts = recorded(Path(tree), rank)
    if texts and is_only_recorded(Path(tree)):
        with opened(golden) as store:
            return judged_by_texts(_check_recorder(texts, choose_run(store, run), tree, golden, rank)).code
    shards, asked = parse_all(shard), chosen_tolerances(None, rtol, atol, exact, standard)
    job = str(golden), shards, run, rank, network, rtol, atol, exact, match, by_statistics, standard
    with session(scale, check=str(tree), options=job) as shared, opened(golden) as store:
        capture = (shared.tree if shared else partial(read_tree, ahead=True))(str(tree), rank, network=network)
        expected = choose_run(store, run, capture.backend, capture.mode)
        own = None if shared else laid_beside(capture, labels_of(capture), labels_of(expected), str(tree))
        capture, notes = own or (capture, ())
        found = party_of(capture, None if shared else Watched(capture, capture.network, capture.listed))
        sides = joined(Party.of_run(expected), found, shards)
        judged = judge(
            *sides, asked, lay=lay_beside, settle=settle, match=match, measured=False, by_statistics=by_statistics,
            judging=shared.judging(expected, capture, golden, "counts") if shared and not shards else SlotJudge,
        )  # fmt: skip
        of_recorder = *_texts(texts, expected, tree, golden, rank, sides), ()
        hold, lines_of, failing = holding(of_recorder, stated_texts(expected, capture, sides, f"{tree} and {golden}"))
        judged = _noted(judged, hold, failing, (*notes, *left_aside(expected, store, run)))
        _print(judged, expected, capture, tree, golden, exact, sides if shards else None, keep, lines_of, shared)
    warn(capture)
    tell_lost(capture, tree)
    return judged.code


def _noted(judged: Judgement, hold: bool | None, texts: Sequence[TextVerdict], notes: Sequence[str]) -> Judgement:
    """The judgement with what was found of texts, and further notes."""
    return replace(judged, texts_hold=hold, texts=texts, notes=(*judged.notes, *notes))


def _texts(texts: dict[str, bytes], *about: Any) -> tuple[bool | None, str]:
    """Whether the recorder's texts hold, see ``_check_recorder``, and what is to be printed about them."""
    with StringIO() as told_of_texts, redirect_stdout(told_of_texts):
        hold = _check_recorder(texts, *about) if texts else None
        return hold, told_of_texts.getvalue()


def tell_idle(judged: Judgement) -> None:
    """Says on standard error which stated tolerances apply to nothing."""
    for each in judged.idle:
        print(f"msdump: {line(str(each))}", file=sys.stderr)


def tell_lost(capture: Capture, tree: Path | str, where: TextIO | None = None) -> int:
    """Prints how many files cannot be used (by default on standard output), and returns their number."""
    lost = len(capture.lost)
    if lost:
        print(f"Not compared: {counted(lost, 'file')} of {tree} that cannot be used", file=where)
    return lost


def _print(
    judged: Judgement,
    expected: StoredRun,
    capture: Capture,
    tree: Path | str,
    golden: Path,
    exact: bool,
    laid: tuple[Party, Party] | None = None,
    keep: dict[str, Any] | None = None,
    of_texts: str = "",
    shared: Any = None,
) -> None:
    """Prints the judgement for people, then ``of_texts``, and keeps it for programs; ``shared``: the session of
    workers, if there is one."""
    run = str(expected.id)
    subject = Subject(
        f"{expected.network or 'a run'} [{expected.id.backend}-{expected.id.mode}] of {tree}", str(golden)
    )
    sides = (
        side_of(expected, laid[0].records if laid else None),
        side_of(capture, laid[1].records if laid else None),
    )
    paired = lines(judged.pairing)[:1] if judged.pairing is not None else []
    explanation = explained(judged, subject, *sides, others=paired)
    commands = Commands(
        see_slot(explanation, str(golden), run),
        command("msdump", "diff", operand(f"{golden}::{run}"), operand(str(tree)), "--report=report.html"),
    )
    failure = told(judged, subject, explanation, commands, coloured(sys.stdout), paired)
    whole = shared.whole if shared else None
    show(failure if laid else put_in(failure, of_ranks(expected, capture, judged, whole=whole)))
    tell_idle(judged)
    if exact:
        _tell_unread(judged, expected, golden)
    sys.stdout.write(of_texts)
    if keep is not None:
        from harness.report.results import comparison, suggested

        about: Any = {"network": expected.network, "backend": capture.backend, "mode": capture.mode}
        sides_of: Any = {"golden": f"{golden}::{run}", "found": str(tree)}
        more: Any = {"suggestions": suggested(commands), "gaps": capture.lost}
        keep["comparisons"] = [comparison(judged, explanation, **about, **sides_of, **more)]


def _tell_unread(judged: Judgement, expected: StoredRun, golden: Path) -> None:
    """Says that golden values with equal digests were not read: equal digests prove equal values, but not that the
    golden still holds them."""
    unread = judged.comparison.counts[Verdict.IDENTICAL]
    if unread and expected.level == "tensors":
        verify = command("msdump", "verify", golden.parent)
        print(f"Not read: the golden's values of {counted(unread, 'slot')} with equal digests ({verify} reads them)")


def opened(golden: Path) -> GoldenStore:
    """A golden store, after what an interrupted writer left is mended; ``StoreError`` if there is none."""
    recover_around(golden)
    try:
        return GoldenStore.open(golden)
    except FileNotFoundError:
        raise StoreError(f"{golden}: there is no such golden store") from None


def _check_recorder(
    texts: dict[str, bytes],
    expected: StoredRun,
    tree: Path | str,
    golden: Path,
    rank: int | None,
    sides: tuple[Party, Party] | None = None,
) -> bool | None:
    """Whether the recorder's texts hold; None if they were not compared."""
    if sides is not None and not texts_count(*sides):
        print(f"{tree}: not compared: {counted(len(texts), 'text')} of the recorder, made by another backend")
        return None
    where = tree if rank is None else Path(tree) / f"rank_{rank}"
    return check_recorder(texts, expected, f"{tree} and run {expected.id} of {golden}", str(where), str(golden))


def warn(capture: Capture) -> None:
    """Warns about files of the tree that could not be used; of several for one reason the first is named."""
    alike: dict[tuple[str, str], list[str]] = {}
    for problem in capture.problems:
        alike.setdefault((problem.kind, problem.why), []).append(problem.path)
    told = [
        (path, kind, why, len(paths) - 1 if len(paths) > _ALIKE else 0)
        for (kind, why), paths in alike.items()
        for path in (paths[:1] if len(paths) > _ALIKE else paths)
    ]
    for path, kind, why, others in told[: limit(_MAX_PROBLEMS)]:
        print(
            clipped(line(f"msdump: {path}: {kind}: {why}")) + (f" (and {others} more)" if others else ""),
            file=sys.stderr,
        )
    if len(told) > _MAX_PROBLEMS:
        print(f"msdump: and {sum(1 + each[3] for each in told[_MAX_PROBLEMS:])} more such files", file=sys.stderr)
