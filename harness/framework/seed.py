"""The global seed, and the pairs of seeds random operators draw from it.

Source of the rules: MindSpore 2.10.0, measured (``tests/data/nn/initial_values.json``): the global seed also seeds
numpy's global generator, from which initializers take one 63-bit number a tensor.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

from harness import numpy_state
from harness.errors import SettingError, SettingTypeError

#: divisor that reduces seeds
_MODULUS = 2**31 - 1
#: the effective value of a global seed of 0
_SEED_OF_ZERO = 87654321
#: how far a counter moves with each operator created
_STRIDE = 3528531795 ^ 3449720151

#: MindSpore's seed of datasets if none was set
DATASET_SEED = 5489

_global: list[int | None] = [None]
_dataset: list[int] = [DATASET_SEED]
_counters: dict[tuple[str, int], int] = {}


def set_seed(seed: int) -> None:
    """Sets the global seed, as ``mindspore.set_seed``: also seeds Python's and numpy's global generators and datasets,
    and restarts all counters.

    Args:
        seed: an int of at least 0, below 2**32 (numpy's limit). ``SettingTypeError`` / ``SettingError`` otherwise.
    """
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise SettingTypeError(f"set_seed: the seed must be an int, got {type(seed).__name__} {seed!r}")
    if not 0 <= seed < 2**32:
        raise SettingError(f"set_seed: the seed must be in [0, 2**32), got {seed}")
    _seed_all(seed)
    _counters.clear()
    _global[0] = seed


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """``set_seed(seed)`` within the block; afterwards every generator and counter has its former state."""
    before = _global[0], _dataset[0], dict(_counters), random.getstate(), numpy_state.taken()
    set_seed(seed)
    try:
        yield
    finally:
        _global[0], _dataset[0] = before[:2]
        _counters.clear()
        _counters.update(before[2])
        random.setstate(before[3])
        numpy_state.restore(before[4])


def _seed_all(seed: int) -> None:
    random.seed(seed)
    numpy_state.seed(seed)
    _dataset[0] = seed


def set_dataset_seed(seed: int) -> None:
    """Sets the seed of datasets, as ``mindspore.dataset.config.set_seed``, which also seeds Python's and numpy's global
    generators: an int in [0, 2**32). ``SettingTypeError`` / ``SettingError`` otherwise."""
    check_dataset_seed(seed)
    _seed_all(seed)


def check_dataset_seed(seed: int) -> None:
    """Raises as ``set_dataset_seed`` does, without an effect."""
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise SettingTypeError(f"dataset.config.set_seed: the seed must be an int, got {type(seed).__name__}")
    if not 0 <= seed < 2**32:
        raise SettingError(f"dataset.config.set_seed: the seed must be in [0, 2**32), got {seed}")


def get_dataset_seed() -> int:
    """The seed of datasets: the one set last, or MindSpore's default."""
    return _dataset[0]


def get_seed() -> int | None:
    """The global seed; None if none was set."""
    return _global[0]


def operator_seeds(kernel: str, seed: int = 0) -> tuple[int, int]:
    """The pair of seeds for the next random operator of a kind; each call gives another pair.

    Args:
        kernel: kind of operator (``"dropout"``); each has its own counter.
        seed: the operator's own seed, at least 0.

    Returns:
        (seed from the global one, seed from the counter), each below 2**31 - 1; (0, 0), meaning *draw one*, where
        neither a global seed nor an operator's is set.
    """
    if seed < 0:
        raise SettingError(f"{kernel}: a seed must be at least 0, got {seed}")
    given = _global[0]
    base = 0 if given is None else given or _SEED_OF_ZERO
    if base == 0 and seed == 0:
        return 0, 0
    count = _counters.get((kernel, seed), seed)
    _counters[kernel, seed] = count + _STRIDE
    return base % _MODULUS, count % _MODULUS
