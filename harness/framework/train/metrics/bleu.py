"""BLEU score of translations against references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import SettingError, StateError
from harness.framework.nn import checks
from harness.framework.train.metrics.base import Metric, rearrange_inputs, typed


class BleuScore(Metric):
    """Corpus BLEU: geometric mean of the n-gram precisions, times a penalty for short translations.

    Args:
        n_gram: longest n-gram, 1 to 4.
        smooth: add 1 to numerators and denominators.
    """

    def __init__(self, n_gram: int = 4, smooth: bool = False) -> None:
        super().__init__()
        self.n_gram = typed(n_gram, (int,), "n_gram", "BleuScore")
        if not 1 <= n_gram <= 4:
            raise SettingError(f"BleuScore: n_gram must be in 1..4, got {n_gram}")
        self.smooth = checks.boolean(smooth, "smooth", "BleuScore")
        self.clear()

    def clear(self) -> None:
        self._hits = np.zeros(self.n_gram)
        self._grams = np.zeros(self.n_gram)
        self._length = 0.0
        self._reference_length = 0.0
        self._updated = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        self._require(inputs, 2, "candidate corpus, reference corpus")
        for given in inputs:
            if hasattr(given, "__array__"):
                raise SettingError(f"BleuScore.update: lists of words are needed, got {type(given).__name__}")
        candidates, references = inputs
        if len(candidates) != len(references):
            raise SettingError(
                f"BleuScore.update: {len(candidates)} candidates, but {len(references)} sets of references"
            )
        for candidate, accepted in zip(candidates, references, strict=True):
            if not accepted:
                raise SettingError(f"BleuScore.update: there is no reference for {candidate!r}")
            self._add(candidate, accepted)
        self._updated = True

    def _add(self, candidate: Sequence[Any], references: Sequence[Sequence[Any]]) -> None:
        length = len(candidate)
        self._length += length
        self._reference_length += min((len(each) for each in references), key=lambda other: abs(other - length))
        wanted: Counter[tuple[Any, ...]] = Counter()
        for reference in references:
            wanted |= self._counted(reference)
        given = self._counted(candidate)
        for gram, count in given.items():
            self._grams[len(gram) - 1] += count
            self._hits[len(gram) - 1] += min(count, wanted[gram])

    def _counted(self, words: Sequence[Any]) -> Counter[tuple[Any, ...]]:
        spans = ((at, at + size) for size in range(1, self.n_gram + 1) for at in range(len(words) - size + 1))
        return Counter(tuple(words[start:end]) for start, end in spans)

    def eval(self) -> Any:
        """A float64; a 0-d array of 0 if some length has no common n-gram."""
        if not self._updated:
            raise StateError("BleuScore.eval: call update first")
        if self._hits.min() == 0:
            return np.array(0.0)
        more = 1 if self.smooth else 0
        mean = np.exp((np.log((self._hits + more) / (self._grams + more)) / self.n_gram).sum())
        short = self._length <= self._reference_length
        return (np.exp(1 - np.float64(self._reference_length) / self._length) if short else np.float64(1)) * mean
