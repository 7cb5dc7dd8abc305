"""Tolerances: how far values may be apart.

A tolerance applies only to values: dtype, shape, and the positions and signs of NaN and infinities must be equal under
every tolerance. So must integers and bools.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Self

from harness import dtypes
from harness.compare.extending import TOLERANCE_RULES
from harness.errors import DtypeError, ToleranceError
from harness.records import SlotKey

#: A whole number may have more digits than a float.
_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The admitted difference between an expected value e and a found value f.

    An element passes if ``|f - e| <= atol + rtol * |e| + min(scaled * S, B / 10)``, where S is the largest finite
    ``|e|`` of the tensor that counts and B the size of most of its elements (see ``bulk_of``: one huge element, or a
    few of many, do not widen the tolerance of the others). It also passes if at most ``max_ulp`` representable numbers
    lie between e and f. If all are zero, equal values with other bits (0.0 and -0.0) pass, but not with ``EXACT``.

    Attributes:
        rtol: relative to the element.
        atol: absolute.
        scaled: relative to the tensor's largest element: an element near zero after cancellation is judged by the size
            of the cancelled values. (A fixed ``atol`` would let a whole gradient of 1e-6 vanish.)
        max_ulp: distance in units in the last place; 0 admits none.
        exact: admits equal bits only, as in ``EXACT``.

    Examples:
        >>> import numpy as np
        >>> from harness.compare import Tolerance, measure
        >>> expected, found = np.float32([1, 2]), np.float32([1, 2.001])
        >>> measure(expected, found, "Float32", Tolerance(rtol=1e-2)).outside
        0
        >>> measure(expected, found, "Float32", Tolerance(rtol=1e-5)).outside
        1
    """

    rtol: float = 0.0
    atol: float = 0.0
    scaled: float = 0.0
    max_ulp: int = 0
    exact: bool = False

    def __post_init__(self) -> None:
        for name in ("rtol", "atol", "scaled"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
                raise ToleranceError(f"{name} is a finite number of at least 0; given was {value!r}")
        if not isinstance(self.max_ulp, int) or isinstance(self.max_ulp, bool) or self.max_ulp < 0:
            raise ToleranceError(f"max_ulp is a whole number of at least 0; given was {self.max_ulp!r}")

    def floor(self, scale: float, bulk: float) -> float:
        """The part of the tolerance that is equal for all elements of a tensor.

        Args:
            scale: its largest finite magnitude that counts, see ``Bulk.reach``.
            bulk: the size of most of its elements.
        """
        return self.atol + (min(self.scaled * scale, bulk / 10) if self.scaled else 0.0)

    def __str__(self) -> str:
        if self.exact:
            return "exact"
        parts = [f"{name}={getattr(self, name):g}" for name in ("rtol", "atol", "scaled") if getattr(self, name)]
        parts += [f"max_ulp={self.max_ulp}"] if self.max_ulp else []
        return " ".join(parts) or "equal values"


#: Equal bits only. The default for emulated backends.
EXACT = Tolerance(exact=True)

#: The documented default by dtype, for results of other hardware or another library. rtol is two units in the last
#: place for the 16-bit types (whose results are rounded from wider sums), and some hundred for the others (long sums in
#: another order); ``max_ulp`` covers subnormal numbers, which have no relative precision.
DEFAULTS: Mapping[str, Tolerance] = {
    "Float16": Tolerance(rtol=2**-9, scaled=2**-10, max_ulp=1),
    "BFloat16": Tolerance(rtol=2**-6, scaled=2**-7, max_ulp=1),
    "Float32": Tolerance(rtol=1e-5, scaled=1e-6, max_ulp=1),
    "Float64": Tolerance(rtol=1e-12, scaled=1e-13, max_ulp=1),
    "Complex64": Tolerance(rtol=1e-5, scaled=1e-6, max_ulp=1),
    "Complex128": Tolerance(rtol=1e-12, scaled=1e-13, max_ulp=1),
    # Neighbours are 6 to 25 % apart: more than one step is not rounding.
    **{dtype.name: Tolerance(max_ulp=1) for dtype in dtypes.FLOATS8},
}


#: In a table of tolerances: use ``DEFAULTS`` for the slot's dtype.
BY_DTYPE = None

Choice = Tolerance | None


#: Whether a name fits a pattern. The runs of a gate ask for the same slots again and again.
matches = lru_cache(maxsize=8192)(fnmatchcase)


@dataclass(frozen=True, slots=True)
class Tolerances:
    """The tolerance of each slot: the first match among patterns, operator types, dtypes and the default.

    Attributes:
        patterns: pairs of an ``fnmatch`` pattern and a tolerance; a pattern is matched against the operator's full
            name, and against ``<operator>:<io>.<slot>``. The first that matches wins.
        types: tolerances by primitive name (``MatMul``, ``Parameter``).
        dtypes: tolerances by CamelCase dtype name.
        default: for everything else.
        statistics: whether to accept statistics within the tolerance if one side kept no values and its digest differs;
            otherwise the verdict is "cannot tell".
        noise: whether to accept rounding, and the consequences of earlier rounding; see ``harness.explain.rounding``.
        silent: whether a table was written that says nothing of ``default``.

    Everywhere ``BY_DTYPE`` (None) stands for the documented table ``DEFAULTS``.

    Examples:
        >>> from harness.compare import Tolerances
        >>> tolerances = Tolerances.parse({"default": 1e-5, "MatMul": (1e-3, 1e-6)})
        >>> tolerances.default
        Tolerance(rtol=1e-05, atol=0.0, scaled=0.0, max_ulp=0, exact=False)
    """

    patterns: tuple[tuple[str, Choice], ...] = ()
    types: Mapping[str, Choice] = field(default_factory=dict)
    dtypes: Mapping[str, Choice] = field(default_factory=dict)
    default: Choice = EXACT
    statistics: bool = False
    noise: bool = False
    silent: bool = field(default=False, compare=False)

    def of(self, key: SlotKey, op_type: str, dtype: str) -> Tolerance:
        """The tolerance of one slot; ``EXACT`` for integers and bools.

        Args:
            key: the slot.
            op_type: primitive name of its operator (``MatMul``).
            dtype: CamelCase name of its dtype (``Float32``).
        """
        if dtype not in DEFAULTS:
            return EXACT
        chosen = self._choice(key, op_type, dtype)
        return DEFAULTS[dtype] if chosen is BY_DTYPE else chosen

    def of_row(self, key: SlotKey, op_type: str, dtype: str) -> Tolerance:
        """The tolerance of a slot of which one side kept only a row of statistics, so that bits cannot be compared.

        Like ``of`` for the same ``key``, ``op_type`` and ``dtype``, but integers and bools are ``EXACT`` only if that
        was chosen for them; otherwise their statistics must be equal.
        """
        if dtype in DEFAULTS:
            return self.of(key, op_type, dtype)
        chosen = self._choice(key, op_type, dtype)
        return EXACT if chosen is not None and chosen.exact else Tolerance()

    def names(self, key: SlotKey, op_type: str, dtype: str) -> bool:
        """Whether an entry is for this slot, not only the default.

        Args:
            key, op_type, dtype: as for ``of``.
        """
        return replace(self, default=_NOT_NAMED)._choice(key, op_type, dtype) is not _NOT_NAMED

    def _choice(self, key: SlotKey, op_type: str, dtype: str) -> Choice:
        for pattern, tolerance in self.patterns:
            if matches(key.operator, pattern) or matches(f"{key.operator}:{key.slot_name}", pattern):
                return tolerance
        if op_type in self.types:
            return self.types[op_type]
        return self.dtypes.get(dtype, self.default)

    @classmethod
    def parse(cls, value: Any) -> Self:
        """Reads tolerances as a user writes them.

        Args:
            value: what the user wrote.

        Accepted are ``None`` or ``"exact"``; ``"default"`` (the table by dtype); a number (rtol); a pair
        (rtol, atol); a ``Tolerance`` or a mapping of its fields; a ``Tolerances``; or a mapping of any of these by
        ``"default"``, a dtype (``"float32"``), a pattern (a name that contains one of ``* ? [ / :``), or an operator
        type (``"MatMul"``). So is the name of a rule that another package adds (see ``extending.ToleranceRule``). A
        mapping may also say ``"statistics": True``. ``"noise"`` is the table by dtype plus the
        rule for rounding; it stands alone, or as a mapping's ``"default"``.

        Raises:
            ToleranceError: for anything else.
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, str) and value not in _NAMED and value in TOLERANCE_RULES:
            given = TOLERANCE_RULES.get(value).tolerances()
            if isinstance(given, str) and given not in _NAMED:
                raise ToleranceError(f"tolerance rule {value!r} gives the name of another rule, {given!r}")
            return cls.parse(given)
        if isinstance(value, Mapping) and _STATISTICS in value:
            return cls._with_statistics(value)
        if value == NOISE:
            return cls(default=BY_DTYPE, noise=True)
        if isinstance(value, Mapping) and value.get("default") == NOISE:
            return replace(cls.parse({**value, "default": "default"}), noise=True)
        if isinstance(value, Mapping) and not (value and value.keys() <= set(_FIELDS)):
            return cls._from_table(value)
        return cls(default=_parse_one(value, "tolerance"))

    @classmethod
    def _with_statistics(cls, table: Mapping[Any, Any]) -> Self:
        asked = table[_STATISTICS]
        if not isinstance(asked, bool):
            raise ToleranceError(f"{_STATISTICS} is True or False; given was {asked!r}")
        rest = {name: given for name, given in table.items() if name != _STATISTICS}
        return replace(cls.parse(rest or None), statistics=asked)

    @classmethod
    def _from_table(cls, table: Mapping[Any, Any]) -> Self:
        patterns: list[tuple[str, Choice]] = []
        types: dict[str, Choice] = {}
        by_dtype: dict[str, Choice] = {}
        default: Choice = EXACT
        for name, given in table.items():
            if not isinstance(name, str):
                raise ToleranceError(f"tolerances are given by name; given was {name!r}")
            tolerance = _parse_one(given, name)
            if name == "default":
                default = tolerance
            elif set(name) & set("*?[/:"):
                patterns.append((name, tolerance))
            elif (dtype := _dtype(name)) is not None:
                by_dtype[dtype] = tolerance
            else:
                types[name] = tolerance
        return cls(tuple(patterns), types, by_dtype, default, silent="default" not in table)

    def as_json(self) -> Any:
        """JSON values from which ``parse`` makes the same tolerances."""
        rows = dict(reversed(self.patterns))  # the first of several equal patterns counts
        rows = {name: rows[name] for name, _ in self.patterns} | dict(self.types) | dict(self.dtypes)
        more: dict[str, Any] = {_STATISTICS: True} if self.statistics else {}
        default = NOISE if self.noise else _json(self.default)
        if not rows and not more:
            return default
        return {"default": default} | {name: _json(tolerance) for name, tolerance in rows.items()} | more


#: The table by dtype, plus the rule for rounding.
NOISE = "noise"
_STATISTICS = "statistics"
_NOT_NAMED = Tolerance()
_NAMED = ("exact", "default", NOISE)
_FIELDS = tuple(f.name for f in fields(Tolerance))


def _parse_one(value: Any, where: str) -> Choice:
    if isinstance(value, Tolerance):
        return value
    if value is None or value == "exact":
        return EXACT
    if isinstance(value, str) and value == "default":
        return BY_DTYPE
    if isinstance(value, Mapping) and value.keys() <= set(_FIELDS):
        return Tolerance(**value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Tolerance(rtol=value)
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        return Tolerance(rtol=value[0], atol=value[1])
    rules = "".join(f"{rule!r}, " for rule in TOLERANCE_RULES)
    raise ToleranceError(
        f"{where}: cannot read {value!r} as a tolerance; accepted are 'exact', 'default', 'noise', {rules}rtol, "
        "(rtol, atol), "
        f"and a mapping with keys of {', '.join(_FIELDS)}"
    )


def _json(tolerance: Choice) -> Any:
    if tolerance is BY_DTYPE:
        return "default"
    if tolerance.exact:
        return "exact"
    return {name: value for name in _FIELDS if (value := getattr(tolerance, name))} or {"rtol": 0.0}


def _dtype(name: str) -> str | None:
    try:
        return dtypes.by_name(name).name
    except DtypeError:
        return None
