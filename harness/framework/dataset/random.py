"""The C++ library's random numbers that MindSpore's pipelines draw: the same seed gives the same orders and crops.

Source: the ISO C++ standard (``mt19937``, ``mt19937_64``), and libstdc++'s published distributions and ``shuffle``;
which of them MindSpore 2.10.0 uses where, measured (``tests/data/dataset/facts.json``).
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence, Sequence
from typing import Any

import numpy as np

_WORD32 = 2**32 - 1
_WORD64 = 2**64 - 1


class Mersenne32:
    """``std::mt19937``: calling it gives an int in [0, 2**32)."""

    def __init__(self, seed: int) -> None:
        self._source = np.random.RandomState(seed)

    def __call__(self) -> int:
        # One tempered word of the generator: a full-range draw takes it as it is.
        return int(self._source.randint(0, 2**32, dtype=np.uint32))

    def below(self, count: int) -> int:
        """``std::uniform_int_distribution(0, count - 1)``: an int in [0, count), count in [1, 2**32)."""
        scale = _WORD32 // count
        past = count * scale
        while (drawn := self()) >= past:
            pass
        return drawn // scale

    def real(self) -> float:
        """``std::generate_canonical<double, 53>``: a float in [0, 1), from two words, low one first."""
        low, high = self(), self()
        return min((low + high * 2.0**32) / 2.0**64, math.nextafter(1.0, 0.0))

    def real32(self) -> float:
        """``std::generate_canonical<float, 24>``: a float32 in [0, 1), from one word."""
        return float(min(np.float32(self()) / np.float32(2**32), np.nextafter(np.float32(1), np.float32(0))))

    def between(self, low: float, high: float) -> float:
        """``std::uniform_real_distribution<float>(low, high)``: a float32 in [low, high), from one word."""
        least = np.float32(low)
        return float(np.float32(self.real32()) * (np.float32(high) - least) + least)

    def chance(self, probability: float) -> bool:
        """``std::bernoulli_distribution``: True with ``probability``."""
        return self.real() < probability


class Normal32:
    """``std::normal_distribution<float>``: of each two numbers it makes the second is kept for the next call."""

    def __init__(self, random: Mersenne32) -> None:
        self._random = random
        self._kept: Any = None

    def __call__(self) -> Any:
        """A float32 with mean 0 and standard deviation 1."""
        if self._kept is not None:
            kept, self._kept = self._kept, None
            return kept
        two, one, square = np.float32(2), np.float32(1), np.float32(0)
        x = y = square
        while not 0 < square <= 1:
            x, y = two * np.float32(self._random.real32()) - one, two * np.float32(self._random.real32()) - one
            square = x * x + y * y
        factor = np.sqrt(np.float32(-2) * np.float32(math.log(square)) / square)
        self._kept = x * factor
        return y * factor


class Gamma32:
    """``std::gamma_distribution<float>(alpha, 1)``."""

    def __init__(self, random: Mersenne32, alpha: float) -> None:
        self._random, self._normal = random, Normal32(random)
        self._alpha = np.float32(alpha)
        self._more = self._alpha if self._alpha >= 1 else self._alpha + np.float32(1)
        self._scale = self._more - np.float32(1.0 / 3.0)
        self._spread = np.float32(1) / np.sqrt(np.float32(9) * self._scale)

    def __call__(self) -> Any:
        """A float32 above 0, or 0 where it is too small for one."""
        while True:
            cube = np.float32(0)
            drawn = np.float32(0)
            while cube <= 0:
                drawn = self._normal()
                cube = np.float32(1) + self._spread * drawn
            cube = cube * cube * cube
            share = self._random.real32()
            squeeze = float(np.float32(1)) - 0.0331 * float(drawn) ** 4
            bound = 0.5 * float(drawn * drawn) + float(self._scale) * (1.0 - float(cube) + math.log(cube))
            if share <= squeeze or (share > 0 and math.log(share) <= bound) or share == 0:
                break
        if self._alpha == self._more:
            return self._scale * cube
        share = 0.0
        while share == 0:
            share = self._random.real32()
        return np.float32(math.pow(share, float(np.float32(1) / self._alpha))) * self._scale * cube


class Mersenne64:
    """``std::mt19937_64``: calling it gives an int in [0, 2**64)."""

    _SIZE, _SHIFT = 312, 156

    def __init__(self, seed: int) -> None:
        state = [seed & _WORD64]
        for at in range(1, self._SIZE):
            state.append((6364136223846793005 * (state[-1] ^ (state[-1] >> 62)) + at) & _WORD64)
        self._state = state
        self._next = self._SIZE

    def _twist(self) -> None:
        state, size = self._state, self._SIZE
        for at in range(size):
            word = (state[at] & 0xFFFFFFFF80000000) | (state[(at + 1) % size] & 0x7FFFFFFF)
            state[at] = state[(at + self._SHIFT) % size] ^ (word >> 1) ^ (0xB5026F5AA96619E9 if word & 1 else 0)
        self._next = 0

    def __call__(self) -> int:
        if self._next >= self._SIZE:
            self._twist()
        word = self._state[self._next]
        self._next += 1
        word ^= (word >> 29) & 0x5555555555555555
        word ^= (word << 17) & 0x71D67FFFEDA60000
        word ^= (word << 37) & 0xFFF7EEE000000000
        return word ^ (word >> 43)


def shuffle(items: MutableSequence[Any], random: Mersenne32) -> None:
    """``std::shuffle`` in place: of few items, two places come from one drawn number."""
    count = len(items)
    if count < 2:
        return
    if _WORD32 // count < count:
        for at in range(1, count):
            other = random.below(at + 1)
            items[at], items[other] = items[other], items[at]
        return
    at = 1
    if count % 2 == 0:
        other = random.below(2)
        items[1], items[other] = items[other], items[1]
        at = 2
    while at < count:
        first, second = divmod(random.below((at + 1) * (at + 2)), at + 2)
        items[at], items[first] = items[first], items[at]
        items[at + 1], items[second] = items[second], items[at + 1]
        at += 2


def sampled(items: Sequence[Any], count: int, random: Mersenne32) -> list[Any]:
    """``std::sample``: ``count`` of few items in their order; the fates of two come from one drawn number."""
    made: list[Any] = []
    rest, left, at = len(items), min(count, len(items)), 0
    while left and rest >= 2:
        for fate in divmod(random.below(rest * (rest - 1)), rest - 1):
            rest -= 1
            if fate < left:
                made.append(items[at])
                left -= 1
            at += 1
            if not left:
                break
    if left:
        random.below(1)  # the fate of the last one is drawn, too
        made.append(items[at])
    return made
