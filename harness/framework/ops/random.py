"""The streams of random operators, as MindSpore's CPU kernels draw them.

Source of the rules: MindSpore 2.10.0 CPU, measured (``tests/data/ops/drawn.json``). One block of Philox scrambles the
two seeds of an operator into 64 bits, and these seed an engine of C++'s library, ``minstd_rand0`` or ``mt19937``. A
node of a graph draws on from its engine at each run; so does a primitive that is called in PyNative mode, with
arguments of the same shapes and dtypes. Two of them with the same seeds draw the same.

Operators whose kernels were not measured draw from numpy's Philox instead, whose raw words stay the same in every
release (``uniform`` and ``normal``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

from harness.framework.ops import philox
from harness.framework.ops.base import Call
from harness.framework.ops.numerics import widest

Array = np.ndarray[Any, np.dtype[Any]]
T = TypeVar("T")

#: the key that scrambles seeds
_KEY = 0x02461E293EC8F720
#: modulus and multiplier of ``minstd_rand0``, and the largest float32 below 1
_MODULUS, _MULTIPLIER = 2**31 - 1, 16807
_BELOW_ONE = np.float32(1 - 2.0**-24)
#: words of ``minstd_rand0`` made at once
_BLOCK = 1 << 14


def scrambled(seed: int, seed2: int) -> int:
    """The 64 bits that a kernel's engine is seeded with."""
    low, high = philox.words(_KEY, seed2 % 2**64, 2, seed % 2**64).tolist()
    return int(high << 32 | low)


def _reduced(products: Array) -> Array:
    """Numbers below 2**62 by ``_MODULUS``."""
    folded = (products & np.uint64(_MODULUS)) + (products >> np.uint64(31))
    return np.where(folded >= _MODULUS, folded - np.uint64(_MODULUS), folded)


def _powers(count: int) -> Array:
    powers = np.empty(count, np.uint64)
    powers[0], made = _MULTIPLIER, 1
    while made < count:
        more = min(made, count - made)
        powers[made : made + more] = _reduced(powers[:more] * powers[made - 1])
        made += more
    return powers


