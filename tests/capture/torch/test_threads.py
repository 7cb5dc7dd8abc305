"""Operators in threads that a step starts are recorded, in the order in which the threads were started."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from harness.capture.torch import TorchCapture  # noqa: E402

pytestmark = pytest.mark.interop


class Net(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """Calls its layers as ``way`` says."""

    def __init__(self, way: Callable[[list[Callable[[], Any]]], list[Any]]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.one, self.two = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        self.way = way
        self.scale = 1.0

    def part(self, at: int, x: Any) -> Any:
        time.sleep((0.02, 0, 0.01)[at])  # the last to start is not the last to run
        return torch.relu((self.one, self.two, self.one)[at](x * (at + self.scale)))

    def forward(self, x: Any) -> Any:
        x = x + 1
        first, second, third = self.way([lambda at=at: self.part(at, x) for at in range(3)])
        return first + second - third


def plainly(calls: list[Callable[[], Any]]) -> list[Any]:
    return [call() for call in calls]


def threads(calls: list[Callable[[], Any]]) -> list[Any]:
    found: dict[int, Any] = {}

    def kept(at: int, call: Callable[[], Any]) -> None:
        found[at] = call()

    started = [threading.Thread(target=kept, args=(at, call)) for at, call in enumerate(calls)]
    for each in started:
        each.start()
    for each in started:
        each.join()
    return [found[at] for at in range(len(calls))]


POOL = ThreadPoolExecutor(2)


def pooled(calls: list[Callable[[], Any]]) -> list[Any]:
    return [each.result() for each in [POOL.submit(call) for call in calls]]


def nested(calls: list[Callable[[], Any]]) -> list[Any]:
    return threads([lambda: threads(calls[:2]), lambda: threads(calls[2:])])[0] + [calls[2]()]


def captured(way: Any, scale: float = 1.0, backward: bool = True) -> list[tuple[Any, ...]]:
    net = Net(way)
    net.scale = scale
    watch = TorchCapture(net)
    with watch.step():
        made = net(torch.ones(2, 3)).sum()
        if backward:
            made.backward()
    capture = watch.capture()
    assert not capture.problems
    records = list(capture.records())
    assert len({record.key for record in records}) == len(records)
    names = list(
        dict.fromkeys(
            r.key.operator for r in records if "-op" in r.key.operator and "/modules-op" not in r.key.operator
        )
    )
    assert tuple(names) == capture.execution_order[0]
    return [(record.key, record.digest) for record in records]


@pytest.mark.parametrize("way", [threads, pooled])
@pytest.mark.parametrize("backward", [True, False])
def test_as_without_threads(way: Any, backward: bool) -> None:
    plain, found = captured(plainly, backward=backward), captured(way, backward=backward)
    assert sorted(plain) == sorted(found) or backward
    assert {digest for _, digest in plain} == {digest for _, digest in found}
    if way is threads or not backward:  # the order of a backward follows from the worker that ran a forward
        assert captured(way, backward=backward) == found


def test_threads_in_threads() -> None:
    found = captured(nested)
    assert captured(nested) == found != captured(nested, scale=3.0)


def test_a_changed_thread_is_seen_where_it_begins() -> None:
    one, other = captured(threads), captured(threads, scale=3.0)
    first = next(key for (key, mine), (_, its) in zip(one, other, strict=True) if mine != its)
    assert first[3:] == ("Default/mul-op0", 0, "input", 1)


def test_a_thread_that_outlives_its_step_runs_on_unwatched() -> None:
    go, done = threading.Event(), []

    def later() -> None:
        torch.ones(3) + 1
        go.wait(5)
        done.append(torch.ones(3) + 2)

    watch = TorchCapture(torch.nn.Identity())
    with watch.step():
        thread = threading.Thread(target=later)
        thread.start()
    go.set()
    thread.join()
    assert done[0].tolist() == [3, 3, 3]
    assert [r.key.operator for r in watch.capture().records() if r.op_type == "add"].count("Default/add-op1") == 0
    assert not hasattr(threading.Thread.start, "__wrapped__")
