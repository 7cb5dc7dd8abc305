"""Which rows of a source an epoch has, and in which order: ``mindspore.dataset``'s samplers.

Source: MindSpore 2.10.0, measured (``tests/data/dataset/facts.json``).
"""

from __future__ import annotations

import bisect
import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset import config
from harness.framework.dataset.checks import flag, noted, samples, whole
from harness.framework.dataset.random import Mersenne32, shuffle

Ids = Sequence[int]


class Shuffle(StrEnum):
    """Kinds of orders; of a source here only ``GLOBAL`` and ``FALSE``."""

    GLOBAL = "global"
    FILES = "files"
    INFILE = "infile"
    FALSE = "false"
    ADAPTIVE = "adaptive"
    PARTIAL = "partial"


class BuiltinSampler(ABC):
    """Base: ``orders`` gives the rows of one epoch after the other."""

    def __init__(self, num_samples: int | None = None) -> None:
        owner = type(self).__name__
        self.num_samples = samples(num_samples, owner)
        self.child_sampler: BuiltinSampler | None = None

    def add_child(self, sampler: BuiltinSampler) -> None:
        """Lets this sampler choose among what ``sampler`` gives."""
        if self.child_sampler is not None:
            raise StateError(f"{type(self).__name__}: it has a child sampler")
        if not isinstance(sampler, BuiltinSampler):
            raise SettingTypeError(f"add_child: a sampler is needed, got {sampler!r}")
        self.child_sampler = sampler

    def get_child(self) -> BuiltinSampler | None:
        """See ``add_child``."""
        return self.child_sampler

    def get_num_samples(self) -> int | None:
        """At most how many rows an epoch has; None for all."""
        return self.num_samples

    @abstractmethod
    def own_orders(self, total: int, seed: int) -> Iterator[Ids]:
        """Ids below ``total`` of one epoch after the other."""

    @abstractmethod
    def own_count(self, total: int) -> int:
        """How many ids an epoch has."""

    def orders(self, total: int, seed: int) -> Iterator[Ids]:
        """Ids of one epoch after the other, of a source with ``total`` rows; ``StateError`` for an id it lacks."""
        if self.child_sampler is None:
            yield from (_checked(ids, total, self) for ids in self.own_orders(total, seed))
            return
        below = self.child_sampler.count(total)
        for own, given in zip(self.own_orders(below, seed), self.child_sampler.orders(total, seed), strict=False):
            yield [given[at] for at in _checked(own, below, self)]

    def count(self, total: int) -> int:
        """How many rows an epoch has, of a source with ``total``."""
        return self.own_count(total if self.child_sampler is None else self.child_sampler.count(total))

    def is_shuffled(self) -> bool:
        """Whether the order is drawn, here or by the child sampler."""
        return self.draws() or (self.child_sampler is not None and self.child_sampler.is_shuffled())

    def is_sharded(self) -> bool:
        """Whether this sampler or its child gives one share of several."""
        shards = getattr(self, "num_shards", 1)
        return shards > 1 or (self.child_sampler is not None and self.child_sampler.is_sharded())

    def draws(self) -> bool:
        """Whether this sampler draws an order."""
        return False

    def _at_most(self, count: int) -> int:
        return min(count, self.num_samples) if self.num_samples else count


def _checked(ids: Ids, total: int, sampler: BuiltinSampler) -> Ids:
    if len(ids) and not 0 <= min(ids) <= max(ids) < total:
        wrong = next(each for each in ids if not 0 <= each < total)
        raise StateError(f"{type(sampler).__name__}: it chose row {wrong} of {total}")
    return ids