class Minstd:
    """``minstd_rand0``: words in [1, 2**31 - 2]."""

    #: the largest word less the least
    width = _MODULUS - 2
    _table = _powers(_BLOCK)

    def __init__(self, seed: int) -> None:
        self._last = seed % _MODULUS or 1

    def words(self, count: int) -> Array:
        """The next ``count`` words, less the least (uint64)."""
        parts = [np.empty(0, np.uint64)]
        for at in range(0, count, _BLOCK):
            parts.append(_reduced(self._table[: count - at] * np.uint64(self._last)))
            self._last = int(parts[-1][-1])
        return np.concatenate(parts) - np.uint64(1)

    def uniform(self, count: int) -> Array:
        """Float32 numbers in [0, 1), one word each."""
        return np.asarray(np.minimum(self.words(count).astype(np.float32) / np.float32(2.0**31), _BELOW_ONE))

    def normal(self, count: int) -> Array:
        """Float32 numbers of the standard normal distribution, by pairs in the unit disc (Marsaglia's method)."""
        made = [np.empty(0, np.float32)]
        while (missing := count - sum(map(len, made))) > 0:
            # As many pairs as are missing at best: no word is taken that the last number does not need.
            x, y = (np.float32(2) * self.uniform(2 * (-(-missing // 2))) - np.float32(1)).reshape(-1, 2).T
            square = x * x + y * y
            fits = (square <= 1) & (square != 0)
            x, y, square = x[fits], y[fits], square[fits]
            factor = np.sqrt(np.float32(-2) * widest(np.log, square).astype(np.float32) / square)
            made.append(np.stack([y * factor, x * factor], 1).reshape(-1))
        return np.concatenate(made)[:count]


class Twister:
    """``mt19937``: words of 32 bits."""

    #: the largest word less the least
    width = 2**32 - 1

    def __init__(self, seed: int) -> None:
        self._generator = np.random.MT19937()
        self._generator._legacy_seeding(seed % 2**32)

    def words(self, count: int) -> Array:
        """The next ``count`` words (uint64)."""
        return np.asarray(self._generator.random_raw(count), np.uint64)

    def uniform(self, count: int) -> Array:
        """Float64 numbers in [0, 1), two words each."""
        low, high = self.words(2 * count).astype(np.float64).reshape(-1, 2).T
        return np.minimum((low + high * 2.0**32) / 2.0**64, 1 - 2.0**-53)


Engine = Minstd | Twister


def below(engine: Engine, end: int, count: int) -> Array:
    """``count`` numbers (int64) in [0, end), all alike: C++'s ``uniform_int_distribution``."""
    share = engine.width // end
    made: list[Array] = []
    missing = count
    while missing > 0:
        words = engine.words(missing)
        made.append(words[words < share * end] // np.uint64(share))
        missing -= len(made[-1])
    return np.concatenate([np.empty(0, np.uint64), *made]).astype(np.int64)


def _below_each(engine: Engine, ends: Array) -> list[int]:
    """One number in [0, end) for each of ``ends``, as ``below``; a word that does not serve moves all later ones."""
    shares = np.uint64(engine.width) // ends
    made: list[int] = []
    left = np.empty(0, np.uint64)
    while len(made) < len(ends):
        at = slice(len(made), None)
        words = np.concatenate([left, engine.words(len(ends) - len(made) - len(left))])
        fits = words < shares[at] * ends[at]
        good = len(words) if fits.all() else int(fits.argmin())
        made += (words[:good] // shares[at][:good]).tolist()
        left = words[good + 1 :]
    return made


def shuffled(engine: Engine, count: int) -> Array:
    """The numbers below ``count`` in a drawn order: C++'s ``shuffle``, which draws two places at once where their
    product fits in a word."""
    order = list(range(count))
    places: list[int] = []
    if count and engine.width // count >= count:
        if count % 2 == 0:
            places += below(engine, 2, 1).tolist()
        for size in range(len(places) + 2, count, 2):
            places += divmod(int(below(engine, size * (size + 1), 1)[0]), size + 1)
    else:
        places += _below_each(engine, np.arange(2, count + 1, dtype=np.uint64))
    for at, place in enumerate(places, 1):
        order[at], order[place] = order[place], order[at]
    return np.array(order, np.int64)


def drawn(call: Call, made: Callable[[int], Engine], seed: int, draw: Callable[[Any], T]) -> T:
    """What ``draw`` takes from the engine ``made(seed)`` in this run of the node (``call.state`` keeps both; where it
    has only the number of runs, the earlier ones are drawn again)."""
    state = call.state
    runs = int(state.get("runs", 0))
    engine = state.get("engine")
    if engine is None:
        engine = state["engine"] = made(seed)
        for _ in range(runs):
            draw(engine)
    state["runs"] = runs + 1
    return draw(engine)


#: operators that draw on where a primitive is called again in PyNative mode
CONTINUING = frozenset(
    (
        "Dropout", "LogUniformCandidateSampler", "Multinomial", "RandomCategorical", "RandomChoiceWithMask",
        "RandomGamma", "RandomPoisson", "RandomShuffle", "StandardLaplace", "StandardNormal",
        "UniformCandidateSampler", "UniformInt", "UniformReal",
    )
)  # fmt: skip

#: what the primitive that is being called keeps, by its operator, shapes and dtypes
_kept: ContextVar[dict[Any, dict[str, Any]] | None] = ContextVar("kept", default=None)


@contextmanager
def keeping(kept: dict[Any, dict[str, Any]]) -> Iterator[None]:
    """Within the block operators that run at once draw on from what ``kept`` holds."""
    token = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(token)


_alone: ContextVar[bool] = ContextVar("alone", default=False)


@contextmanager
def alone() -> Iterator[None]:
    """Traces a gradient outside of graphs within the block: operators draw on where their primitives stopped."""
    token = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(token)


def is_alone() -> bool:
    """Whether a gradient outside of graphs is traced."""
    return _alone.get()


#: what calls of functions without a seed keep, so that each of them draws other numbers
_unseeded: dict[Any, dict[str, Any]] = {}


def state_of(call: Call) -> dict[str, Any]:
    """The state of a call that runs at once, or in a gradient outside of graphs."""
    kept = _kept.get()
    if kept is None:
        seeds = call.values[2:4] if call.op == "Dropout" else (call.attrs.get("seed"), call.attrs.get("seed2", 0))
        if any(seeds):
            return {}
        kept = _unseeded
    return kept.setdefault((call.op, call.inputs, call.out), {})


def words(call: Call, seeds: tuple[int, int], count: int) -> Array:
    """``count`` words (uint64) of numpy's Philox keyed by ``seeds``, for this run of the node."""
    run = int(call.state.get("runs", 0))
    call.state["runs"] = run + 1
    key = np.array([s % 2**64 for s in seeds], np.uint64)
    generator = np.random.Philox(key=key, counter=np.array([0, 0, run, 0], np.uint64))
    return np.asarray(generator.random_raw(count), np.uint64)


def uniform(call: Call, seeds: tuple[int, int], count: int) -> Array:
    """``count`` float64 values, uniform in [0, 1) with 53 bits."""
    return (words(call, seeds, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normal(call: Call, seeds: tuple[int, int], count: int) -> Array:
    """``count`` float64 values of the standard normal distribution (Box and Muller)."""
    half = -(-count // 2)
    both = uniform(call, seeds, 2 * half).astype(np.longdouble)
    radius = np.sqrt(-2 * np.log1p(-both[:half]))
    angle = 2 * np.longdouble("3.14159265358979323846264338327950288") * both[half:]
    values = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    return np.asarray(values[:count], np.float64)
