"""Not reading memory twice never changes the result."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from harness.capture.torch import TorchCapture  # noqa: E402
from harness.capture.torch.device import PackedStatistics, row, statistics_of  # noqa: E402
from harness.capture.torch.memo import region  # noqa: E402
from harness.capture.torch.parts import DTYPES  # noqa: E402
from harness.capture.torch.values import Keeper, host_array  # noqa: E402
from harness.records import Record, SlotKey  # noqa: E402
from harness.stats import describe, digest  # noqa: E402

pytestmark = pytest.mark.interop

KEY = SlotKey(0, 0, 0, "Default/x-op0", 0, "output", 0)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 6)), max_size=3), st.integers(0, 3))
def test_a_region_is_filled_by_each_element_once(axes: list[tuple[int, int]], offset: int) -> None:
    base = torch.arange(64)
    tensor = base.as_strided([size for size, _ in axes], [stride for _, stride in axes], offset)
    found = region(tensor)
    values = sorted(tensor.reshape(-1).tolist())
    filled = values == list(range(offset, offset + tensor.numel()))
    assert (found is not None) == filled
    if found is not None:
        assert found[:2] == (offset, tensor.numel())


VIEWS = st.sampled_from(["whole", "t", "flat", "half", "row", "expanded"])


def view(base: Any, kind: str) -> Any:
    return {
        "whole": base, "t": base.t(), "flat": base.view(-1), "half": base[:, ::2], "row": base[1:],
        "expanded": base[:1].expand(3, 4),
    }[kind]  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.tuples(VIEWS, st.booleans()), min_size=1, max_size=8), st.booleans())
def test_a_keeper_gives_what_reading_gives(events: list[tuple[str, bool]], statistics: bool) -> None:
    """Reads views of one storage in any order, with writes that are told between them."""
    base, keeper = torch.arange(12.0).view(3, 4).clone(), Keeper(statistics)
    found = []
    for kind, write in events:
        if write:
            base += 1
            keeper.memo.written(base)
        tensor = view(base, kind)
        record = Record(KEY, "x", "Float32", tuple(tensor.shape))
        keeper.fill(record, tensor)
        array = host_array(tensor)
        assert record.digest == digest(array, "Float32")
        if statistics:
            found.append((record, describe(array, "Float32")))
        else:
            np.testing.assert_array_equal(record.load(), array)
    keeper.flush()
    for record, wanted in found:
        # Whole numbers: a sum has the same bits in any order.
        assert record.extra.statistics == wanted


def test_memory_that_is_given_back_is_not_mistaken() -> None:
    keeper = Keeper(statistics=False)
    for value in range(200):
        tensor = torch.full((1000,), float(value))
        record = Record(KEY, "x", "Float32", (1000,))
        keeper.fill(record, tensor)
        array = record.load()
        assert array is not None
        assert array[0] == value
        del tensor


@settings(deadline=None)
@given(
    st.sampled_from(sorted(DTYPES, key=str)),
    st.lists(
        st.sampled_from([0.0, -0.0, 1.0, 2.0, 100.0, -3.0, math.nan, math.inf, -math.inf]), min_size=1, max_size=9
    ),
)
def test_a_device_describes_as_the_host_does(dtype: Any, values: list[float]) -> None:
    """The arithmetic is PyTorch's on any device; here it runs on the CPU."""
    if not dtype.is_floating_point and not dtype.is_complex:
        values = [abs(each) if math.isfinite(each) else 7.0 for each in values]
    tensor = torch.tensor(values).to(dtype)
    name = DTYPES[dtype].name
    wanted = describe(host_array(tensor), name)
    packed, record = PackedStatistics(), Record(KEY, "x", name, tuple(tensor.shape))
    packed.add(record, tensor)
    packed.flush()
    found = record.extra.statistics
    for field in wanted.__dataclass_fields__:
        one, other = getattr(wanted, field), getattr(found, field)
        assert one == pytest.approx(other, rel=1e-12, nan_ok=True), field
    assert record.digest is not None


def test_a_device_sees_every_bit() -> None:
    tensor = torch.randn(50)
    digests = set()
    for at in range(50):
        other = tensor.clone()
        other.view(torch.int32)[at] ^= 1
        digests.add(tuple(row(other).tolist()[-2:]))
    swapped = tensor.flip(0)
    digests |= {tuple(row(tensor).tolist()[-2:]), tuple(row(swapped).tolist()[-2:])}
    assert len(digests) == 52
    assert statistics_of([1.0, 0.0, 1.0, 1.0], [0, 1, 0, 0, 0], 2).positive_count == 1


class Buckets(torch.nn.Module):
    """Lays views out over memory that it fills afterwards, as DDP does with its buckets, and copies in groups."""

    def forward(self, x: Any, junk: float) -> Any:
        memory = torch.empty(16).fill_(junk)
        del memory  # the allocator hands it out again, as it is
        bucket = torch.empty(16)
        left, right = bucket.as_strided((2, 4), (4, 1), 0), bucket[8:].view(2, 4)
        torch._foreach_copy_([left, right], [x, x * 2])
        return left.view(8) + right.t().reshape(8)


def test_memory_that_nothing_has_filled_is_not_read() -> None:
    found = []
    for junk in (1.0, 2.0):
        module = Buckets()
        watch = TorchCapture(module)
        with watch.step():
            module(torch.arange(8.0).view(2, 4), junk)
        found.append(list(watch.capture().records()))
    kept = [[(r.key, r.digest) for r in each if not r.key.operator.startswith("Default/fill_")] for each in found]
    assert kept[0] == kept[1]
    types = [record.op_type for record in found[0] if record.key.io == "output"]
    assert "as_strided" not in types
    assert types.count("view") == 2  # of the batch, and of what was filled before it


def test_memory_that_was_filled_is_read() -> None:
    module = torch.nn.Identity()
    watch = TorchCapture(module)
    with watch.step():
        module(torch.empty(4).copy_(torch.arange(4.0)).view(2, 2))
        out = torch.empty(4)
        torch.add(torch.ones(4), 1, out=out)
        module(out.view(2, 2))
    views = [r.load() for r in watch.capture().records() if r.op_type == "view" and r.key.io == "output"]
    assert [each.tolist() for each in views if each is not None] == [[[0, 1], [2, 3]], [[2, 2], [2, 2]]]
