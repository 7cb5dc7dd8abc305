"""Only arrays that a run may change, or that would waste memory, are copied."""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.dump.asynchronous.memory import keep, kept_bytes, owner
from tests.dump.build import tensor


def test_the_owner_of_a_view() -> None:
    array = np.zeros((4, 6))
    assert owner(array.T.reshape(-1)[1:]) is not array  # reshape had to copy
    assert owner(array[1:].T[2]) is array
    assert owner(array) is array


def test_what_is_not_stable_is_copied_and_nothing_else() -> None:
    weight, made = tensor(dtypes.float32, (4,)), tensor(dtypes.float32, (4,))
    for array in (weight, weight.reshape(2, 2), weight[::2], weight.reshape(2, 2).T):
        kept = keep(array, False)
        assert not np.shares_memory(kept, weight)
        assert kept.flags.c_contiguous
        assert np.array_equal(kept, array)
        assert kept_bytes(array, False) == kept.nbytes
    for array in (made, made.reshape(2, 2), made[::2]):
        assert keep(array, True) is array
        assert kept_bytes(array, True) == made.nbytes


def test_a_small_view_does_not_keep_much_alive() -> None:
    large = np.zeros(1000, np.float32)
    kept = keep(large[:10], True)
    assert owner(kept).nbytes == 40 == kept_bytes(large[:10], True)
    assert keep(large[:500], True).base is large
