"""Measures and tolerance rules of other packages."""

from __future__ import annotations

import math
import sys
from typing import Any, ClassVar

from harness.records import Array, Record
from harness.registry import Registry, instance_of


class Measure:
    """How far two arrays are apart, in one number more; ``msdump diff --json`` and ``--csv`` have it of every slot that
    differs.

    Class attributes:
        required: what a measure of another package must define.
        name: its name there.
        meaning: what it says, in one line.

    Examples:
        >>> import numpy as np
        >>> from harness.compare import Measure
        >>> class Flips(Measure):
        ...     name, meaning = "flips", "the share of elements with another sign"
        ...     def measure(self, expected, found):
        ...         return float(np.mean(np.signbit(expected) != np.signbit(found)))
        >>> Flips().measure(np.float32([1, 2]), np.float32([1, -2]))
        0.5
    """

    required: ClassVar[tuple[str, ...]] = ("name", "measure")
    name: ClassVar[str]
    meaning: ClassVar[str] = ""

    def measure(self, expected: Array, found: Array) -> float | None:
        """The distance; None where it has no meaning.

        Args:
            expected: the golden side's numbers, of any dtype and shape.
            found: the other side's, of the same dtype and shape. Neither may be changed.
        """
        raise NotImplementedError


class ToleranceRule:
    """A tolerance by name, such as that of a device: ``tolerance="my-npu"`` of a marker, ``msdump diff --tolerance``.

    Class attributes:
        required: what a rule of another package must define.
        name: its name there.
        meaning: what it admits, in one line.

    Examples:
        >>> from harness.compare import TOLERANCE_RULES, ToleranceRule, Tolerances
        >>> class Npu(ToleranceRule):
        ...     name, meaning = "doc-npu", "its sums are kept in 10 bits"
        ...     def tolerances(self):
        ...         return {"default": "default", "float32": 2**-10}
        >>> Tolerances.parse(TOLERANCE_RULES.register("doc-npu", Npu()).name).dtypes["Float32"].rtol
        0.0009765625
    """

    required: ClassVar[tuple[str, ...]] = ("name", "tolerances")
    name: ClassVar[str]
    meaning: ClassVar[str] = ""

    def tolerances(self) -> Any:
        """What ``Tolerances.parse`` takes, but for names of other rules. The golden keeps what this gives, not the
        name."""
        raise NotImplementedError


#: packages outside add to it through the entry-point group ``harness.measures``
MEASURES: Registry[Measure] = Registry("measure", "harness.measures", accept=instance_of(Measure))

#: packages outside add to it through the entry-point group ``harness.tolerances``
TOLERANCE_RULES: Registry[ToleranceRule] = Registry(
    "tolerance rule", "harness.tolerances", accept=instance_of(ToleranceRule)
)


class Measured:
    """Applies every registered measure; one that fails is left out, and that is said once."""

    def __init__(self) -> None:
        self.names = list(MEASURES)
        self._failed: set[str] = set()

    def of(self, pair: tuple[Record, Record] | None) -> dict[str, float | None]:
        """The measures of a slot by name; None where one has none, or the values of a side are missing."""
        found: dict[str, float | None] = dict.fromkeys(self.names)
        if pair is None or not self.names or not _are_comparable(*pair):
            return found
        one, other = (each.load() for each in pair)
        if one is None or other is None:
            return found
        for name in self.names:
            found[name] = self._measure(name, one, other)
        return found

    def _measure(self, name: str, one: Array, other: Array) -> float | None:
        try:
            value = MEASURES.get(name).measure(one, other)
            return None if value is None or math.isnan(value) else float(value)
        except Exception as error:  # another package's code must not end a comparison
            if name not in self._failed:
                self._failed.add(name)
                told = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
                whose = MEASURES.distribution(name) or "this process"
                print(f"msdump: measure {name!r} of {whose} failed, and is left out there: {told}", file=sys.stderr)
            return None


def _are_comparable(one: Record, other: Record) -> bool:
    return (one.dtype, one.shape) == (other.dtype, other.shape)
