"""What kinds and which numbers transforms take, checked before anything else, in the words that scripts know.

Source: ``arguments.json``, measured with MindSpore 2.10.0 (``tests/interop/dataset_arguments.py``): for each transform
and argument the kinds as the error lists them, whether None is taken, and the interval of numbers.
"""

from __future__ import annotations

import functools
import inspect
import json
import numbers
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.dtypes import DType
from harness.errors import SettingError
from harness.framework.dataset.checks import mistyped, noted
from harness.framework.outside import check_words
from harness.framework.tensor import is_tracing

_KINDS: dict[str, type] = {
    **{kind.__name__: kind for kind in (int, float, bool, str, bytes, list, tuple, dict)},
    "numpy.ndarray": np.ndarray, "numpy.dtype": np.dtype, "numbers.Number": numbers.Number,
    "mindspore._c_expression.typing.Type": DType,
}  # fmt: skip
_BOUNDS = re.compile(r" of ([\[(])(\S+), (\S+?)([\])])(?: and \(0, (\S+)\])?\.$")


class _Interval(NamedTuple):
    low: float
    high: float
    without_low: bool
    without_high: bool
    without_zero: bool
    told: str

    def holds(self, value: float) -> bool:
        """Whether a number is in it."""
        low = value > self.low if self.without_low else value >= self.low
        high = value < self.high if self.without_high else value <= self.high
        return low and high and not (self.without_zero and value == 0)


class _Argument(NamedTuple):
    """What one argument may be.

    Attributes:
        kinds: its types; () if anything may be given.
        listed: how errors list them.
    """

    kinds: tuple[type, ...]
    listed: str
    said: str
    none: bool
    interval: _Interval | None

    def check(self, value: Any, owner: str, name: str) -> None:
        """Raises the error of a value that is not taken."""
        if value is None and (self.none or not self.kinds):
            return
        if np.dtype in self.kinds and _names_dtype(value):
            return
        flag = isinstance(value, bool) and int in self.kinds and bool not in self.kinds
        if flag or (self.kinds and not isinstance(value, self.kinds)):
            if is_tracing():
                check_words(value)  # a class within a graph is another error
            raise mistyped(value, self.said, owner, self.kinds, self.listed)
        if self.interval is None or isinstance(value, bool) or not isinstance(value, (int, float)):
            return
        if isinstance(value, float) and float not in self.kinds:
            return  # its kind may be refused; the transform says so itself
        if not self.interval.holds(value):
            raise noted(SettingError(self.interval.told), value, name, owner)


def _names_dtype(value: Any) -> bool:
    """Whether a class or a text stands for a dtype of numpy (``np.float16``, ``int``, ``"float16"``)."""
    try:
        return isinstance(value, (type, str)) and np.dtype(value) is not None
    except TypeError:
        return False


def _interval(told: str) -> _Interval:
    found = _BOUNDS.search(told)
    assert found is not None, told
    left, low, high, right, beyond = found.groups()
    if beyond:
        return _Interval(float(low), float(beyond), False, False, True, told)
    return _Interval(float(low), float(high), left == "(", right == ")", False, told)


@functools.cache
def _table() -> dict[str, dict[str, dict[str, Any]]]:
    text = (Path(__file__).parent / "arguments.json").read_text(encoding="utf-8")
    table: dict[str, dict[str, dict[str, Any]]] = json.loads(text)
    return table


def _kind(word: str, space: Mapping[str, Any]) -> type | None:
    found = _KINDS.get(word) or space.get(word.rpartition(".")[2])
    return found if isinstance(found, type) else None


@functools.cache
def _arguments(cls: type, space: str) -> tuple[inspect.Signature, dict[str, _Argument]]:
    """The signature of a transform, and what its arguments may be."""
    import importlib

    names = vars(importlib.import_module(f"harness.framework.dataset.{space}"))
    made = {}
    for name, row in _table().get(f"{space}.{cls.__name__}", {}).items():
        listed = row.get("kinds", "")
        kinds = [_kind(word, names) for word in re.findall(r"<(?:class|enum) '([^']+)'>", listed)]
        known = tuple(kind for kind in kinds if kind is not None)
        interval = _interval(row["interval"]) if "interval" in row else None
        # A kind that is not here may be given all the same.
        known = known if len(known) == len(kinds) else ()
        made[name] = _Argument(known, listed, row.get("kinds of", name), "none" in row, interval)
    return inspect.signature(getattr(cls, "__init__")), made  # noqa: B009 - mypy refuses cls.__init__


def check(cls: type, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raises the error of the first argument that a transform of ours does not take.

    Raises:
        SettingTypeError: it is of another kind.
        SettingError: it is a number outside its interval.
    """
    package, _, rest = cls.__module__.partition("harness.framework.dataset.")
    if package or not rest:
        return
    signature, known = _arguments(cls, rest.partition(".")[0])
    if not known:
        return
    try:
        given = signature.bind(None, *args, **kwargs).arguments
    except TypeError:
        return  # the call says so itself
    for name, value in given.items():
        if (argument := known.get(name)) is not None:
            argument.check(value, cls.__name__, name)
