"""Tensors that are no plain memory are read by their parts, and a changed one is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from harness.capture import Capture  # noqa: E402
from harness.capture.torch import TorchCapture  # noqa: E402
from harness.capture.torch.parts import Unread, parts  # noqa: E402
from harness.capture.torch.values import host_array  # noqa: E402

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")]


class Wrap(torch.Tensor):  # type: ignore[misc, unused-ignore]
    """A tensor class that runs its operators itself."""

    def __new__(cls, inner: Any) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from torch.utils._pytree import tree_map

        plain = tree_map(lambda each: each.inner if isinstance(each, Wrap) else each, (args, kwargs or {}))
        result = cls.computed(func, *plain)
        return tree_map(lambda each: cls(each) if isinstance(each, torch.Tensor) else each, result)

    @classmethod
    def computed(cls, func: Any, args: Any, kwargs: Any) -> Any:
        return func(*args, **kwargs)


class Flat(Wrap):
    """One that says what it consists of."""

    def __tensor_flatten__(self) -> Any:
        return ["inner"], None


class Hidden(Flat):
    """One whose operators nobody sees."""

    @classmethod
    def computed(cls, func: Any, args: Any, kwargs: Any) -> Any:
        with torch.utils._python_dispatch._disable_current_modes():
            return func(*args, **kwargs)


def values(kind: str, plain: Any) -> Any:
    """``plain``, float32 [4, 3], in another form."""
    make: dict[str, Callable[[], Any]] = {
        "coo": plain.to_sparse, "csr": plain.to_sparse_csr, "csc": plain.to_sparse_csc,
        "bsr": lambda: plain.to_sparse_bsr((2, 1)),
        "hybrid": lambda: torch.stack([plain, plain]).to_sparse(1),
        "nested": lambda: torch.nested.nested_tensor([plain, plain[:2]]),
        "jagged": lambda: torch.nested.nested_tensor([plain, plain[:2]], layout=torch.jagged),
        "quantised": lambda: torch.quantize_per_tensor(plain, 0.25, 7, torch.quint8),
        "channels": lambda: torch.quantize_per_channel(
            plain, torch.tensor([0.25, 0.5, 1.0]), torch.tensor([0, 1, 2]), 1, torch.qint8
        ),
        "half complex": lambda: torch.view_as_complex(torch.stack([plain, plain], -1).half()),
        "flat": lambda: Flat(plain.clone()),
    }  # fmt: skip
    return make[kind]()


KINDS = ("coo", "csr", "csc", "bsr", "hybrid", "nested", "jagged", "quantised", "channels", "half complex", "flat")


def content(tensor: Any) -> list[tuple[Any, ...]]:
    return [(name, *host_array(each).shape, host_array(each).tobytes()) for name, each in parts(tensor)]


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(KINDS), st.integers(0, 5), st.integers(1, 40))
def test_every_changed_element_is_seen(kind: str, at: int, steps: int) -> None:
    plain = torch.arange(12.0).reshape(4, 3)
    other = plain.clone()
    other.view(-1)[at] += steps
    assert content(values(kind, plain)) == content(values(kind, plain.clone()))
    assert content(values(kind, plain)) != content(values(kind, other))


def test_quantised_alike_but_of_another_scale() -> None:
    one = torch.quantize_per_tensor(torch.ones(3), 0.5, 0, torch.qint8)
    other = torch.quantize_per_tensor(torch.ones(3) * 2, 1.0, 0, torch.qint8)
    assert content(one) != content(other)


def test_what_has_no_values_says_why() -> None:
    emptied = torch.ones(3)
    emptied.untyped_storage().resize_(0)
    for tensor, why in ((torch.ones(2, device="meta"), "device meta"), (Wrap(torch.ones(2)), "not a plain tensor")):
        with pytest.raises(Unread, match=why):
            parts(tensor)
    with pytest.raises(Unread, match="no memory"):
        host_array(emptied)


def captured(step: Callable[[], Any], mode: str = "tensor") -> Capture:
    watch = TorchCapture(torch.nn.Identity(), mode=mode)
    with watch.step() as returned:
        returned(step())
    return watch.capture()


@pytest.mark.parametrize("mode", ["tensor", "statistic"])
@pytest.mark.parametrize("kind", [each for each in KINDS if each not in ("quantised", "channels", "half complex")])
def test_operators_on_them_are_recorded(kind: str, mode: str) -> None:
    scale = 2.0

    def step() -> Any:
        return values(kind, torch.arange(12.0).reshape(4, 3)).clone() * scale

    def digests() -> list[bytes | None]:
        return [record.digest for record in captured(step, mode).records()]

    first = digests()
    assert first == digests()
    scale = 3.0
    assert first != digests()


@pytest.mark.parametrize("kind", [Wrap, Flat, Hidden])
def test_operators_inside_a_tensor_class(kind: Any) -> None:
    def step() -> Any:
        wrapped = kind(torch.ones(3))
        return (wrapped * 3).inner + 1

    capture = captured(step)
    found = {(record.key.operator, record.key.slot_name): record.load() for record in capture.records()}
    if kind is Wrap:
        assert not capture.problems
    assert found["Default/mul-op0", "output.0"].tolist() == [3, 3, 3]
    assert found["Default/add-op0", "input.0"].tolist() == [3, 3, 3]
    assert found["Default/result", "output.0"].tolist() == [4, 4, 4]


def test_a_class_of_which_nothing_can_be_seen_is_said() -> None:
    class Secret(Wrap):
        computed = Hidden.computed

    capture = captured(lambda: (Secret(torch.ones(3)) * 3).inner)
    assert {problem.why for problem in capture.problems} == {"a Secret is not a plain tensor"}
    (result,) = [record.load() for record in capture.records() if record.op_type == "Result"]
    assert result.tolist() == [3, 3, 3]


def test_storages_can_still_be_resized() -> None:
    def step() -> Any:
        made = torch.ones(4) * 2
        sum_ = made.sum()
        made.untyped_storage().resize_(0)
        return sum_

    for mode in ("tensor", "statistic"):
        assert not captured(step, mode).problems


def test_forward_differentiation() -> None:
    net = torch.nn.Linear(3, 2)
    x = torch.ones(1, 3)
    capture = captured(lambda: torch.func.jvp(net, (x,), (x,)))
    assert not capture.problems
    assert [r.shape for r in capture.records() if r.op_type == "Result"] == [(1, 2), (1, 2)]
