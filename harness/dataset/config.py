"""``mindspore.dataset.config``: the seed of orders."""

from __future__ import annotations

import numpy as np

from harness import seed as _seed
from harness.errors import SettingError, SettingTypeError

__all__ = ["get_seed", "random_state", "set_seed"]

#: MindSpore's default
DEFAULT = 5489
_chosen: list[int | None] = [None]


def set_seed(seed: int) -> None:
    """Sets the seed of orders; an int in [0, 2**32)."""
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise SettingTypeError(f"dataset.config.set_seed: the seed must be an int, got {type(seed).__name__}")
    if not 0 <= seed < 2**32:
        raise SettingError(f"dataset.config.set_seed: the seed must be in [0, 2**32), got {seed}")
    _chosen[0] = seed


def get_seed() -> int:
    """The seed set here, or the global one, or MindSpore's default."""
    for given in (_chosen[0], _seed.get_seed()):
        if given is not None:
            return given
    return DEFAULT


def random_state(seed: int, epoch: int) -> np.random.RandomState:
    """What an epoch's order is drawn from: the same for equal arguments, on every machine and version."""
    return np.random.RandomState([seed, epoch])
