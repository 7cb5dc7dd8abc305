"""Runs commands with a cluster: workers read trees and give verdicts; the rest is the serial code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from harness.capture import Capture
from harness.compare.audit import Looseness
from harness.compare.check import Judging
from harness.compare.tolerances import Tolerances
from harness.errors import ScaleError, TreeError
from harness.progress import Progress
from harness.records import Record, SlotKey
from harness.scale import interrupts, places
from harness.scale.cluster import Cluster, Pool, Task
from harness.scale.journal import Journal
from harness.scale.keep import Keep
from harness.scale.parts import part
from harness.scale.pieces import Folder, by_part, folder_beside, piece
from harness.scale.plan import Asked, Plan, Wanted, grouped, planned, together
from harness.scale.reduction import Reduction, Verdicts
from harness.scale.remote import RemoteTree
from harness.scale.rows import audit_rows, verify_rows
from harness.scale.wire import Done, Folded, Golden, Head, Look, OutOfReach, Part, Side, Tree, Work
from harness.scale.work import fetch, read_heads
from harness.store import Compression, GoldenStore, StoredRun
from harness.words import counted

Array = np.ndarray[Any, np.dtype[Any]]

#: Number of rows of a stored run per task.
ROWS = 500
#: Is called with a part and its result.
Taking = Callable[[Work, Done], None]


class Session:
    """One command's use of a cluster."""

    def __init__(self, found: Cluster | Pool, journal: Journal, progress: Progress) -> None:
        self._cluster, self._journal, self._progress = found, journal, progress
        self._trees: dict[int, RemoteTree] = {}
        #: of each rank of a place a number: ranks of one number are seen by the same workers
        self._seers: dict[tuple[str, int], int] = {}

    # -- trees -----------------------------------------------------------------------------------------------------
    def tree(
        self, place: str, rank: int | None = None, network: str | None = None, only: Sequence[str] = ()
    ) -> Capture:
        """A tree that workers see, as a capture; its records are read on request.

        Args:
            place: a directory, a template with ``{host}``, or a URL.
            rank, network: see ``read_tree``.
            only: patterns of slots, see ``Work``; its records are these alone.

        Raises:
            ScaleError: no worker sees it, or hosts disagree.
            TreeError: a rank cannot be read, or is not there.
        """
        tree = Tree(places.absolute(place), network, os.getcwd())
        ranks = self._cluster.discover(tree.place)
        if rank is not None and rank not in ranks:
            raise TreeError(f"{place}: no rank {rank} in it; it holds {', '.join(map(str, ranks))}")
        wanted = list(ranks) if rank is None else [rank]
        if rank is None and (gone := sorted(set(range(max(ranks) + 1)) - ranks.keys())):
            self._progress.line(f"{place}: no worker sees rank {', '.join(map(str, gone))}")
        tasks = [
            self._task(
                ("heads", some[0]), read_heads, (tree, some), [(tree.place, n) for n in some],
                f"{place}: rank {some[0]}{_and_more(some)}",
            )
            for some in together(wanted, self._alike(tree.place, ranks), len(self._cluster.seen))
        ]  # fmt: skip
        heads: dict[int, Head] = {each.rank: each for _, found in self._results(tasks) for each in found}
        remote = RemoteTree(tree, place, [heads[n] for n in wanted], self._read_alone, self._fetch)
        remote.only = tuple(only)
        self._trees[id(remote.capture)] = remote
        return remote.capture

    def _alike(self, place: str, ranks: Mapping[int, Sequence[str]]) -> Callable[[int], int]:
        """Tells ranks by the workers that see them."""
        for number, (_, alike) in enumerate(groupby(ranks, key=lambda rank: ranks[rank])):
            self._seers |= {(place, rank): number for rank in alike}
        return lambda rank: self._seers[place, rank]

    def whole(self, content: Capture | StoredRun) -> Capture | StoredRun | None:
        """A tree with all of its slots, which workers read again, also those that hold; a golden as it is; None for a
        tree of one rank."""
        known = self.remote(content)
        if known is None:
            return content
        if len(known.heads) < 2:
            return None
        again = RemoteTree(known.tree, known.given, known.heads, self._read_alone, self._fetch)
        self._trees[id(again.capture)] = again
        return again.capture

    def remote(self, capture: object) -> RemoteTree | None:
        """The remote tree of a capture made by ``tree``; None for any other."""
        return self._trees.get(id(capture))

    def _task(
        self, key: Any, function: Callable[..., Any], args: tuple[Any, ...], needs: Sequence[tuple[str, int]],
        said: str, size: int = 0,
    ) -> Task:  # fmt: skip
        return Task(key, function, args, tuple(needs), said, size)

    def _run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Any]]:
        for each in self._cluster.run(tasks):
            interrupts.check()
            yield each
        interrupts.check()

    def _results(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Any]]:
        for task, result in self._run(tasks):
            if isinstance(result, OutOfReach):
                raise ScaleError(f"{task.said}: the worker that had it does not see it any more")
            yield task, result

    # -- reading and judging ---------------------------------------------------------------------------------------
    def _read_alone(self, remote: RemoteTree) -> None:
        self._perform(planned(None, remote), "all", None, remote)

    def judging(self, expected: object, found: object, store: Path | None = None, keep: Keep = "all") -> Judging:
        """The judge of ``found`` against ``expected`` that uses the workers' measurements.

        Args:
            store: path of the store of which ``expected`` is a run.
            keep: what of slots that hold is needed, see ``Work``.
        """
        return lambda tolerances, measured: self._judge(expected, found, store, tolerances, measured, keep)

    def _judge(
        self, expected: Any, found: Any, store: Path | None, tolerances: Tolerances, measured: bool, keep: Keep
    ) -> Verdicts:
        one, other = self.remote(expected), self.remote(found)
        if other is None or other.complete or (one is not None and one.complete):
            return Verdicts(tolerances, measured, ())  # read already, for another reason: values are fetched
        golden: Side | None = None
        if isinstance(expected, StoredRun) and store is not None:
            golden = Golden(os.path.abspath(store), tuple(expected.id), expected.checksum)
        beside = cache(partial(self._beside, one, other))
        plan = planned(one, other, beside, Asked(golden, tolerances, measured))

        def perform(plan: Plan, how: Keep, take: Taking) -> None:
            self._perform(plan, how, one, other, take)

        def ask(work: Work) -> tuple[Look, ...]:
            task = self._task_of([(work, 0, "")])
            return next(done.looks for _, result in self._results([task]) for done, _ in result.each())

        run = expected if golden is not None else None
        reduction = Reduction(plan, run, keep if plan.both else "all", perform, ask, bool(tolerances.noise))
        return Verdicts(tolerances, measured, (), reduction)

    def _beside(self, one: RemoteTree | None, other: RemoteTree, rank: int) -> bool:
        """Whether some worker sees a rank of both trees."""
        if one is None:
            return False
        needs = ((one.tree.place, rank), (other.tree.place, rank))
        return any(self._cluster.sees(worker, needs) for worker in self._cluster.seen)

    def _perform(
        self, plan: Plan, keep: Keep, one: RemoteTree | None, other: RemoteTree, tell: Taking = lambda *_: None
    ) -> None:
        """Has parts read and judged; ``tell`` is called with each and its result, in any order."""
        ranks, differ = len(plan.ranks), 0
        if ranks:
            self._progress.begin(counted(ranks, "rank"), plan.size, "bytes")

        def take(works: Sequence[Work], done: Folded, size: int) -> None:
            nonlocal differ
            for work, (each, own) in zip(works, done.each(), strict=True):
                if one is not None and each.expected is not None:
                    one.take(work.part, each.expected, own.closed[0])
                if each.found is not None:
                    other.take(work.part, each.found, own.closed[1])
                differ += sum(not judged.verdict.verdict.holds for judged in each.judged)
                tell(work, each)
            self._progress.step(size, f"{counted(ranks, 'rank')}, {counted(differ, 'slot', 'differ')}")

        def tasks() -> Iterator[Task]:
            for group in grouped(plan.made(keep), plan.count, len(self._cluster.seen), self._seen_by):
                task = self._task_of(group)
                known = self._journal.get(_name(task))
                if isinstance(known, Folded) and known.parts == len(group):
                    take(task.args, known, task.size)
                else:
                    yield task

        alone = []
        for task, result in self._run(tasks()):
            if isinstance(result, OutOfReach):
                # The golden is out of the worker's reach: it reads, and this process judges.
                works = tuple(replace(work, expected=None, tolerances=None) for work in task.args)
                alone.append(replace(task, args=works))
                continue
            self._journal.put(_name(task), result)
            take(task.args, result, task.size)
        for task, result in self._results(alone):
            take(task.args, result, task.size)
        for tree in filter(None, (one, other)):
            tree.complete = True

    def _task_of(self, group: Sequence[Wanted]) -> Task:
        """The task of some parts of one rank."""
        works = tuple(work for work, _, _ in group)
        first, size, stamps = works[0], sum(size for _, size, _ in group), " ".join(stamp for _, _, stamp in group)
        ranks = list(dict.fromkeys(work.part.rank for work in works))
        places = [side.place for side in (first.expected, first.found) if isinstance(side, Tree)]
        needs = [(place, rank) for place in places for rank in ranks]
        said = f"rank {first.part.rank}{_and_more(ranks)} (iteration {first.part.iteration} of {places[-1]})"
        return Task((*first.part, stamps), part, works, tuple(needs), said, size)

    def _seen_by(self, work: Work) -> Any:
        """Tells the ranks of parts by the workers that see them."""
        rank, sides = work.part.rank, (work.expected, work.found)
        return [self._seers.get((each.place, rank), (rank,)) for each in sides if isinstance(each, Tree)]

    def describe(self, capture: Capture) -> None:
        """Makes workers send statistics with the digests of a tree, and fetches values in the order a store needs
        them."""
        remote = self.remote(capture)
        if remote is None:
            return
        remote.described = True
        first: dict[tuple[bytes | None, str], Record] = {}
        for record in capture.records():
            first.setdefault((record.digest, record.dtype), record)
        remote.expect(first.values())

    @contextmanager
    def pieces(self, capture: Capture, golden: Path, compression: Compression) -> Iterator[None]:
        """Has workers that see a golden's directory write the values that it needs to pieces in there.

        Args:
            capture: of ``tree``, after ``describe``.
            golden: the golden that will be written.
            compression: the golden's.
        """
        remote = self.remote(capture)
        with folder_beside(golden, compression) as folder:
            if remote is not None and folder is not None:
                self._place(remote, folder)
            yield

    def _place(self, remote: RemoteTree, folder: Folder) -> None:
        place, wanted = remote.tree.place, by_part(remote.coming)
        remote.compression = folder.compression
        self._progress.begin("values", sum(map(len, wanted.values())), "tensors")
        tasks = [
            self._task(
                where, piece, (remote.tree, where, slots, folder), ((place, where.rank),),
                f"rank {where.rank} of {place}",
            )
            for where, slots in wanted.items()
        ]  # fmt: skip
        for task, found in self._results(tasks):
            for (key, _), placed in zip(task.args[2], found, strict=False):
                remote.placed[key] = placed
            self._progress.step(len(task.args[2]))

    def _fetch(self, remote: RemoteTree, where: Part, keys: tuple[SlotKey, ...]) -> list[Array]:
        said = f"rank {where.rank} of {remote.tree.place}"
        task = self._task((0,), fetch, (remote.tree, where, keys), ((remote.tree.place, where.rank),), said)
        return next(list(result) for _, result in self._results([task]))

    # -- stores ----------------------------------------------------------------------------------------------------
    def audit(self, store: GoldenStore, run: StoredRun, tolerances: Tolerances) -> list[Looseness]:
        """The result of ``harness.compare.audit.audit`` for a run's records."""
        return self._by_rows(store, run, audit_rows, (tolerances,))

    def verify(self, store: GoldenStore, run: StoredRun) -> list[str]:
        """Says what is wrong with a run's tensors."""
        return self._by_rows(store, run, verify_rows, ())

    def _by_rows(
        self, store: GoldenStore, run: StoredRun, function: Callable[..., Any], more: tuple[Any, ...]
    ) -> list[Any]:
        golden = Golden(os.path.abspath(store.path), (run.id.backend, run.id.mode), run.checksum)
        found: dict[int, list[Any]] = {}
        tasks = []
        for start in range(0, len(run), ROWS):
            rows = range(start, min(start + ROWS, len(run)))
            known = self._journal.get((golden, rows, more))
            if isinstance(known, list):
                found[start] = known
            else:
                tasks.append(Task((start,), function, (golden, rows, *more), (), f"{store.path}: run {run.id}"))
        self._progress.begin(f"{store.network} {run.id}", len(run), "slots")
        self._progress.step(ROWS * len(found))
        for task, result in self._run(tasks):
            if isinstance(result, OutOfReach):
                raise ScaleError(f"{store.path}: a worker does not see this store; it must lie where all see it")
            self._journal.put((golden, task.args[1], more), result)
            found[task.key[0]] = result
            self._progress.step(len(task.args[1]))
        self._progress.close()
        return [each for _, rows in sorted(found.items()) for each in rows]


def _and_more(ranks: Sequence[int]) -> str:
    return f" and {counted(len(ranks) - 1, 'more rank')}" if len(ranks) > 1 else ""


def _name(task: Task) -> Any:
    """What tells a task of parts from others: they differ in their place alone."""
    return task.args[0], [work.part for work in task.args], task.key[-1]
