"""The bits of every way to compute, written down: the same under each version of numpy that is admitted.

``tox -e py311-lowest`` and the other environments of ``ci/other-pythons`` run this file with the oldest and the newest
numpy. A number here changes only together with the goldens.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from harness import Tensor, dtypes, ops
from harness.framework.ops import convolve, numerics
from harness.framework.ops.factor import Factor
from harness.stats import describe, digest

Array = np.ndarray[Any, np.dtype[Any]]
NARROW = (np.float16, ml_dtypes.bfloat16, np.float32)


def drawn(seed: int, *shape: int, powers: int = 4) -> Array:
    """float64 numbers of both signs over ``2 * powers`` exponents, some 0, by integer arithmetic alone: numpy may
    change what its distributions draw, never the words of its generator."""
    words = np.random.PCG64(seed).random_raw(2 * math.prod(shape))
    mantissa = (words[0::2] >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1
    power = (words[1::2] % np.uint64(2 * powers + 1)).astype(np.int64) - powers
    return np.where(words[1::2] >> np.uint64(60) == 0, 0.0, np.ldexp(mantissa, power)).reshape(shape)


def products() -> Iterable[Array]:
    for seed, (m, k, n) in enumerate([(1, 1, 1), (3, 700, 5), (40, 33, 64), (65, 130, 7)]):
        a, b = drawn(seed, m, k), drawn(seed + 100, k, n, powers=6)
        yield numerics.matmul(a, b)
        yield numerics.matmul(a + 1j * a[::-1], b)
        for kind in NARROW:
            yield numerics.matmul(a.astype(kind), b.astype(kind), dtypes.from_numpy(np.dtype(kind)))
        narrow = b.astype(np.float32).astype(np.float64)
        yield Factor(narrow).times(a)


def convolutions() -> Iterable[Array]:
    x, w = (drawn(at, *shape).astype(np.float32) for at, shape in enumerate([(2, 4, 9, 8), (6, 2, 3, 2)]))
    out = convolve.correlate(x, w, 2, ((2, 1), (1, 1)), dtypes.float32)
    yield out
    yield convolve.spread(out, w, 2, dtypes.float32, ((9, 8), (2, 1), (0, 0, 0, 0), (1, 1)))
    yield convolve.gather(out, x, w.shape, 2, ((2, 1), (1, 1)), dtypes.float32)


def sums() -> Iterable[Array]:
    x = drawn(7, 12, 5, 7, 3)
    for axes in (None, 0, 1, (0, 2, 3), (1, 3)):
        yield numerics.total(x, axes)
        yield numerics.mean(x, axes)


def functions() -> Iterable[Array]:
    x = drawn(8, 3000)
    for kind in NARROW:
        given = Tensor(x.astype(kind))
        for function in (ops.exp, ops.tanh, ops.sigmoid, ops.sin, ops.cos, ops.gelu, ops.erf, ops.sqrt):
            yield function(given).asnumpy()
        yield ops.log(ops.abs(given)).asnumpy()
        yield ops.softmax(given).asnumpy()


def statistics() -> Iterable[Array]:
    for kind in (*NARROW, np.float64):
        x = drawn(9, 70_001).astype(kind)
        name = dtypes.from_numpy(x.dtype).name
        found = describe(x, name)
        yield np.array([found.max, found.min, found.avg, found.l2norm])
        yield np.frombuffer(digest(x, name), np.uint8)


BITS = {
    convolutions: "9e7735a1c1e4d8a770bbc120e69ef4d8",
    functions: "56288e78849e7fd7409efed82105d1d6",
    products: "eb69d8cff4d54b9f9919fadbc643ee55",
    statistics: "24db91e6b54c9c0dcc658eaa13eebe9a",
    sums: "d11462456fb5df87f1f80c9c7d382deb",
}


@pytest.mark.usefixtures("every_dtype")
@pytest.mark.parametrize("way", BITS, ids=lambda way: way.__name__)
def test_the_bits_are_those_written_down(way: Callable[[], Iterable[Array]]) -> None:
    hasher = hashlib.sha256()
    for array in way():
        hasher.update(f"{array.dtype}{array.shape}".encode())
        hasher.update(np.ascontiguousarray(array).tobytes())
    assert hasher.hexdigest()[:32] == BITS[way]
