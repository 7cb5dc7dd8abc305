"""The parts of a comparison are made when they are wanted, the same each time."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare import check
from harness.progress import Progress
from harness.scale import cluster as clusters
from harness.scale import plan, remote
from harness.scale.cluster import Task
from harness.scale.driver import Session
from harness.scale.journal import Journal
from harness.scale.plan import planned
from harness.scale.remote import BATCH, RemoteTree
from harness.scale.wire import Extent, Head, Tree, Work
from tests.scale import serial
from tests.scale.clusters import Here, far
from tests.scale.trees import write_tree

SIZES = st.dictionaries(st.integers(0, 3), st.integers(0, 3 * BATCH), max_size=4)
SIDES = st.dictionaries(st.integers(0, 4), SIZES, min_size=1, max_size=4)


def tree(name: str, ranks: dict[int, dict[int, int]]) -> RemoteTree:
    """A tree of which nothing is read: of each rank the sizes of its iterations."""
    heads = []
    for rank, of in ranks.items():
        extents = tuple(Extent(0, at, size, "") for at, size in of.items())
        heads.append(Head(rank, "Net", "mindspore", False, "tensor", {}, {}, {}, extents))
    return RemoteTree(Tree(name, None, "/"), name, heads, lambda tree: None, lambda *_: [])


@given(SIDES, SIDES, st.sets(st.integers(0, 4)))
def test_each_part_of_both_trees_comes_once(
    one: dict[int, dict[int, int]], other: dict[int, dict[int, int]], beside: set[int]
) -> None:
    sides = tree("one", one), tree("other", other)
    found = planned(*sides, beside.__contains__)
    wanted = list(found.made("all"))
    assert wanted == list(found.made("all")), "the same once more"
    assert (found.count, found.size) == (len(wanted), sum(size for _, size, _ in wanted))
    assert found.ranks == {work.part.rank for work, _, _ in wanted}
    assert found.both == all(work.expected and work.found for work, _, _ in wanted)
    for name, side, ranks in (("expected", sides[0], one), ("found", sides[1], other)):
        parts = [work.part for work, _, _ in wanted if getattr(work, name) is not None]
        assert sorted(parts) == sorted(part for head in side.heads for part, _, _ in side.parts_of(head))
        assert {part[:3] for part in parts} == {(rank, 0, at) for rank, of in ranks.items() for at in of}
    pairs = {work.part[:3] for work, _, _ in wanted if work.expected is not None and work.found is not None}
    assert pairs == {(r, 0, at) for r in beside & one.keys() & other.keys() for at in one[r].keys() & other[r].keys()}


class Lazy(Here):
    """Takes tasks one at a time; notes how many parts of work there are at the most."""

    most = 0

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Any]]:
        for task in tasks:
            yield task, task.function(*task.args)
            self.most = max(self.most, works())


def works() -> int:
    """How many parts of work there are since ``gc.freeze``, but for those that only wait to be collected."""
    gc.collect()
    return sum(type(each) is Work for each in gc.get_objects())


@pytest.fixture
def aside() -> Iterator[None]:
    """Sets aside all that other tests and modules made: to look through it for each part took half a minute."""
    gc.freeze()
    yield
    gc.unfreeze()


def test_the_driver_keeps_no_list_of_parts(tmp_path: Path, aside: None) -> None:
    sides = [str(write_tree(tmp_path / name, range(3), 20)) for name in ("one", "other")]
    cluster, journal = Lazy(), Journal(tmp_path / "journal", "job", False)
    session = Session(cluster, journal, Progress())  # type: ignore[arg-type]
    one, other = (session.tree(side) for side in sides)
    found = check(one, other, "default", order=False, judging=session.judging(one, other, None, "counts"))
    journal.close(done=True)
    assert sum(found.counts.values()) == 3 * 20 * 4
    assert 0 < cluster.most < 3 * 20 / 2
    assert not session.remote(one).reads  # type: ignore[union-attr]


def test_a_tree_at_a_url_is_divided_as_the_directory_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed (extra 'scale')")
    monkeypatch.setattr(clusters, "cluster", far)
    for name, changed in (("good", None), ("bad", (1, 1))):
        write_tree(tmp_path / name, range(2), 2, changed)
    files, root = fsspec.core.url_to_fs(f"memory://{tmp_path.name}")
    for path in sorted((tmp_path / "good").rglob("*.npy")):
        files.pipe_file(f"{root}/{path.relative_to(tmp_path).as_posix()}", path.read_bytes())
    alone = serial.said(tmp_path, "diff", "good", "bad")
    monkeypatch.setattr(remote, "BATCH", 300)
    monkeypatch.setattr(plan, "TASK", 300)
    for words in ((f"memory://{tmp_path.name}/good", "bad"), ("bad", f"memory://{tmp_path.name}/good")):
        there = serial.said(tmp_path, "diff", *words, "--workers", "1")
        assert there[0] == alone[0] == 1, there
    there = serial.said(tmp_path, "diff", f"memory://{tmp_path.name}/good", "bad", "--workers", "1")
    code, out, *more = alone
    assert str(there).replace(f"memory://{tmp_path.name}/", "") == str((code, out, *more))
