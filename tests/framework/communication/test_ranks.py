"""Collectives of several ranks: what each gets, gradients, refusals; equal bits whatever the order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import Tensor, communication, context, dtypes, nn, ops
from harness.devices import DEVICES
from harness.errors import (
    CollectiveError,
    DtypeError,
    KernelError,
    SettingError,
    SettingTypeError,
    StateError,
    UnsupportedError,
)
from harness.framework.mint import distributed
from harness.framework.nn.transforms import GradOperation
from harness.framework.ops.group_sums import reduced
from harness.framework.runtime import session
from tests.framework.communication.together import together


def on(size: int, function: Callable[[int], Any], device: str = "ascend-o0") -> list[Any]:
    """What each rank gives, on a device that has every collective."""

    def run(rank: int) -> Any:
        session.current().device = DEVICES.get(device)
        return function(rank)

    results, _ = together(size, run)
    failed = [each for each in results if isinstance(each, Exception)]
    if failed:  # that of a rank which waited for another one says the least
        raise min(failed, key=lambda error: isinstance(error, CollectiveError))
    return results


def mine(rank: int, shape: tuple[int, ...] = (4, 2)) -> Tensor:
    return Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape) * (rank + 1) + rank)


def every(size: int, shape: tuple[int, ...] = (4, 2)) -> list[np.ndarray[Any, Any]]:
    return [mine(rank, shape).asnumpy() for rank in range(size)]


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("is_graph", [False, True])
def test_each_rank_gets_its_part(size: int, is_graph: bool) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.sum, self.max, self.min = ops.AllReduce(), ops.AllReduce("max"), ops.AllReduce("min")
            self.gathered, self.scattered = ops.AllGather(), ops.ReduceScatter()
            self.shared, self.exchanged = ops.Broadcast(1), ops.AlltoAll(size, 0, 1)
            self.reduced, self.parts, self.whole = ops.Reduce(1), ops.CollectiveScatter(1), ops.CollectiveGather(0)

        def construct(self, x: Any) -> Any:
            shared = self.shared((x, x * 2))
            return (
                self.sum(x), self.max(x), self.min(x), self.gathered(x), self.scattered(x), shared[0], shared[1],
                self.exchanged(x), self.reduced(x), self.parts(x), self.whole(x),
            )  # fmt: skip

    def run(rank: int) -> Any:
        context.set_context(mode=context.GRAPH_MODE if is_graph else context.PYNATIVE_MODE)
        return [each.asnumpy() for each in Net()(mine(rank))]

    all_of_them, total = every(size), sum(every(size))
    for rank, found in enumerate(on(size, run)):
        rows = slice(4 // size * rank, 4 // size * (rank + 1))
        one = np.zeros(1, np.float32)
        expected = [
            total, np.maximum.reduce(all_of_them), np.minimum.reduce(all_of_them), np.concatenate(all_of_them),
            total[rows], all_of_them[1], all_of_them[1] * 2, np.concatenate([x[rows] for x in all_of_them], 1),
            total if rank == 1 else one, all_of_them[1][rows], np.concatenate(all_of_them) if rank == 0 else one,
        ]  # fmt: skip
        for got, wanted in zip(found, expected, strict=True):
            assert got.dtype == wanted.dtype
            assert np.array_equal(got, wanted)


SLOPES: dict[str, tuple[Callable[[], Any], Callable[[int, list[Any]], Any]]] = {
    # d(sum over ranks of (op(x) * w)) / dx of each rank, with w = op(x) held fixed
    "AllReduce": (ops.AllReduce, lambda rank, given: 2 * sum(given)),
    "AllGather": (ops.AllGather, lambda rank, given: 2 * given[rank]),
    "ReduceScatter": (ops.ReduceScatter, lambda rank, given: sum(given)),
    "AlltoAll": (lambda: ops.AlltoAll(2, 0, 1), lambda rank, given: given[rank]),
}


@pytest.mark.parametrize("name", SLOPES)
def test_gradients(name: str) -> None:
    made, slope = SLOPES[name]

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.op = made()

        def construct(self, x: Any) -> Any:
            y = self.op(x)
            return (y * ops.stop_gradient(y)).sum()

    def run(rank: int) -> Any:
        context.set_context(mode=context.GRAPH_MODE)
        return GradOperation()(Net())(mine(rank)).asnumpy()

    for rank, found in enumerate(on(2, run)):
        assert np.array_equal(found, slope(rank, every(2))), rank


def test_send_and_receive_barrier_groups() -> None:
    def run(rank: int) -> Any:
        communication.init()
        group = "even" if rank % 2 == 0 else "odd"
        ranks = list(range(rank % 2, 4, 2))
        communication.create_group(group, ranks)
        ops.Barrier()()
        total = ops.AllReduce(group=group)(mine(rank)).asnumpy()
        if rank == 0:
            ops.Send(7, 3)(mine(0))
        sent = ops.Receive(7, 0, [4, 2], dtypes.float32)().asnumpy() if rank == 3 else None
        place = communication.get_rank(group), communication.get_group_size(group), communication.get_rank()
        world = communication.get_world_rank_from_group_rank(group, 1)
        return total, sent, place, world, communication.get_process_group_ranks(group)

    found = on(4, run)
    for rank, (total, sent, place, world, ranks) in enumerate(found):
        others = [rank % 2, rank % 2 + 2]
        assert np.array_equal(total, sum(every(4)[each] for each in others))
        assert (sent is not None) == (rank == 3)
        assert place == (rank // 2, 2, rank)
        assert world == others[1]
        assert ranks == others
    assert np.array_equal(found[3][1], every(4)[0])


def test_what_a_cpu_has_not_is_refused_on_a_cpu() -> None:
    calls: list[tuple[Callable[[Any], Any], type[Exception]]] = [
        (lambda x: ops.AllReduce("max")(x), KernelError),
        (lambda x: ops.ReduceScatter()(x), KernelError),
        (lambda x: ops.AlltoAll(2, 0, 1)(x), KernelError),
        (lambda x: ops.Barrier()(), KernelError),
        (lambda x: ops.AllReduce()(ops.cast(x, dtypes.int32)), DtypeError),
        (lambda x: ops.AllReduce()(ops.cast(x, dtypes.float64)), DtypeError),
        (lambda x: ops.AllGather()(ops.cast(x, dtypes.int8)), DtypeError),
    ]

    def run(rank: int) -> None:
        for call, error in calls:
            with pytest.raises(error):
                call(mine(rank))
        assert ops.AllReduce()(mine(rank)).asnumpy().tolist() == sum(every(2)).tolist()

    on(2, run, "cpu")


def test_groups_that_cannot_be() -> None:
    def run(rank: int) -> None:
        for ranks, error in (([0, 2], SettingError), ([0, 0], SettingError), ([], SettingError)):
            with pytest.raises(error):
                communication.create_group("wrong", ranks)
        with pytest.raises(StateError, match="not of group 'other'"):
            communication.create_group("other", [1 - rank])
        communication.create_group("mine", [rank])
        communication.create_group("mine", [rank])
        with pytest.raises(SettingError, match="has the ranks"):
            communication.create_group("mine", [0, 1])
        with pytest.raises(SettingError):
            ops.Broadcast(2)

    on(2, run)


FAILURES: dict[str, tuple[Callable[[int], Any], str]] = {
    "fails": (lambda rank: 1 / 0 if rank == 1 else ops.AllReduce()(mine(0)),
              "rank 1 failed; waiting: ranks 0 and 2 in AllReduce(sum) of Float32[4, 2]"),
    "ends": (lambda rank: None if rank == 1 else ops.AllReduce()(mine(0)),
             "rank 1 ended without AllReduce; waiting: ranks 0 and 2 in AllReduce(sum) of Float32[4, 2]"),
    "another shape": (lambda rank: ops.AllReduce()(mine(0, (2 + rank // 2, 2))),
                      "the ranks of a group do not call the same: ranks 0 and 1 in AllReduce(sum) of Float32[2, 2] "
                      "and rank 2 in AllReduce(sum) of Float32[3, 2]"),
    "another order": (lambda rank: ops.AllGather()(mine(0)) if rank else ops.AllReduce()(mine(0)),
                      "the ranks of a group do not call the same: rank 0 in AllReduce(sum) of Float32[4, 2] and "
                      "ranks 1 and 2 in AllGather of Float32[4, 2]"),
    "a circle": (lambda rank: ops.Receive(0, (rank + 1) % 3, [1], dtypes.float32)(),
                 "all ranks wait for one another; waiting: rank 0 in Receive from rank 1 (tag 0), "
                 "rank 1 in Receive from rank 2 (tag 0) and rank 2 in Receive from rank 0 (tag 0)"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_a_run_that_cannot_go_on_is_given_up_at_once(name: str) -> None:
    function, message = FAILURES[name]

    def run(rank: int) -> Any:
        session.current().device = DEVICES.get("ascend-o0")
        return function(rank)

    results, failure = together(3, run)
    assert failure == message
    assert all(isinstance(each, (CollectiveError, ZeroDivisionError)) or each is None for each in results)


def test_parallel_modes_that_divide_a_network_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsupportedError, match="not one of several ranks"):
        context.set_auto_parallel_context(parallel_mode="data_parallel")
    monkeypatch.setenv("MS_WORKER_NUM", "2")
    for mode in ("semi_auto_parallel", "auto_parallel", "hybrid_parallel"):
        with pytest.raises(UnsupportedError, match=mode):
            context.set_auto_parallel_context(parallel_mode=mode)
    with pytest.raises(SettingError, match="accepted"):
        context.set_auto_parallel_context(parallel_mode="bogus")
    with pytest.raises(SettingError, match="device_num"):
        context.set_auto_parallel_context(device_num=0)


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    before = context.get_context("mode")
    yield
    context.set_context(mode=before)
    context.reset_auto_parallel_context()


NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1e30, -1e30, 1e-40])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=2, max_size=6))
def test_sums_are_exact_and_rounded_once(rows: list[list[float]]) -> None:
    parts = [np.array(row, np.float32) for row in rows]
    found = reduced(parts, "sum", dtypes.float32)
    for at in range(3):
        exact = sum((Fraction(float(part[at])) for part in parts), Fraction(0))
        near = np.float32(found[at])
        if not np.isfinite(near):
            assert abs(exact) >= Fraction(float(np.finfo(np.float32).max))
            continue
        off = abs(Fraction(float(near)) - exact)
        with np.errstate(over="ignore"):  # behind the largest number
            beside = (np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf)))
        for other in beside:
            assert not np.isfinite(other) or off <= abs(Fraction(float(other)) - exact)
    for order in itertools.islice(itertools.permutations(parts), 24):
        assert reduced(list(order), "sum", dtypes.float32).tobytes() == found.tobytes()


def test_sums_beyond_float64_and_what_is_not_finite() -> None:
    big = [np.array([1.7e308]), np.array([1.7e308]), np.array([-1.7e308])]
    assert reduced(big, "sum", dtypes.float64).tolist() == [1.7e308]
    odd = [np.array([np.inf, np.nan, 1], np.float32), np.array([-np.inf, 1, 1], np.float32)]
    assert np.array_equal(reduced(odd, "sum", dtypes.float32), [np.nan, np.nan, 2], equal_nan=True)
    whole = [np.array([127, -3], np.int8)] * 2
    assert reduced(whole, "sum", dtypes.int8).tolist() == [-2, -6]
    assert reduced(whole, "prod", dtypes.int8).tolist() == [1, 9]
    pair = [np.array([1 + 2j], np.complex64)] * 3
    assert reduced(pair, "sum", dtypes.complex64).tolist() == [3 + 6j]


def test_large_tensors_are_reduced_in_parts_with_the_same_bits() -> None:
    given_ = [np.random.default_rng(rank).standard_normal(20001).astype(np.float32) for rank in range(3)]
    found = on(3, lambda rank: ops.AllReduce()(Tensor(given_[rank])).asnumpy())
    assert {each.tobytes() for each in found} == {reduced(given_, "sum", dtypes.float32).tobytes()}


def test_a_group_that_one_rank_makes_alone() -> None:
    """As ``tests/interop/ranks/mint.py`` finds it."""

    def run(rank: int) -> Any:
        name = distributed.get_backend()
        if rank == 0:
            communication.create_group("alone", [0])
            for refused in (ops.AllGather(group="alone"), ops.Broadcast(0, group="alone")):
                with pytest.raises(KernelError, match="for the group of all ranks alone"):
                    refused(mine(rank) if refused.name == "AllGather" else (mine(rank),))
            assert ops.AllReduce(group="alone")(mine(rank)).asnumpy().tolist() == mine(rank).asnumpy().tolist()
        return name

    assert on(2, run, "cpu") == ["hccl", "hccl"]


def test_names_of_mint() -> None:
    def run(rank: int) -> Any:
        distributed.init_process_group("hccl")
        x = mine(rank)
        distributed.all_reduce(x)
        y = mine(rank)
        distributed.broadcast(y, 2)
        places = [Tensor(np.zeros((4, 2), np.float32)) for _ in range(3)]
        handle = distributed.all_gather(places, mine(rank), async_op=True)
        assert handle is not None
        handle.wait()
        distributed.barrier()
        objects: list[Any] = [None] * 3
        distributed.all_gather_object(objects, {"rank": rank})
        shared = [rank, str(rank)]
        distributed.broadcast_object_list(shared, 1)
        whole, part = Tensor(np.zeros((12, 2), np.float32)), Tensor(np.zeros((4, 2), np.float32))
        distributed.all_gather_into_tensor(whole, mine(rank))
        distributed.reduce_scatter_tensor(part, whole)
        sent = mine(rank)
        if rank == 0:
            distributed.send(sent, 1, tag=4)
        if rank == 1:
            distributed.recv(sent, 0, tag=4)
        with pytest.raises(SettingTypeError, match="JSON"):
            distributed.all_gather_object([None] * 3, object())
        with pytest.raises(SettingError, match="does not fit"):
            distributed.all_gather_into_tensor(part, x)
        assert (distributed.get_rank(), distributed.get_world_size()) == (rank, 3)
        arrays = [each.asnumpy() for each in (x, y, *places, whole, part, sent)]
        return arrays, objects, shared

    given = every(3)
    for rank, (arrays, objects, shared) in enumerate(on(3, run)):
        total, second, *gathered, whole, part, sent = arrays
        assert objects == [{"rank": 0}, {"rank": 1}, {"rank": 2}]
        assert shared == [1, "1"]
        assert np.array_equal(second, given[2])
        assert np.array_equal(np.concatenate(gathered), whole)
        assert np.array_equal(whole, np.concatenate(given))
        assert np.array_equal(part, given[rank] * 3)
        assert np.array_equal(sent, given[0] if rank == 1 else given[rank])
        assert np.array_equal(total, sum(given))
