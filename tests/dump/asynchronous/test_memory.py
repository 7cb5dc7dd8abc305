"""Only arrays that a run may change, or that would waste memory, are copied."""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.dump.asynchronous.memory import LentMemory, owner
from harness.framework.runtime.observer import Slot
from harness.graph import Node, Parameter, TensorSpec, TupleSpec
from tests.dump.build import operator, tensor

SPEC = TensorSpec(dtypes.float32, (4,))


def slot(index: int, array: np.ndarray) -> Slot:
    return Slot(index, array, dtypes.float32)


def test_the_owner_of_a_view() -> None:
    array = np.zeros((4, 6))
    assert owner(array.T.reshape(-1)[1:]) is not array  # reshape had to copy
    assert owner(array[1:].T[2]) is array
    assert owner(array) is array


def test_parameters_and_their_views_are_copied_and_nothing_else() -> None:
    memory, weight, made = LentMemory(), tensor(dtypes.float32, (4,)), tensor(dtypes.float32, (4,))
    memory.begin([weight])
    for array in (weight, weight.reshape(2, 2), weight[::2], weight.reshape(2, 2).T):
        kept = memory.keep(array)
        assert not np.shares_memory(kept, weight)
        assert kept.flags.c_contiguous
        assert np.array_equal(kept, array)
        assert memory.kept_bytes(array) == kept.nbytes
    for array in (made, made.reshape(2, 2), made[::2]):
        assert memory.keep(array) is array
        assert memory.kept_bytes(array) == made.nbytes


def test_memory_that_is_no_array() -> None:
    memory = LentMemory()
    array = np.frombuffer(bytearray(16), np.float32)
    assert memory.is_lent(array)
    assert not np.shares_memory(memory.keep(array), array)


def test_a_small_view_does_not_keep_much_alive() -> None:
    memory, large = LentMemory(), np.zeros(1000, np.float32)
    kept = memory.keep(large[:10])
    assert owner(kept).nbytes == 40 == memory.kept_bytes(large[:10])
    assert memory.keep(large[:500]).base is large


def test_the_last_step_does_not_count() -> None:
    memory, weight = LentMemory(), tensor(dtypes.float32, (4,))
    memory.begin([weight])
    memory.begin([])
    assert not memory.is_lent(weight)


def reader(*operands: Node | Parameter) -> Node:
    return operator("Default/Add-op0", operands, SPEC)


def shown(node: Node, **extra: bool) -> list[bool]:
    """Which of a kernel's two inputs and its output are lent after it was shown."""
    for name, value in extra.items():
        setattr(node.extra, name, value)
    memory, arrays = LentMemory(), [tensor(dtypes.float32, (4,)) for _ in range(3)]
    memory.show(node, [slot(0, arrays[0]), slot(1, arrays[1])], [slot(0, arrays[2])])
    return [memory.is_lent(array) for array in arrays]


def test_what_a_kernel_reads_of_parameters_is_lent() -> None:
    weight, made = Parameter("w", SPEC, True), operator("Default/ReLU-op0", (), SPEC)
    assert shown(reader(weight, made)) == [True, False, False]
    assert shown(reader(made, made)) == [False, False, False]


def test_it_is_lent_through_what_hands_it_on() -> None:
    weight, made = Parameter("w", SPEC, True), operator("Default/ReLU-op0", (), SPEC)
    load = Node("Load", [weight], {}, "Default", SPEC, kernel=False)
    depend = Node("Depend", [made, weight], {}, "Default", SPEC, kernel=False)
    pair = Node("MakeTuple", [made, load], {}, "Default", TupleSpec((SPEC, SPEC)), kernel=False)
    item = Node("TupleGetItem", [pair], {}, "Default", SPEC, kernel=False)
    assert shown(reader(load, depend)) == [True, False, False]
    assert shown(reader(item, made)) == [True, False, False]


def test_an_update_in_place_lends_all_it_shows() -> None:
    made = operator("Default/ReLU-op0", (), SPEC)
    update = reader(made, made)
    assert shown(update, effect=True) == [True, True, True]
    assert shown(reader(update, made)) == [True, False, False]
