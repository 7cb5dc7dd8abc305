"""One-pass statistics and digests, beside numpy's separate passes: ``python -m benchmarks.bench_stats``."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks._measure import Contender, run_and_show
from benchmarks._pages import printed
from harness import dtypes
from harness.stats import describe, digest
from harness.stats.blocks import BLOCK, LANES

Array = np.ndarray[Any, np.dtype[Any]]

#: Bytes of the array; larger than any cache.
SIZE = 64 * 2**20


def ten_passes(x: Array) -> tuple[Any, ...]:
    """The same statistics, one numpy call (or two) each, sums in float64."""
    return (
        x.max(), x.min(), x.mean(dtype=np.float64), np.sqrt(np.sum(np.square(x, dtype=np.float64))),
        np.count_nonzero(np.isnan(x)), np.count_nonzero(x == np.inf), np.count_nonzero(x == -np.inf),
        np.count_nonzero(x == 0), np.count_nonzero(x < 0), np.count_nonzero(x > 0),
    )  # fmt: skip


def ten_passes_single(x: Array) -> tuple[Any, ...]:
    """The same with sums in float32, which is less accurate."""
    return (
        x.max(), x.min(), x.mean(), np.sqrt(np.sum(np.square(x))),
        np.count_nonzero(np.isnan(x)), np.count_nonzero(x == np.inf), np.count_nonzero(x == -np.inf),
        np.count_nonzero(x == 0), np.count_nonzero(x < 0), np.count_nonzero(x > 0),
    )  # fmt: skip


def calls_alone(x: Array, sums: str = "") -> None:
    """The calls of numpy that ``describe`` cannot do without, and nothing else: what it could take at the least.

    Args:
        sums: another way to the same bits of the sums: squares multiplied and added by one call (``einsum``), or
            numbers converted while they are added (``reduce``).
    """
    wide, single, mask = np.empty(BLOCK), np.empty(LANES), np.empty(BLOCK, np.bool_)
    table = wide.reshape(-1, LANES)
    for at in range(0, x.size, BLOCK):
        block = x[at : at + BLOCK]
        np.maximum.reduce(block), np.minimum.reduce(block)
        np.count_nonzero(np.less(block, 0, out=mask))
        np.copyto(wide, block)
        if sums == "reduce":
            np.add.reduce(block.reshape(-1, LANES), axis=0, dtype=np.float64, out=single)
        else:
            np.add.reduce(table, axis=0, out=single)
        if sums == "einsum":
            np.einsum("ij,ij->j", table, table, out=single)
        else:
            np.multiply(wide, wide, out=wide)
            np.add.reduce(table, axis=0, out=single)


def rate(seconds: float) -> str:
    return f"{SIZE / seconds / 1e9:6.2f} GB/s"


def main() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(SIZE // 4).astype(np.float32)
    relu, target = np.maximum(x, 0), np.empty_like(x)
    run_and_show(
        f"Statistics of {SIZE >> 20} MiB of float32 (over ten numpy passes; goals: 5 times faster, 4 with a digest)",
        [
            Contender("ten numpy passes, float64 sums", lambda: ten_passes(x), note=rate),
            Contender("ten numpy passes, float32 sums", lambda: ten_passes_single(x), note=rate),
            Contender("describe", lambda: describe(x, "Float32"), 0.2, rate),
            Contender("describe, half zeros", lambda: describe(relu, "Float32"), 0.2, rate),
            Contender("its calls of numpy alone", lambda: calls_alone(x), note=rate),
            Contender("  squares by einsum", lambda: calls_alone(x, "einsum"), note=rate),
            Contender("  converted by add.reduce", lambda: calls_alone(x, "reduce"), note=rate),
            Contender("digest", lambda: digest(x, "Float32"), note=rate),
            Contender("numpy.max alone", lambda: x.max(), note=rate),
            Contender("np.copyto", lambda: np.copyto(target, x), note=rate),
        ],
        rounds=7,
    )
    contenders = []
    for dtype in dtypes.ALL:
        array = rng.integers(0, 2, SIZE // 8 // dtype.itemsize).astype(dtype.numpy)
        contenders.append(
            Contender(
                dtype.name,
                lambda a=array, n=dtype.name: describe(a, n),  # type: ignore[misc]
                note=lambda s: f"{SIZE / 8 / s / 1e9:6.2f} GB/s",
            )
        )
    run_and_show(f"describe, {SIZE >> 23} MiB of every dtype", contenders, rounds=3)
    small = x[:1024].copy()
    calls = 2000
    run_and_show(
        f"{calls} arrays of 4 KB",
        [
            Contender("ten numpy passes", lambda: [ten_passes(small) for _ in range(calls)]),
            Contender("describe", lambda: [describe(small, "Float32") for _ in range(calls)],
                      note=lambda s: f"{s / calls * 1e6:.1f} us each"),
            Contender("digest", lambda: [digest(small, "Float32") for _ in range(calls)],
                      note=lambda s: f"{s / calls * 1e6:.2f} us each"),
        ],
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(printed("performance.md", "stats", main))
