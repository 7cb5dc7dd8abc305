"""Matrix products and convolutions over their size, beside numpy's float64 product: ``python -m benchmarks products``.

One thread: OpenBLAS reads ``OPENBLAS_NUM_THREADS`` when it is loaded, so it is set before numpy is imported.
"""

from __future__ import annotations

import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from benchmarks._measure import Contender, run_and_show
from benchmarks._pages import printed
from harness import dtypes
from harness.framework.ops import convolve, numerics

#: sizes of square matrices
SIZES = (16, 64, 256, 1024, 2048, 4096)
#: ratios to numpy's float64 product that are promised from this size on
FROM, NARROW, WIDE = 256, 3.0, 8.0


def products(size: int) -> list[Contender]:
    """``numerics.matmul`` of float32 and of float64 factors, beside ``numpy.matmul``."""
    random = np.random.default_rng(0)
    a, b = random.standard_normal((size, size)), random.standard_normal((size, size))
    x, y = a.astype(np.float32), b.astype(np.float32)
    calls = max(1, (256 // size) ** 2)
    is_promised = size >= FROM
    return [
        Contender("numpy, float64", lambda: [a @ b for _ in range(calls)]),
        Contender(
            "float32, rounded once",
            lambda: [numerics.matmul(x, y, dtypes.float32) for _ in range(calls)],
            NARROW if is_promised else None,
        ),
        Contender(
            "float64, rounded once",
            lambda: [numerics.matmul(a, b, dtypes.float64) for _ in range(calls)],
            WIDE if is_promised else None,
        ),
    ]


def convolution(channels: int, side: int) -> list[Contender]:
    """A 3 x 3 convolution and its gradients, beside the product of matrices they are."""
    random = np.random.default_rng(0)
    x = random.standard_normal((4, channels, side + 2, side + 2)).astype(np.float32)
    weight = random.standard_normal((channels, channels, 3, 3)).astype(np.float32)
    dout = random.standard_normal((4, channels, side, side)).astype(np.float32)
    left, right = random.standard_normal((channels, channels * 9)), random.standard_normal((channels * 9, 4 * side**2))
    steps = ((1, 1), (1, 1))
    geometry = ((side, side), (1, 1), (1, 1, 1, 1), (1, 1))
    return [
        Contender("numpy, float64 product of its size", lambda: left @ right),
        Contender("convolution", lambda: convolve.correlate(x, weight, 1, steps, dtypes.float32)),
        Contender("for the images", lambda: convolve.spread(dout, weight, 1, dtypes.float32, geometry)),
        Contender("for the filters", lambda: convolve.gather(dout, x, weight.shape, 1, steps, dtypes.float32)),
    ]


def main() -> None:
    for size in SIZES:
        run_and_show(f"Square matrices of {size}", products(size), rounds=3 if size < SIZES[-1] else 1)
    for channels, side in ((16, 64), (64, 32), (256, 16)):
        run_and_show(f"3 x 3, {channels} channels, 4 images of {side} x {side}", convolution(channels, side), rounds=3)


if __name__ == "__main__":
    sys.exit(printed("performance.md", "products", main))
