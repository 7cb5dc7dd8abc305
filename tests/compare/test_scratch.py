"""Memory that is kept: by name, by thread, and never too short."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from harness.compare.scratch import Scratch


def test_a_name_has_the_same_memory_again() -> None:
    scratch = Scratch(10)
    one, other = scratch.take("a", np.float32, 4), scratch.take("b", np.float32, 4)
    assert not np.shares_memory(one, other)
    again = scratch.take("a", np.float32, 10)
    assert np.shares_memory(one, again)
    assert (one.size, again.size, again.dtype) == (4, 10, np.float32)


def test_longer_ones_are_not_kept() -> None:
    scratch = Scratch(10)
    assert scratch.take("a", np.int8, 11).size == 11
    assert not np.shares_memory(scratch.take("a", np.int8, 11), scratch.take("a", np.int8, 5))


def test_each_thread_has_its_own() -> None:
    scratch = Scratch(10)
    mine = scratch.take("a", np.int8, 5)
    with ThreadPoolExecutor(1) as pool:
        assert not np.shares_memory(mine, pool.submit(scratch.take, "a", np.int8, 5).result())
