"""The queue: order, bound, back-pressure, one error, and nothing lost."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dump.asynchronous.write_queue import WriteQueue

MOMENT = 0.05


class Gate:
    """An action that waits until it is let through, and says when it began."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.open = threading.Event()

    def __call__(self) -> None:
        self.begun.set()
        assert self.open.wait(600)


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 40))
def test_everything_runs_once_and_in_order(costs: list[int], bound: int) -> None:
    queue = WriteQueue(bound)
    done: list[int] = []
    for number, cost in enumerate(costs):
        queue.submit(lambda number=number: done.append(number), cost)  # type: ignore[misc]
    queue.close()
    assert done == list(range(len(costs)))
    assert queue.peak <= bound


def blocked(action: Callable[[], object]) -> threading.Thread:
    """A thread that runs ``action``, and is seen not to get through it."""
    thread = threading.Thread(target=action)
    thread.start()
    thread.join(MOMENT)
    assert thread.is_alive()
    return thread


def test_who_hands_over_waits_for_room() -> None:
    queue, gate = WriteQueue(10), Gate()
    queue.submit(gate, 8)
    queue.submit(lambda: None, 2)
    waiting = blocked(lambda: queue.submit(lambda: None, 1))
    gate.open.set()
    waiting.join(600)
    assert not waiting.is_alive()
    queue.close()
    assert queue.peak == 10


def test_bytes_count_until_they_are_written() -> None:
    queue, gate = WriteQueue(10), Gate()
    queue.submit(gate, 8)
    assert gate.begun.wait(600)
    waiting = blocked(lambda: queue.make_room(3))
    gate.open.set()
    waiting.join(600)
    queue.close()


def test_what_never_fits_is_run_at_once_and_in_its_turn() -> None:
    queue = WriteQueue(10)
    done: list[tuple[str, str]] = []

    def note(name: str) -> Callable[[], None]:
        return lambda: done.append((name, threading.current_thread().name))

    queue.submit(note("small"), 10)
    assert not queue.make_room(11)
    queue.submit(note("large"), 11)
    assert done == [("small", "msdump-writer"), ("large", threading.current_thread().name)]
    queue.close()
    assert queue.peak == 10


def test_many_tasks_without_bytes_wait_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.dump.asynchronous.write_queue._MOST_TASKS", 3)
    queue, gate = WriteQueue(), Gate()
    queue.submit(gate)
    assert gate.begun.wait(600)
    for _ in range(3):
        queue.submit(lambda: None)
    waiting = blocked(lambda: queue.submit(lambda: None))
    gate.open.set()
    waiting.join(600)
    queue.close()


class Broken(Exception):
    """A disk that failed."""


def fail() -> None:
    raise Broken


def test_an_error_is_raised_once_and_ends_all_writing() -> None:
    queue = WriteQueue()
    done: list[str] = []
    queue.submit(lambda: done.append("before"))
    queue.submit(fail)
    queue.drain()
    with pytest.raises(Broken):
        queue.submit(lambda: done.append("after"))
    queue.submit(lambda: done.append("later"))
    queue.check()
    queue.close()
    assert done == ["before"]


def test_what_waits_behind_an_error_is_dropped() -> None:
    queue, gate = WriteQueue(), Gate()
    done: list[str] = []
    queue.submit(gate)
    queue.submit(fail)
    queue.submit(lambda: done.append("behind"))
    queue.afterwards(lambda: done.append("always"))
    gate.open.set()
    with pytest.raises(Broken):
        queue.close()
    assert done == ["always"]


def test_an_error_frees_who_waits_for_room() -> None:
    queue, gate = WriteQueue(10), Gate()
    queue.submit(gate, 5)
    queue.submit(fail, 5)
    caught: list[type[BaseException]] = []

    def hand_over() -> None:
        try:
            queue.submit(lambda: None, 10)
        except Broken as error:
            caught.append(type(error))

    waiting = blocked(hand_over)
    gate.open.set()
    waiting.join(600)
    assert caught == [Broken]
    queue.close()


def test_an_error_of_what_never_fits() -> None:
    queue = WriteQueue(1)
    with pytest.raises(Broken):
        queue.submit(fail, 2)
    queue.close()


def test_an_error_is_raised_at_the_end_if_nowhere_else() -> None:
    queue = WriteQueue()
    queue.submit(fail)
    with pytest.raises(Broken):
        queue.close()
    queue.close()


def test_a_closed_queue_may_be_used_again() -> None:
    queue, threads = WriteQueue(), threading.active_count()
    done: list[int] = []
    for number in range(3):
        queue.submit(lambda number=number: done.append(number))  # type: ignore[misc]
        queue.close()
        assert done == list(range(number + 1))
        assert threading.active_count() == threads


def test_a_child_process_has_an_empty_queue_of_its_own() -> None:
    queue, gate = WriteQueue(10), Gate()
    queue.submit(gate, 8)
    child = os.fork()
    if child == 0:
        queue.drain()
        done: list[int] = []
        queue.submit(lambda: done.append(1), 9)
        queue.close()
        os._exit(0 if done == [1] else 1)
    gate.open.set()
    assert os.waitpid(child, 0)[1] == 0
    queue.close()


def test_a_queue_needs_room() -> None:
    with pytest.raises(ValueError, match="at least 1 byte, got a bound of 0"):
        WriteQueue(0)
