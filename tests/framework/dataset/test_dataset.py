"""Datasets: rows, columns, orders, epochs, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.framework.dataset import GeneratorDataset, NumpySlicesDataset, config


class Squares:
    def __len__(self) -> int:
        return 5

    def __getitem__(self, at: int) -> Any:
        return np.float32([at]), at * at


def numbers(count: int, **more: Any) -> GeneratorDataset:
    return GeneratorDataset(list(range(count)), ["x"], **{"shuffle": False, **more})


def values(dataset: Any) -> list[Any]:
    return [row[0].tolist() for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def test_rows_of_a_source() -> None:
    made = GeneratorDataset(Squares(), ["x", "y"], shuffle=False)
    rows = list(made.create_dict_iterator(output_numpy=True))
    assert [(row["x"].tolist(), row["y"].tolist()) for row in rows] == [([at], at * at) for at in range(5)]
    assert (made.get_col_names(), made.get_dataset_size(), len(made)) == (["x", "y"], 5, 5)
    assert (made.output_shapes(), made.output_types()) == ([[1], []], [np.dtype("float32"), np.dtype("int64")])
    tensor = next(iter(made))[0]
    assert (tensor.shape, tensor.dtype) == ((1,), dtypes.float32)


def test_rows_of_arrays() -> None:
    assert NumpySlicesDataset([1, 2]).get_col_names() == ["column_0"]
    assert NumpySlicesDataset({"a": [1, 2], "b": np.float32([3, 4])}).get_col_names() == ["a", "b"]
    two = NumpySlicesDataset(([1, 2], [[3.0], [4.0]]), ["p", "q"], shuffle=False)
    assert [row["q"].tolist() for row in two.create_dict_iterator(output_numpy=True)] == [[3.0], [4.0]]
    with pytest.raises(ValueError, match="one length"):
        NumpySlicesDataset(([1], [2, 3]))


@given(st.integers(0, 20), st.integers(1, 7), st.booleans(), st.integers(1, 3))
def test_batches_and_repetitions(count: int, size: int, drop: bool, times: int) -> None:
    made = numbers(count).batch(size, drop_remainder=drop).repeat(times)
    parts = [list(range(count))[at : at + size] for at in range(0, count, size)]
    wanted = [part for part in parts if len(part) == size or not drop] * times
    assert values(made) == wanted
    assert made.get_dataset_size() == len(wanted)
    assert (made.get_batch_size(), made.get_repeat_count()) == (size, times)


@given(st.integers(1, 30), st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_orders_are_drawn_by_seed_and_epoch(count: int, buffer: int, seed: int) -> None:
    before = config.get_seed()
    try:
        config.set_seed(seed)
        made = numbers(count).shuffle(buffer)
        iterator = made.create_tuple_iterator(output_numpy=True)
        epochs = [[int(row[0]) for row in iterator] for _ in range(2)]
        again = numbers(count).shuffle(buffer).create_tuple_iterator(output_numpy=True)
        assert [[int(row[0]) for row in again] for _ in range(2)] == epochs
        assert all(sorted(epoch) == list(range(count)) for epoch in epochs)
    finally:
        config.set_seed(before)


def test_a_buffer_holds_back_no_further_than_its_size() -> None:
    found = values(numbers(50).shuffle(5))
    assert found != sorted(found)
    assert all(value <= place + 5 for place, value in enumerate(found))


def test_a_source_that_can_be_indexed_is_shuffled_unless_told() -> None:
    assert values(GeneratorDataset(list(range(30)), ["x"])) != list(range(30))
    assert values(GeneratorDataset(lambda: iter(range(30)), ["x"])) == list(range(30))


def test_maps_and_parts() -> None:
    assert values(numbers(4).map(lambda x: x * 2)) == [0, 2, 4, 6]
    assert values(numbers(3).map([lambda x: x + 1, lambda x: x * 10], "x")) == [10, 20, 30]
    two = GeneratorDataset(Squares(), ["x", "y"], shuffle=False).map(lambda y: (y, -y), "y", ["p", "n"])
    assert two.get_col_names() == ["p", "n", "x"]
    assert values(two.project(["n", "x"])) == [0, -1, -4, -9, -16]
    assert values(numbers(5).take(2)) == [0, 1]
    assert values(numbers(5).skip(3)) == [3, 4]
    assert [numbers(5).take(-1).get_dataset_size(), numbers(5).skip(9).get_dataset_size()] == [5, 0]
    assert values(numbers(4, num_shards=2, shard_id=1)) == [1, 3]
    assert values(numbers(4, num_samples=3)) == [0, 1, 2]


def test_an_iterator_has_its_epochs() -> None:
    iterator = numbers(2).create_tuple_iterator(num_epochs=2)
    assert [len(list(iterator)) for _ in range(2)] == [2, 2]
    with pytest.raises(RuntimeError, match="num_epochs"):
        list(iterator)
    one = numbers(2).create_dict_iterator()
    assert (next(one)["x"].asnumpy(), next(one)["x"].asnumpy()) == (0, 1)
    with pytest.raises(StopIteration):
        next(one)


def test_a_training_can_start_in_the_middle() -> None:
    made = numbers(10).shuffle(10).batch(2)
    whole = made.create_tuple_iterator(output_numpy=True)
    epochs = [[row[0].tolist() for row in whole] for _ in range(3)]
    made.set_init_step(7)
    later = made.create_tuple_iterator(output_numpy=True)
    assert [[row[0].tolist() for row in later] for _ in range(2)] == [epochs[1][2:], epochs[2]]


REFUSED = {
    "source": (lambda: GeneratorDataset(5, ["x"]), TypeError),
    "column_names": (lambda: GeneratorDataset([1], None), ValueError),
    "batch_size": (lambda: numbers(2).batch(0), ValueError),
    "batch: batch_size is 2.0": (lambda: numbers(2).batch(2.0), TypeError),
    "drop_remainder": (lambda: numbers(2).batch(2, 1), TypeError),
    "count": (lambda: numbers(2).repeat(0), ValueError),
    "buffer_size": (lambda: numbers(2).shuffle(1), ValueError),
    "no column 'q'": (lambda: values(numbers(2).map(lambda x: x, "q")), RuntimeError),
    "callable": (lambda: numbers(2).map(3), ValueError),
    "for the columns": (lambda: values(numbers(2).map(lambda x: (x, x))), RuntimeError),
    "gave 2 values": (lambda: values(GeneratorDataset([(1, 2)], ["x"])), RuntimeError),
    "different shapes": (lambda: values(GeneratorDataset([np.zeros(1), np.zeros(2)], ["x"]).batch(2)), RuntimeError),
    "must be Float32": (lambda: values(numbers(2, column_types=[dtypes.float32])), RuntimeError),
    "no array": (lambda: values(GeneratorDataset([(object(),)], ["x"])), RuntimeError),
    "num_epochs": (lambda: numbers(2).create_tuple_iterator(num_epochs=0), RuntimeError),
    "shard_id": (lambda: numbers(2, num_shards=2, shard_id=2), ValueError),
    "passed in together": (lambda: numbers(2, num_shards=2), ValueError),
    "shuffle needs": (lambda: GeneratorDataset(lambda: iter([]), ["x"], shuffle=True), ValueError),
    "sampler": (lambda: numbers(2, sampler=[1]), ValueError),
    "per_batch_map": (lambda: numbers(2).batch(2, per_batch_map=3), TypeError),
    "'device_que'": (lambda: numbers(2).device_que, NotImplementedError),
    "should not be same": (lambda: GeneratorDataset([1], ["x", "x"]), ValueError),
    "seed": (lambda: config.set_seed(-1), ValueError),
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals(words: str) -> None:
    call, error = REFUSED[words]
    with pytest.raises(error, match=words):
        call()


def test_names_that_are_not_there() -> None:
    import harness.framework.dataset as ds

    with pytest.raises(AttributeError, match="CocoDataset is a name of MindSpore's that is not supported"):
        ds.CocoDataset("/there")
    with pytest.raises(AttributeError, match=r"did you mean.* take"):
        numbers(2).takes  # noqa: B018


def test_settings_that_are_kept() -> None:
    config.set_prefetch_size(3)
    assert (config.get_prefetch_size(), config.get_enable_shared_mem()) == (3, True)
    config.set_prefetch_size(16)
    for call, error in (
        (lambda: config.set_prefetch_size(0), ValueError),
        (lambda: config.set_numa_enable(1), TypeError),
        (lambda: config.set_num_parallel_workers(0), ValueError),
        (lambda: config.set_prefetch_sise, AttributeError),
    ):
        with pytest.raises(error, match="config"):
            call()


def test_whether_orders_are_drawn_and_rows_shared() -> None:
    assert [each.is_shuffled() for each in (numbers(3), numbers(3, shuffle=True), numbers(3).shuffle(2).batch(2))] == [
        False, True, True,
    ]  # fmt: skip
    part = numbers(4, num_shards=2, shard_id=0)
    assert (part.is_sharded(), (numbers(2) + part).is_sharded(), numbers(2).is_sharded()) == (True, True, False)


def test_a_source_that_can_only_be_counted_is_counted_once() -> None:
    """A pass to count, then one for each epoch (MindSpore 2.10.0, ``Model.train``, ``eval`` and ``fit``: measured)."""
    begun = []

    def rows() -> Iterator[tuple[Any, ...]]:
        begun.append(len(begun))
        yield from ((np.float32(n), np.float32(n)) for n in range(4))

    data = GeneratorDataset(rows, ["x", "y"], shuffle=False).batch(2)
    assert [data.get_dataset_size() for _ in range(3)] == [2, 2, 2]
    assert len(begun) == 1
    assert [len(list(data.create_tuple_iterator(num_epochs=1))) for _ in range(2)] == [2, 2]
    assert len(begun) == 3
