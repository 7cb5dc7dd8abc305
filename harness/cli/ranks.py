"""``msdump ranks``: which rank left first, and why; or what should be equal on all ranks of a tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from harness.capture import read_tree
from harness.cli.check import warn
from harness.compare.policy import exit_code
from harness.compare.ranks import rank_list
from harness.errors import ScaleError
from harness.escape import line
from harness.records import Record
from harness.scale import Scale, session
from harness.scale.across import Leaving, leaving, lines
from harness.words import counted


def check_ranks(
    tree: Path | str,
    patterns: Sequence[str],
    network: str | None,
    scale: Scale | None = None,
    keep: dict[str, Any] | None = None,
) -> int:
    """Prints which slots are not equal on all ranks, the first such slot, and the first rank that differs from the
    others.

    Args:
        tree: dump tree with several ranks.
        patterns: patterns ``OPERATOR:SLOT`` of the slots that should be equal.
        network: network to read from a tree with several.
        scale: workers that share the work; by default this process does it alone.
        keep: receives what ``--json`` writes.

    Returns:
        0 if all are equal; 1 if some are not; 2 if what was compared is equal and files of the tree could not be used.

    Raises:
        HarnessError: the tree cannot be read, or no slot of several ranks matches.
    """
    with session(scale, ranks=str(tree), patterns=tuple(patterns), network=network) as shared:
        if shared is None:
            capture = read_tree(str(tree), None, network=network, ahead=True)
        else:
            capture = shared.tree(str(tree), None, network, patterns)
        ranks: set[int] = set()
        result, looked_at = leaving(_seen(capture.records(), ranks), patterns)
    print("\n".join(map(line, lines(result, looked_at, str(tree)))))
    if gone := sorted(set(range(max(ranks))) - ranks):
        print(f"Not there: rank {rank_list(gone)}")
    warn(capture)
    if keep is not None:
        from harness.report.results import gaps_of

        keep |= {
            "slots": looked_at,
            "ranks": sorted(ranks),
            "ranks_missing": gone,
            "leaving": [_plain(each) for each in result],
            "gaps": gaps_of(len(capture.lost), capture.lost),
        }
    return exit_code(differs=bool(result), unsure=bool(capture.lost))


def explain_ranks(
    given: str,
    golden: str | None,
    patterns: Sequence[str],
    keep: dict[str, Any] | None = None,
    shard: Sequence[str] = (),
) -> int:
    """Prints which rank left first, at which operator, and why: beside a golden, or of the run alone.

    Args:
        given: a run of several ranks: a dump tree, a golden store, a file.
        golden: a run that is right, of the same ranks or of one rank; None for what the ranks alone can tell.
        patterns: without a golden, patterns of slots that must be equal on all ranks.
        keep: receives what ``--json`` writes.
        shard: where parts lie, and other names of modules, beside a run of one rank, see ``layouts.table_of``.

    Returns:
        0 if no rank left; 1 if one did; 2 if none did and files could not be used, or slots of the one rank could not
        be compared.

    Raises:
        HarnessError: a side cannot be read, or has one rank; there is a table, and no run of one rank.
    """
    from harness.cli.operands import open_side
    from harness.explain.layouts import beside_one, table_of
    from harness.explain.ranks import alone, as_json, beside, run_of
    from harness.explain.ranks import lines as told

    with ExitStack() as stack:
        side = stack.enter_context(open_side(given))
        run = run_of(side.read())
        if len(run.ranks) < 2:
            raise ScaleError(f"{given}: it has {counted(len(run.ranks), 'rank')}; several are needed")
        table, other = table_of(shard), None
        if golden is not None:
            other = run_of(stack.enter_context(open_side(golden)).read())
        if shard and (other is None or len(other.ranks) != 1):
            raise ScaleError("--shard says how parts make the tensors of one rank; give a run of one rank, too")
        if other is None:
            report = alone(run, patterns)
        elif len(other.ranks) == 1:
            report = beside_one(run, other, table)
        else:
            if gone := sorted(set(run.ranks) ^ set(other.ranks)):
                raise ScaleError(f"rank {rank_list(gone)} is in one of {given} and {golden} only")
            report = beside(other, run)
        print("\n".join(map(line, [f"{given}:", *told(report)])))
        lost = side.capture.lost if side.capture is not None else []
        if side.capture is not None:
            warn(side.capture)
    if keep is not None:
        from harness.report.results import gaps_of

        keep |= as_json(report) | {"gaps": gaps_of(len(lost), lost)}
    return exit_code(differs=report.first is not None, unsure=bool(lost or report.unread))


def _plain(leaving: Leaving) -> dict[str, Any]:
    key = leaving.key
    return {
        "graph": key.graph, "iteration": key.iteration, "operator": key.operator, "slot": key.slot_name,
        "equal_on": list(leaving.others), "differs_on": list(leaving.leaving), "missing_on": list(leaving.missing),
    }  # fmt: skip


def _seen(records: Iterable[Record], ranks: set[int]) -> Iterator[Record]:
    for record in records:
        ranks.add(record.key.rank)
        yield record
