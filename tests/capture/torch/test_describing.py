"""Fast kernels compute the statistics of ``harness.stats``: sums to six digits, all others exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from harness.capture.torch.describing import Bulk, described  # noqa: E402
from harness.capture.torch.values import Scratch  # noqa: E402
from harness.stats import Statistics, describe  # noqa: E402

pytestmark = pytest.mark.interop

SPECIAL = st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 1e-40, -3e38])
KINDS = st.sampled_from(["both", "positive", "negative", "relu", "zeros", "negative zeros"])


def numbers(kind: str, size: int, scale: float) -> np.ndarray:
    plain = (np.random.RandomState(size).standard_normal(size) * scale).astype(np.float32)
    return {
        "both": plain, "positive": np.abs(plain), "negative": -np.abs(plain), "relu": np.maximum(plain, 0),
        "zeros": np.zeros_like(plain), "negative zeros": np.full_like(plain, -0.0),
    }[kind]  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(
    KINDS,
    st.integers(1, 20000) | st.just(1_100_000),
    st.sampled_from([1.0, 1e-3, 1e-13, 1e-30, 1e-42, 1e14, 1e20, 1e37]),
    st.lists(st.tuples(st.integers(0, 19999), SPECIAL), max_size=2),
)
def test_as_harness_stats(kind: str, size: int, scale: float, changes: list[tuple[int, float]]) -> None:
    with np.errstate(all="ignore"):
        array = numbers(kind, size, scale)
    for at, value in changes:
        array[at % size] = value
    same(describe(array, "Float32"), described(array, "Float32"))
    bulk, parts = Bulk(), [array, array[::-1], array[: size // 2 + 1], array[-1:]]
    together = [bulk.add(each.tobytes()) for each in parts]
    bulk.flush()
    for part, found in zip(parts, together, strict=True):
        same(describe(part, "Float32"), found)


def same(wanted: Statistics, found: Statistics) -> None:
    for field in wanted.__dataclass_fields__:
        one, other = getattr(wanted, field), getattr(found, field)
        if math.isnan(one):
            assert math.isnan(other), field
        elif field == "avg":
            assert other == pytest.approx(one, abs=1e-6 * max(abs(wanted.max), abs(wanted.min))), field
        elif field == "l2norm":
            assert other == pytest.approx(one, rel=1e-6), field
        else:
            assert (one, math.copysign(1, one)) == (other, math.copysign(1, other)), field


@pytest.mark.parametrize("largest", [0, 2**20])
def test_copies_in_memory_that_is_used_again(monkeypatch: pytest.MonkeyPatch, largest: int) -> None:
    monkeypatch.setattr(Scratch, "LARGEST", largest)
    scratch = Scratch()
    plain = torch.arange(24.0, requires_grad=True).reshape(2, 3, 4)
    for tensor in (
        plain.transpose(0, 2), plain.to(torch.int16).permute(2, 0, 1), torch.complex(plain, -plain).conj().mT,
        plain[:, ::2], plain,
    ):  # fmt: skip
        found = scratch.dense(tensor)
        assert found.is_contiguous()
        assert not found.requires_grad
        assert torch.equal(found, tensor.detach())


def test_sums_of_rows_without_numpy_2(monkeypatch: pytest.MonkeyPatch) -> None:
    array = numbers("both", 20000, 1.0)
    newer = described(array, "Float32")
    monkeypatch.setattr("harness.capture.torch.describing._VECDOT", None)
    same(newer, described(array, "Float32"))
