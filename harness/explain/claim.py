"""What a cause states about a tensor, and the one check that decides whether it may be told, and as what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from harness.explain.pair import Array, Pair, is_bitwise
from harness.explain.transformations import Partly, applied

#: exceptions of a transformation for values it was not made for: nothing is stated then
UNREADABLE = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError)
#: longer lists of places or of an order stay out of JSON, which has their number
_LISTED = 256


@dataclass(frozen=True)
class Check:
    """What was done to the golden's tensor, and how that compares with the run's.

    Attributes:
        transformation: a name of ``TRANSFORMATIONS``, ``replay`` for an operator that was computed again, or ``fact``
            for what both runs show without a computation.
        arguments: its arguments, plain values.
        exact: whether it gives the run's bits everywhere; else it gives its values within noise.
        elements: number of elements for which something was stated and checked.
        count: number of all elements.
    """

    transformation: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    exact: bool = True
    elements: int = 0
    count: int = 0

    def to_json(self) -> dict[str, Any]:
        """It as JSON values."""
        arguments = {name: _plain(each) for name, each in self.arguments.items()}
        return {
            "transformation": self.transformation, "arguments": arguments, "exact": self.exact,
            "elements": self.elements, "count": self.count,
        }  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return f"bits {value[::-1].hex()}"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if value is ...:
        return "(not there)"
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value] if len(value) <= _LISTED else f"{len(value)} values"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)


@dataclass(frozen=True, eq=False)
class Held:
    """A claim that held.

    Attributes:
        exact: whether the transformation gives the run's bits everywhere.
        stated: number of elements for which it states something.
        near: number of those that it gives within noise.
        altered: number of elements that it changes.
        count: number of all elements.
    """

    exact: bool
    stated: int
    near: int
    altered: int
    count: int


#: the greatest error that is noise, for each element; a number, or one for each
Noise = Callable[[Pair, Array], Any]


def no_noise(_pair: Pair, _made: Array) -> float:
    """Equal values only (signs of zeros and bits of NaN may differ)."""
    return 0.0


@dataclass(frozen=True, eq=False)
class Claim:
    """What a pattern proposes.

    Attributes:
        kind: name of the pattern.
        transformation: a name of ``TRANSFORMATIONS``.
        arguments: its arguments.
        words: makes the text from the check that held.
        noise: see ``Noise``.
        share: the part of the stated elements that must be within noise.
    """

    kind: str
    transformation: str
    arguments: Mapping[str, Any]
    words: Callable[[Held], str]
    noise: Noise = no_noise
    share: float = 1.0


def always(text: str) -> Callable[[Held], str]:
    """Words that do not depend on what held."""
    return lambda _held: text


def either(exact: str, near: str) -> Callable[[Held], str]:
    """Words for the run's bits, and for its values within noise."""
    return lambda held: exact if held.exact else near


def holds(claim: Claim, pair: Pair) -> Held | None:
    """Applies a claim to the expected tensor and compares the result with the run's; None if it is not the run's.

    Nothing else decides what is told as proven or as likely.
    """
    try:
        made = applied(claim.transformation, pair, claim.arguments)
        whole = made.values if isinstance(made, Partly) else made
        if whole.shape != pair.found.shape or whole.dtype != pair.found.dtype:
            return None
        altered = int(np.count_nonzero(_apart(whole, pair.expected)))
        if isinstance(made, Partly):
            stated = made.stated
        else:
            stated = None
        held = given(whole, pair.found, lambda: claim.noise(pair, whole), stated, claim.share)
    except UNREADABLE:
        return None
    return None if held is None else replace(held, altered=altered)


def given(
    made: Array, found: Array, noise: Callable[[], Any], stated: Array | None = None, share: float = 1.0
) -> Held | None:
    """Whether what a cause states gives the run's tensor: in its bits, or within noise; None if it does not.

    Args:
        made: what results from the golden, by a transformation or by a replay of the operator.
        found: the run's tensor.
        noise: gives the greatest error that is noise, for all elements or for each.
        stated: where something is stated; None for everywhere. A part is never exact.
        share: the part of the stated elements that must be within noise.
    """
    if made.shape != found.shape or made.dtype != found.dtype:
        return None
    count = found.size
    if stated is None and is_bitwise(made, found):
        return Held(True, count, count, 0, count)
    where = np.ones(found.shape, bool) if stated is None else stated
    near = int(np.count_nonzero(where & _is_near(made, found, noise)))
    told = int(np.count_nonzero(where))
    return Held(False, told, near, 0, count) if told and near >= share * told else None


def _apart(one: Array, other: Array) -> Array:
    a, b = (each.astype(np.float64) if each.dtype.kind == "V" else each for each in (one, other))
    return np.asarray((a != b) & ~((a != a) & (b != b)))


def _is_near(made: Array, found: Array, noise: Callable[[], Any]) -> Array:
    same = ~_apart(made, found)
    if found.dtype.kind not in "fV":
        return same
    with np.errstate(all="ignore"):
        return np.asarray(same | (np.abs(made.astype(np.float64) - found.astype(np.float64)) <= noise()))
