"""Values in memory that a run may still change are told from stable ones."""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.framework.runtime.lent import LentMemory
from harness.graph import Node, Operand, Parameter, TensorSpec, TupleSpec
from harness.recording import Value

SPEC = TensorSpec(dtypes.float32, (4,))


def floats() -> np.ndarray:
    return np.arange(4, dtype=np.float32)


def test_parameters_and_their_views_are_lent_and_nothing_else() -> None:
    weight, made = floats(), floats()
    memory = LentMemory([weight])
    for array in (weight, weight.reshape(2, 2), weight[::2], weight.reshape(2, 2).T):
        assert memory.is_lent(array)
    for array in (made, made.reshape(2, 2), made[::2]):
        assert not memory.is_lent(array)


def test_a_view_that_was_lent_lends_all_of_its_memory() -> None:
    weight = floats()
    assert LentMemory([weight[::2]]).is_lent(weight)


def test_memory_that_is_no_array() -> None:
    assert LentMemory([]).is_lent(np.frombuffer(bytearray(16), np.float32))


def test_the_last_step_does_not_count() -> None:
    weight = floats()
    assert LentMemory([weight]).is_lent(weight)
    assert not LentMemory([]).is_lent(weight)


def kernel(op: str, *operands: Operand) -> Node:
    return Node(op, list(operands), {}, "Default", SPEC, number=0)


def reader(*operands: Operand) -> Node:
    return kernel("Add", *operands)


def shown(node: Node, **extra: bool) -> list[bool]:
    """Which of a kernel's two inputs and its output are lent after it was shown."""
    for name, value in extra.items():
        setattr(node.extra, name, value)
    memory, arrays = LentMemory([]), [floats() for _ in range(3)]
    inputs = [Value(array, index=slot) for slot, array in enumerate(arrays[:2])]
    outputs = [Value(arrays[2], index=0)]
    memory.inputs(node, inputs)
    memory.outputs(node, outputs)
    lent = [memory.is_lent(array) for array in arrays]
    assert [not value.stable for value in (*inputs, *outputs)] == lent
    return lent


def test_what_a_kernel_reads_of_parameters_is_lent() -> None:
    weight, made = Parameter("w", SPEC, True), kernel("ReLU")
    assert shown(reader(weight, made)) == [True, False, False]
    assert shown(reader(made, made)) == [False, False, False]


def test_it_is_lent_through_what_hands_it_on() -> None:
    weight, made = Parameter("w", SPEC, True), kernel("ReLU")
    load = Node("Load", [weight], {}, "Default", SPEC, kernel=False)
    depend = Node("Depend", [made, weight], {}, "Default", SPEC, kernel=False)
    pair = Node("MakeTuple", [made, load], {}, "Default", TupleSpec((SPEC, SPEC)), kernel=False)
    item = Node("TupleGetItem", [pair], {}, "Default", SPEC, kernel=False)
    assert shown(reader(load, depend)) == [True, False, False]
    assert shown(reader(item, made)) == [True, False, False]


def test_an_update_in_place_lends_all_it_shows() -> None:
    made = kernel("ReLU")
    update = reader(made, made)
    assert shown(update, effect=True) == [True, True, True]
    assert shown(reader(update, made)) == [True, False, False]


def test_what_was_lent_once_is_lent_to_later_kernels() -> None:
    memory, array = LentMemory([]), floats()
    memory.inputs(reader(Parameter("w", SPEC, True)), [Value(array, index=0)])
    again = Value(array[:2], index=0)
    memory.outputs(kernel("Reshape"), [again])
    assert not again.stable
