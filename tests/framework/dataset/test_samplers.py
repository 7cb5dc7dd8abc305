"""Samplers: which rows, in which order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dataset as ds
from harness.framework.dataset import GeneratorDataset


def rows(sampler: Any, count: int = 9, epochs: int = 2) -> list[list[int]]:
    made = GeneratorDataset(list(range(count)), ["x"], sampler=sampler)
    iterator = made.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    found = [[int(row[0]) for row in iterator] for _ in range(epochs)]
    assert {len(epoch) for epoch in found} == {made.get_dataset_size()}
    return found


class Even(ds.Sampler):
    def __iter__(self) -> Iterator[int]:
        yield from range(0, self.dataset_size, 2)


def test_rows_that_are_named() -> None:
    assert rows(ds.SequentialSampler(3, 4)) == [[3, 4, 5, 6]] * 2
    assert rows(ds.SubsetSampler([4, 2, 2])) == [[4, 2, 2]] * 2
    assert rows([4, 2]) == rows(ds.IterSampler([4, 2])) == [[4, 2]] * 2
    assert rows(Even(3)) == [[0, 2, 4]] * 2
    assert rows(ds.DistributedSampler(4, 3, shuffle=False)) == [[3, 7, 2]] * 2
    assert rows(ds.DistributedSampler(4, 1, shuffle=False, offset=2), 10) == [[3, 7]] * 2


@given(st.integers(1, 30), st.integers(1, 5))
def test_shards_cover_all_rows(count: int, shards: int) -> None:
    parts = [rows(ds.DistributedSampler(shards, at, shuffle=True), count)[0] for at in range(shards)]
    assert {row for part in parts for row in part} == set(range(count))
    assert len({len(part) for part in parts}) == 1


@pytest.fixture
def default_seed() -> Iterator[None]:
    """The seed that MindSpore begins with, whatever ran before: two orders of three rows are the same for some."""
    before = ds.config.get_seed()
    ds.config.set_seed(5489)
    yield
    ds.config.set_seed(before)


@pytest.mark.usefixtures("default_seed")
def test_orders_differ_by_epoch_and_keep_their_rows() -> None:
    for sampler, wanted in ((ds.RandomSampler(), range(9)), (ds.SubsetRandomSampler([8, 1, 3]), [1, 3, 8])):
        first, second = rows(sampler)
        assert sorted(first) == sorted(second) == list(wanted)
        assert first != second
    assert all(len(set(epoch)) < 30 for epoch in rows(ds.RandomSampler(replacement=True), 30))
    assert set(rows(ds.WeightedRandomSampler([0, 1, 0, 2] * 9, 40), 36)[0]) <= set(range(1, 36, 2))


def test_a_sampler_of_a_sampler() -> None:
    outer = ds.RandomSampler(num_samples=2)
    outer.add_child(ds.SequentialSampler(5, 3))
    assert all(set(epoch) < {5, 6, 7} for epoch in rows(outer))
    with pytest.raises(RuntimeError, match="child"):
        outer.add_child(ds.SequentialSampler())


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: rows([9]), RuntimeError, "row 9 of 9"),
        (lambda: rows("ab"), TypeError, "sampler"),
        (lambda: ds.SubsetSampler([1.5]), TypeError, "ints"),
        (lambda: ds.RandomSampler(1), TypeError, "replacement"),
        (lambda: ds.RandomSampler(False, -1), ValueError, "num_samples is -1"),
        (lambda: ds.DistributedSampler(2, 2), ValueError, "shard_id"),
        (lambda: ds.WeightedRandomSampler([0]), RuntimeError, "above 0"),
        (lambda: ds.WeightedRandomSampler([1], replacement=False), RuntimeError, "replacement"),
        (lambda: list(ds.Sampler()), RuntimeError, "__iter__"),
        (lambda: GeneratorDataset([1], ["x"], sampler=[0], shuffle=True), ValueError, "shuffle"),
        (lambda: GeneratorDataset([1], ["x"], sampler=Even(), num_samples=1), ValueError, "num_samples"),
    ],
)
def test_refusals(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()
