"""Parts whose slots hold travel as counts; what is said, and every row that is asked for, is the serial answer."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.capture import read_tree
from harness.compare import Verdict, check
from harness.compare.content import content
from harness.compare.ranks import ranks_of
from harness.progress import Progress
from harness.records import Record
from harness.scale import cluster as clusters
from harness.scale import plan, remote, work
from harness.scale.driver import Session
from harness.scale.journal import Journal
from harness.scale.plan import grouped, together
from harness.scale.wire import Part, Work
from tests.examples import examples
from tests.scale import serial
from tests.scale.clusters import Here, far
from tests.scale.trees import OPERATORS, read_in_blocks, write_tree


class Weighed(Here):
    """Notes how many bytes each part's result has."""

    def __init__(self) -> None:
        super().__init__()
        self.weights: list[int] = []

    def run(self, tasks: Any) -> Any:
        for task, result in super().run(tasks):
            if task.function.__name__ == "part":
                self.weights.append(len(pickle.dumps(result)) // len(task.args))
            yield task, result


def compared(folder: Path, one: Path, other: Path, keep: Any, order: bool = True) -> tuple[Any, Weighed]:
    cluster, journal = Weighed(), Journal(folder / "journal", "job", False)
    session = Session(cluster, journal, Progress())  # type: ignore[arg-type]
    sides = session.tree(str(one)), session.tree(str(other))
    found = check(*sides, "default", order=order, judging=session.judging(*sides, None, keep))
    journal.close(done=True)
    return found, cluster


@pytest.mark.parametrize("keep", ["counts", "reasoned"])
def test_slots_that_hold_are_counted_and_do_not_travel(tmp_path: Path, keep: str) -> None:
    one, other = write_tree(tmp_path / "one", range(4), 3), write_tree(tmp_path / "other", range(4), 3)
    place = other / "rank_1" / "Net" / "0" / "1"
    for number in range(100):
        for side in (one, other):
            file = side / "rank_1" / "Net" / "0" / "1" / f"Add.op{number}.0.0.{17 * 10**14 + 1500 + number}.output.0"
            np.save(f"{file}.DefaultFormat.Float32.npy", np.ones(3, np.float32))
    assert place.is_dir()
    alone = check(read_tree(one), read_tree(other), "default")
    found, cluster = compared(tmp_path, one, other, keep)
    assert found.slots == []
    assert (found.counts, found.total, found.holds) == (alone.counts, len(alone.slots), True)
    assert max(cluster.weights) < 500, "one part has a hundred slots"
    assert list(found.every()) == alone.slots
    assert list(found.reasoned()) == []


def test_large_files_that_hold_have_no_digest_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (write_tree(tmp_path / name, range(2), 2) for name in ("one", "other"))
    for file in other.rglob("*.npy"):
        np.save(file, np.load(file) * np.float32(1 + 2e-7))
    read_in_blocks(monkeypatch)
    made: list[Record] = []
    monkeypatch.setattr(work, "content", lambda record, *more: made.append(record) or content(record, *more))
    assert compared(tmp_path, one, other, "counts")[0].counts[Verdict.WITHIN] > 0
    assert not made
    compared(tmp_path, one, write_tree(tmp_path / "changed", range(2), 2, changed=(1, 1)), "counts")
    assert {record.key.rank for record in made} == {1}


def test_progress_counts_what_differs_and_not_what_is_within_its_tolerance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = write_tree(tmp_path / "one", range(1), 1), write_tree(tmp_path / "other", range(1), 1, changed=(0, 0))
    (file,) = other.rglob("MatMul*.input.*")
    np.save(file, np.load(file) * np.float32(1 + 2e-7))
    told: list[str] = []
    monkeypatch.setattr(Progress, "step", lambda self, size, text="": told.append(text))
    counts = compared(tmp_path, one, other, "all")[0].counts
    assert (counts[Verdict.WITHIN], counts[Verdict.DIFFERS]) == (1, 1)
    assert told[-1] == "1 rank, 1 slot differs"


def test_a_rank_that_differs_is_listed_and_the_others_are_not(tmp_path: Path) -> None:
    one = write_tree(tmp_path / "one", range(4), 3)
    other = write_tree(tmp_path / "other", range(4), 3, changed=(2, 1))
    alone = check(read_tree(one), read_tree(other), "default")
    found, _ = compared(tmp_path, one, other, "reasoned")
    assert {slot.key.rank for slot in found.slots} == {2}
    assert list(found.every()) == alone.slots
    assert list(found.reasoned()) == [slot for slot in alone.slots if slot.reason] != []
    key = next(slot.key for slot in alone.slots if slot.reason)
    assert ranks_of(found, key) == ranks_of(alone, key) == ((0, 1, 2, 3), (2,))
    assert found.counts == alone.counts


def test_executions_that_mix_are_listed_where_their_order_is_asked_for(tmp_path: Path) -> None:
    one, other = write_tree(tmp_path / "one", range(2), 2), write_tree(tmp_path / "other", range(2), 2)
    for tree in (one, other):
        for file in (tree / "rank_1" / "Net" / "0" / "1").glob("ReLU*"):
            kind, name, task, stream, stamp, *rest = file.name.split(".")
            file.rename(file.with_name(".".join((kind, name, task, stream, str(int(stamp) - 1002), *rest))))
    alone = check(read_tree(one), read_tree(other), "default")
    for keep, order, ranks in (("counts", False, set()), ("counts", True, {1}), ("reasoned", False, {1})):
        found, _ = compared(tmp_path, one, other, keep, order)
        assert {slot.key.rank for slot in found.slots} == ranks
        assert found.counts == alone.counts
    assert list(found.every()) == alone.slots


@given(
    sizes=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 300 << 20)), max_size=60),
    workers=st.integers(0, 5),
    keep=st.sampled_from(["counts", "all"]),
)
def test_parts_that_the_same_workers_see_are_one_task(sizes: list[tuple[int, int]], workers: int, keep: Any) -> None:
    wanted = [
        (Work(Part(rank, 0, at), None, None, keep=keep), size, "") for at, (rank, size) in enumerate(sorted(sizes))
    ]
    groups = list(grouped(wanted, len(wanted), workers, lambda work: work.part.rank // 2))
    assert [each for group in groups for each in group] == wanted
    left = len(wanted)
    for group in groups:
        assert len({work.part.rank // 2 for work, _, _ in group}) == 1, "one worker sees them all"
        assert len(group) == 1 or sum(size for _, size, _ in group) <= remote.TASK
        share = left // (plan.LEFT_EACH * max(1, workers)), len(wanted) // (plan.EACH * max(1, workers))
        assert len(group) <= max(1, *share), "no worker gets so much that others wait for it at the end"
        assert len(group) == 1 or keep == "counts"
        left -= len(group)


@given(count=st.integers(0, 2000), workers=st.integers(1, 9))
def test_the_first_tasks_are_larger_so_that_there_are_fewer(count: int, workers: int) -> None:
    wanted = [(Work(Part(0, 0, at), None, None, keep="counts"), 1, "") for at in range(count)]
    sizes = [len(group) for group in grouped(wanted, count, workers, lambda work: 0)]
    even = max(1, min(plan.TOGETHER, count // (plan.EACH * workers)))
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) <= -(-count // even), "not more than tasks of one size"
    if count >= 6 * workers and even < plan.TOGETHER // 4:
        assert sizes[0] > even
        assert len(sizes) < -(-count // even)


@given(st.lists(st.integers(0, 99), unique=True).map(sorted), st.integers(0, 5))
def test_heads_of_ranks_that_the_same_workers_see_are_one_task(ranks: list[int], workers: int) -> None:
    groups = list(together(ranks, lambda rank: rank // 10, workers))
    assert [rank for group in groups for rank in group] == ranks
    for group in groups:
        assert len({rank // 10 for rank in group}) == 1
        assert len(group) <= max(1, min(plan.TOGETHER, len(ranks) // (plan.HEADS_EACH * max(1, workers))))


def _tree(tree: Path, rng: random.Random, ranks: list[int], how: dict[str, Any], changes: dict[Any, str]) -> None:
    for rank in ranks:
        for iteration in range(3):
            for graph in range(how["graphs"]):
                place = tree / f"rank_{rank}" / "Net" / str(graph) / str(iteration)
                place.mkdir(parents=True)
                stamp = 17 * 10**14 + (0 if how["mixed"] else iteration * 1000 + graph * 100)
                value = np.random.default_rng(iteration * 7 + rank).standard_normal((4, 6)).astype(np.float32)
                for number, (kind, name) in enumerate(OPERATORS[: 1 + (rank not in how["short"])]):
                    change = changes.get((rank, graph, iteration, number))
                    for io in ("input", "output"):
                        value, stamp = np.tanh(value) if io == "output" else value, stamp + 1
                        if io == "output" and change == "value":
                            value = value + np.float32(0.5)
                        if io == "output" and how.get("noise"):
                            value = value * np.float32(1 + 2e-7)
                        told = value[:3] if io == "output" and change == "shape" else value
                        if io == "input" or change != "gone":
                            np.save(place / f"{kind}.{name}.0.0.{stamp}.{io}.0.DefaultFormat.Float32.npy", told)


@pytest.mark.long
@pytest.mark.scale
@given(seed=st.integers(0, 10**6))
@examples(4, 150)
def test_even_trees_give_the_serial_answer(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng, folder = random.Random(seed), tmp_path_factory.mktemp("even")
    ranks = sorted(rng.sample(range(6), rng.randint(1, 4)))
    how = {"graphs": rng.choice((1, 1, 2)), "mixed": rng.random() < 0.2, "short": rng.sample(ranks, rng.randint(0, 1))}
    changes = {
        (rng.choice(ranks), 0, rng.randrange(3), rng.randrange(2)): rng.choice(("value", "value", "shape", "gone"))
        for _ in range(rng.choice((0, 1, 2)))
    }
    _tree(folder / "good", rng, ranks, how, {})
    large = rng.random() < 0.5
    _tree(folder / "bad", rng, ranks, {**how, "noise": rng.random() < 0.4}, changes)
    serial.said(folder, "import", "good", "g.h5")
    size = rng.choice((400, 256 << 20))
    for words, files in (
        (("diff", "good", "bad"), ()),
        (("diff", "good", "bad", "--json", "x.json"), serial.FILES[:1]),
        (("diff", "good", "bad", "--csv", "x.csv"), serial.FILES[1:2]),
        (("check", "bad", "g.h5"), ()),
        (("ranks", "bad", "--equal", "*:output.0"), ()),
        (("check", "good", "g.h5", "--exact"), ()),
    ):
        alone = serial.said(folder, *words, files=files)
        with pytest.MonkeyPatch.context() as patch:
            if large:
                read_in_blocks(patch)
            patch.setattr(clusters, "cluster", far)
            patch.setattr(remote, "BATCH", size)
            patch.setattr(plan, "TASK", size)
            patch.setattr(plan, "EACH", 1)
            assert serial.said(folder, *words, "--workers", "1", files=files) == alone, words