class SequentialSampler(BuiltinSampler):
    """Rows in order, from ``start_index`` on."""

    def __init__(self, start_index: int | None = None, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.start_index = 0 if start_index is None else whole(start_index, "start_index", "SequentialSampler", 0)

    def own_orders(self, total: int, seed: int) -> Iterator[Ids]:
        return itertools.repeat(range(self.start_index, self.start_index + self.own_count(total)))

    def own_count(self, total: int) -> int:
        return self._at_most(max(0, total - self.start_index))


class RandomSampler(BuiltinSampler):
    """All rows, or ``num_samples`` of them, in another order each epoch; ``replacement``: each drawn from all."""

    def __init__(
        self, replacement: bool = False, num_samples: int | None = None, shuffle: Shuffle = Shuffle.GLOBAL
    ) -> None:
        super().__init__(num_samples)
        self.replacement = flag(replacement, "replacement", "RandomSampler")
        if shuffle != Shuffle.GLOBAL:
            raise SettingError(f"RandomSampler: shuffle must be Shuffle.GLOBAL, got {shuffle!r}")
        self.reshuffle_each_epoch = True

    def draws(self) -> bool:
        return True

    def own_orders(self, total: int, seed: int) -> Iterator[Ids]:
        ids = list(range(total))
        for epoch in itertools.count():
            random = Mersenne32((seed + epoch) % 2**32)
            if self.replacement:
                yield [random.below(total) for _ in range(self.own_count(total))]
                continue
            if not epoch or self.reshuffle_each_epoch:
                shuffle(ids, random)
            yield ids[: self.own_count(total)]

    def own_count(self, total: int) -> int:
        return self._at_most(total)


class DistributedSampler(BuiltinSampler):
    """Every ``num_shards``-th row from ``shard_id`` on, from the start again where they do not divide the rows."""

    def __init__(
        self,
        num_shards: int,
        shard_id: int,
        shuffle: bool | Shuffle = True,
        num_samples: int | None = None,
        offset: int = -1,
    ) -> None:
        super().__init__(num_samples)
        self.num_shards, self.shard_id = sharding(num_shards, shard_id)
        if not isinstance(shuffle, (bool, Shuffle)):
            raise SettingTypeError(f"DistributedSampler: shuffle must be a bool, got {shuffle!r}")
        if shuffle not in (True, False, Shuffle.GLOBAL, Shuffle.FALSE):
            raise StateError(f"DistributedSampler: shuffle must be Shuffle.GLOBAL or Shuffle.FALSE, got {shuffle}")
        self.shuffle = shuffle in (True, Shuffle.GLOBAL)
        self.offset = whole(offset, "offset", "DistributedSampler", -1)
        if self.offset >= self.num_shards:
            raise StateError(f"DistributedSampler: offset must be below num_shards {num_shards}, got {offset}")
        # Unlike others it keeps the seed of when it was made, and draws from the next one.
        self.seed = config.get_seed() + 1

    def draws(self) -> bool:
        return self.shuffle

    def own_orders(self, total: int, seed: int) -> Iterator[Ids]:
        ids = list(range(total))
        offset = max(0, self.offset)
        for epoch in itertools.count():
            if self.shuffle:
                shuffle(ids, Mersenne32((self.seed + epoch) % 2**32))
            first = self.shard_id - offset
            first += self.num_shards if first < 0 else 0
            yield [ids[(first + self.num_shards * at) % total] for at in range(self.own_count(total))]

    def own_count(self, total: int) -> int:
        if self.offset == -1:
            return self._at_most(-(-total // self.num_shards))
        share, rest = divmod(total + self.offset, self.num_shards)
        return self._at_most(share + (self.shard_id < rest) - (self.shard_id < self.offset))


class SubsetSampler(BuiltinSampler):
    """Rows with these numbers, in this order."""

    def __init__(self, indices: Any, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        owner = type(self).__name__
        given = [indices] if isinstance(indices, (int, np.integer)) else indices
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise SettingTypeError(f"{owner}: indices must be numbers of rows, got {indices!r}")
        items = list(itertools.islice(given, num_samples))
        wrong = [item for item in items if not isinstance(item, (int, np.integer))]
        if wrong:
            raise SettingTypeError(f"{owner}: indices must be ints, got {wrong[0]!r}")
        self.indices = [int(item) for item in items]

    def own_orders(self, total: int, seed: int) -> Iterator[Ids]:
        return itertools.repeat(self.indices)

    def own_count(self, total: int) -> int:
        return len(self.indices)


class SubsetRandomSampler(SubsetSampler):
    """Rows with these numbers, in another order each epoch."""

    def draws(self) -> bool:
        return True

    def own_orders(self, total: int, seed: int) -> Iterator[Ids]:
        ids = list(self.indices)
        while True:
            shuffle(ids, Mersenne32(seed))
            yield list(ids)


class WeightedRandomSampler(BuiltinSampler):
    """``num_samples`` rows, at most as many as there are, drawn with probabilities in proportion to ``weights``.

    They are the same in each epoch.
    """

    def __init__(self, weights: Any, num_samples: int | None = None, replacement: bool = True) -> None:
        super().__init__(num_samples)
        self.weights = weights if isinstance(weights, list) else [weights]
        for weight in self.weights:
            if isinstance(weight, bool) or not isinstance(weight, (int, float, np.number)):
                raise SettingTypeError(f"WeightedRandomSampler: weights must be numbers, got {weight!r}")
        if not self.weights or min(self.weights) < 0 or not max(self.weights) > 0:
            raise StateError("WeightedRandomSampler: weights must be at least 0, and one above 0")
        if not flag(replacement, "replacement", "WeightedRandomSampler"):
            raise StateError("WeightedRandomSampler: replacement=False is not supported")

    def draws(self) -> bool:
        return True

    def own_orders(self, total: int, seed: int) -> Iterator[Ids]:
        shares = [float(weight) for weight in self.weights]
        whole_sum = sum(shares)
        bounds = list(itertools.accumulate(share / whole_sum for share in shares))
        bounds[-1] = 1.0
        while True:
            random = Mersenne32(seed)
            yield [bisect.bisect_left(bounds, random.real()) for _ in range(self.own_count(total))]

    def own_count(self, total: int) -> int:
        return self._at_most(total)


class Sampler(BuiltinSampler):
    """Base of a user's sampler, which overrides ``__iter__``: numbers of rows; ``reset`` is called before an epoch."""

    def __init__(self, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.dataset_size = 0

    def __iter__(self) -> Iterator[int]:
        raise StateError(f"{type(self).__name__} must override __iter__")

    def reset(self) -> None:
        """Called before an epoch."""

    def _indices(self, total: int) -> list[int]:
        self.dataset_size = total
        return [int(each) for each in itertools.islice(iter(self), self.num_samples or None)]

    def own_orders(self, total: int, seed: int) -> Iterator[Ids]:
        while True:
            yield self._indices(total)
            self.reset()

    def own_count(self, total: int) -> int:
        return len(self._indices(total))


class IterSampler(Sampler):
    """A user's iterable as a sampler."""

    def __init__(self, sampler: Iterable[int], num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.sampler = sampler

    def __iter__(self) -> Iterator[int]:
        return iter(self.sampler)


def sharding(num_shards: Any, shard_id: Any) -> tuple[int, int]:
    """(how many shards, which one); ``SettingTypeError`` / ``SettingError`` unless both fit."""
    count, place = whole(num_shards, "num_shards", "dataset", 1), whole(shard_id, "shard_id", "dataset", 0)
    if place >= count:
        raise noted(SettingError("shard_id should be less than num_shards."), place, "shard_id", f"{count} shards")
    return count, place


def half_sharded(num_shards: Any) -> str:
    """What is said of ``num_shards`` without ``shard_id``, or the other way round, in sources of files."""
    if num_shards is None:
        return "shard_id is specified but num_shards is not."
    return "num_shards is specified and currently requires shard_id as well."


def chosen(
    sampler: Any, shuffled: bool | Shuffle | None, num_samples: int | None, num_shards: int | None, shard_id: int | None
) -> BuiltinSampler:
    """The sampler that a source's arguments stand for; ``shuffled`` None is for True.

    Raises:
        SettingError: ``sampler`` beside one of the others; ``num_shards`` without ``shard_id``.
    """
    if (num_shards is None) != (shard_id is None):
        raise SettingError("num_shards and shard_id need to be passed in together.")
    if sampler is not None:
        if any(each is not None for each in (shuffled, num_shards)):
            raise SettingError("sampler decides rows and order; shuffle and num_shards must not be given with it")
        if isinstance(sampler, BuiltinSampler):
            if num_samples is not None:
                raise SettingError("sampler decides which rows come; num_samples must not be given with it")
            return sampler
        if isinstance(sampler, (np.ndarray, list, tuple, int)):
            return SubsetSampler(sampler, num_samples)
        if isinstance(sampler, Iterable) and not isinstance(sampler, str):
            return IterSampler(sampler, num_samples)
        raise SettingTypeError(f"sampler must be a sampler or numbers of rows, got {sampler!r}")
    order = shuffled is None or shuffled in (True, Shuffle.GLOBAL)
    if num_shards is not None:
        count, place = sharding(num_shards, shard_id)
        return DistributedSampler(count, place, order, num_samples)
    if order:
        return RandomSampler(num_samples is not None, num_samples)
    return SequentialSampler(num_samples=num_samples)
