"""What a module returns is recorded, whatever holds it."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from harness.capture.torch import TorchCapture  # noqa: E402
from harness.capture.torch.returned import leaves  # noqa: E402

pytestmark = pytest.mark.interop


@dataclass
class Output:
    logits: Any
    extra: Any = None


class Cache:
    """Keys and values, as caches of attention hold them."""

    def __init__(self, *layers: Any) -> None:
        self.layers = list(layers)
        self.owner = torch.nn.Linear(1, 1)


Pair = namedtuple("Pair", "one other")
TENSORS = st.integers(0, 9).map(lambda n: torch.full((2,), float(n)))
LEAVES = TENSORS | st.integers(-5, 5) | st.floats(-2, 2) | st.just(np.arange(3)) | st.text("ab", min_size=1, max_size=3)
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "a/b", "c d"]), inner, min_size=1, max_size=3)
        | st.tuples(inner, inner).map(tuple)
        | st.tuples(inner, inner).map(lambda two: Pair(*two))
        | inner.map(Output)
        | inner.map(Cache)
    ),
    max_leaves=6,
)


def held(value: Any) -> int:
    """How many leaves a tree has, counted by its own kinds."""
    if isinstance(value, dict):
        return sum(map(held, value.values()))
    if isinstance(value, (list, tuple)):
        numbers = len(value) > 1 and type(value[0]) in (int, float) and len(set(map(type, value))) == 1
        return 1 if numbers and not hasattr(value, "_fields") else sum(map(held, value))
    if isinstance(value, Output):
        return held(value.logits)
    return held(value.layers) if isinstance(value, Cache) else 1


@settings(deadline=None, max_examples=60)
@given(TREES)
def test_every_leaf_of_a_tree_is_recorded_once(tree: Any) -> None:
    assert len(list(leaves(tree))) == held(tree)

    class Net(torch.nn.Module):  # type: ignore[misc, unused-ignore]
        def forward(self) -> Any:
            return tree

    net = Net()
    watch = TorchCapture(net, paths=True)
    with watch.step():
        net()
    records = [record for record in watch.capture().records() if record.op_type == "Result"]
    assert len({record.key for record in records}) == len(records) == held(tree)
    assert all(record.key.operator.rpartition("/")[0] == "Default" for record in records)


def test_a_tree_within_itself_ends() -> None:
    tree: list[Any] = [torch.ones(1)]
    tree.append(tree)
    assert [path for path, _ in leaves(tree)] == ["[0]"]


def results(net: Any, step: Any) -> list[tuple[str, int, Any]]:
    watch = TorchCapture(net)
    with watch.step() as returned:
        step(returned)
    found = [record for record in watch.capture().records() if record.op_type == "Result"]
    return [(each.key.operator, each.key.execution, each.load().tolist()) for each in found]


def test_each_call_counts_and_a_loss_has_its_own_name() -> None:
    net = torch.nn.Linear(1, 1, bias=False)
    net.weight.data.fill_(2)

    def step(returned: Any) -> None:
        loss = net(torch.ones(1)) + net(torch.full((1,), 2.0))
        loss.sum().backward()
        returned(loss, "loss")

    assert results(net, step) == [
        ("Default/result", 0, [2]), ("Default/result", 1, [4]), ("Default/loss", 0, [6]),
    ]  # fmt: skip


def test_what_is_overwritten_later_is_kept_as_it_was() -> None:
    net = torch.nn.Identity()

    def step(returned: Any) -> None:
        net(torch.ones(2)).add_(5)

    assert results(net, step) == [("Default/result", 0, [1, 1])]


def test_what_holds_no_tensor_is_said() -> None:
    watch = TorchCapture(torch.nn.Identity())
    with watch.step() as returned:
        returned({"f": len, "x": torch.ones(1)})
    (problem,) = watch.capture().problems
    assert problem[:2] == ("Default/result.f output.0", "note")


def test_modules_made_and_removed_in_forward() -> None:
    class Net(torch.nn.Module):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.old, self.lazy = torch.nn.Linear(2, 2), torch.nn.LazyLinear(2)

        def forward(self, x: Any) -> Any:
            self.new = torch.nn.Sequential(torch.nn.Linear(2, 2))
            x = self.lazy(self.new(self.old(x)))
            del self.old
            return x

    net = Net()
    watch = TorchCapture(net, paths=True)
    with watch.step():
        net(torch.ones(1, 2)).sum().backward()
    assert not watch.capture().problems
    names = {record.key.operator for record in watch.capture().records() if record.op_type == "Parameter"}
    assert names == {"new.0.weight", "new.0.bias", "lazy.weight", "lazy.bias"}
