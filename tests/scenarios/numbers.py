"""What statistics say of numbers of several kinds, and where they are calculated."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness import Tensor, nn, ops
from tests.scenarios.adding import NEWER, Sum
from tests.scenarios.words import DATA, STATISTICS_REFUSED, Held, Scenario, kernel, parameter

HALF = np.array([1, -0.0, np.inf, 6e-8, -65504], np.float16)
ODD = np.array([np.nan, -1, 0, -np.inf, 65504], np.float16)
BITS = np.array([True, True, False, True])
OTHERS = np.array([True, False, False, True])
WHOLE = np.array([[2**62, -(2**62)], [3, 0]], np.int64)
BYTES = np.array([0, 7, 255], np.uint8)


class Kinds(nn.Cell):
    """Kernels of floats, bools and integers that do not touch each other."""

    def construct(self, half, odd, bits, others, whole):
        return half + odd, ops.logical_and(bits, others), ops.maximum(whole, whole)


GIVEN = {"half": HALF, "odd": ODD, "bits": BITS, "others": OTHERS, "whole": WHOLE}


def kinds():
    Kinds()(*[Tensor(value) for value in GIVEN.values()])


def of_kinds(device: str) -> Iterator[Held]:
    with np.errstate(all="ignore"):
        total = HALF + ODD
    yield from kernel("Default/Add-op0", [HALF, ODD], [total])
    yield from kernel("Default/LogicalAnd-op0", [BITS, OTHERS], [BITS & OTHERS])
    yield from kernel("Default/Maximum-op0", [WHOLE, WHOLE], [WHOLE])
    for name, value in GIVEN.items():
        yield parameter(name, value, DATA)


P, Q = np.array([1, 2, 3], np.float32), np.array([2, 2, -10], np.float32)


def three():
    Sum()(Tensor(P), Tensor(Q))


def of_three(device: str) -> Iterator[Held]:
    yield from kernel("Default/Add-op0", [P, Q], [P + Q])
    yield parameter("a", P, DATA)
    yield parameter("b", Q, DATA)


class Nested(nn.Cell):
    """Tuples in tuples."""

    def construct(self, first, second, third):
        return (first + second, (third, (first * third,)))


ONE, TWO, FOUR = (np.array([k, k + 0.5], np.float32) for k in (1, 2, 4))


def nested():
    Nested()(Tensor(ONE), Tensor(TWO), Tensor(FOUR))


def of_nested(device: str) -> Iterator[Held]:
    yield from kernel("Default/Add-op0", [ONE, TWO], [ONE + TWO])
    yield from kernel("Default/Mul-op0", [ONE, FOUR], [ONE * FOUR])
    for name, value in (("first", ONE), ("second", TWO), ("third", FOUR)):
        yield parameter(name, value, DATA)


ITEMS = (
    "count", "max", "min", "avg", "l2norm", "negative zero count", "positive zero count", "zero count", "nan count",
    "negative inf count", "positive inf count", "md5",
)  # fmt: skip

SCENARIOS = {
    "kinds": Scenario(kinds, of_kinds),
    "kinds_statistics": Scenario(
        kinds,
        of_kinds,
        {"saved_data": "full", "statistic_category": list(ITEMS)},
        refused={"cpu": STATISTICS_REFUSED},
    ),
    "hashes": Scenario(
        three,
        of_three,
        {"saved_data": "statistic", "statistic_category": ["hash", "hash:md5"]},
        refused={"cpu": STATISTICS_REFUSED},
        elsewhere=NEWER,
    ),
    "on_the_host": Scenario(
        three,
        of_three,
        {"saved_data": "statistic", "statistic_category": ["max", "min", "avg", "l2norm"]},
        {"stat_calc_mode": "host"},
        refused={"cpu": STATISTICS_REFUSED},
    ),
    "on_the_device": Scenario(
        three,
        of_three,
        {"saved_data": "statistic", "statistic_category": ["max", "min", "avg", "l2norm"]},
        {"stat_calc_mode": "device"},
        refused={"cpu": STATISTICS_REFUSED},
    ),
    "nested": Scenario(nested, of_nested),
}
