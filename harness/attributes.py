"""What a run may say of itself: the types of a golden's attributes, and of the rules in them.

Goldens and dump trees come from elsewhere. Here their attributes are checked once, where they are read (and before they
are written); whoever uses them afterwards may take their types for granted. Names that are not listed may have any JSON
value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

#: Values lie at most so deep in one another.
MAX_DEPTH = 32

_NESTING = frozenset({dict, list})
#: Says what is wrong with a value, in words; empty if nothing is.
_Check = Callable[[Any], str]
#: Makes an error of words.
Refuse = Callable[[str], Exception]

_KINDS = {
    type(None): "null", bool: "a truth value", int: "a whole number", float: "a number", str: "a text", list: "a list",
    dict: "an object",
}  # fmt: skip


def checked_attributes(given: Any, refuse: Refuse) -> dict[str, Any]:
    """The attributes of a run, if they are an object whose known members have their types.

    Known are ``emulated`` and ``imported`` (truth values), ``rules`` (see ``checked_rules``), ``tolerance`` (as
    ``Tolerances.as_json`` makes it) and ``learned`` (``runs`` and ``margin``, beside a tolerance).

    Args:
        given: a JSON value.
        refuse: makes the error of its words.

    Raises:
        Exception: what ``refuse`` makes, for anything else; also for values nested deeper than ``MAX_DEPTH``.
    """
    _hold(given, _ATTRIBUTES, "attributes", "attribute", refuse)
    if "learned" in given and "tolerance" not in given:
        raise refuse("it has the attribute 'learned' without the tolerance that was learned")
    return given  # type: ignore[no-any-return]


def checked_rules(given: Any, refuse: Refuse) -> dict[str, Any]:
    """The rules of a capture (provenance of its values), if they are an object whose known members have their types.

    Known are ``ms_version``, ``device_target`` and ``written_by`` (texts, or null), ``compiled`` and ``injected``
    (lists of texts).

    Args:
        given: a JSON value.
        refuse: makes the error of its words.

    Raises:
        Exception: what ``refuse`` makes, for anything else; also for values nested deeper than ``MAX_DEPTH``.
    """
    _hold(given, _RULES, "rules", "rule", refuse)
    return given  # type: ignore[no-any-return]


def _hold(given: Any, known: Mapping[str, _Check], plural: str, noun: str, refuse: Refuse) -> None:
    if wrong := _is_object(given):
        raise refuse(f"its {plural} are {wrong}")
    for name, value in given.items():
        check = known.get(name)
        wrong = check(value) if check is not None else ""
        if not wrong and type(value) in _NESTING:
            wrong = _too_deep(value, MAX_DEPTH)
        if wrong:
            raise refuse(f"its {noun} {name[:80]!r} is {wrong}")


def _is_object(value: Any) -> str:
    return "" if type(value) is dict else f"{kind_of(value)}, where an object is needed"


def _is_truth(value: Any) -> str:
    return "" if type(value) is bool else f"{kind_of(value)}, where a truth value is needed"


def _is_text(value: Any) -> str:
    return "" if value is None or type(value) is str else f"{kind_of(value)}, where a text is needed"


def _are_texts(value: Any) -> str:
    texts = type(value) is list and all(type(each) is str for each in value)
    return "" if texts else f"{kind_of(value)}, where a list of texts is needed"


def _are_rules(value: Any) -> str:
    wrong = _is_object(value)
    for name, check in _RULES.items() if not wrong else ():
        if name in value and (wrong := check(value[name])):
            return f"damaged: of it {name!r} is {wrong}"
    return wrong


def _is_number(value: Any) -> bool:
    # A whole number may have more digits than a float.
    return type(value) is int or (type(value) is float and not math.isnan(value))


def _is_tolerance(value: Any) -> str:
    """Whether a tolerance has a form that ``Tolerances.parse`` may accept; whether its values do is said there."""
    rows = value.values() if type(value) is dict else (value,)
    for row in rows:
        fields = row.values() if type(row) is dict else row if type(row) is list else (row,)
        if not all(each is None or type(each) in (str, bool) or _is_number(each) for each in fields):
            return f"{kind_of(value)} that is not a tolerance"
    return ""


def _is_learned(value: Any) -> str:
    wrong = _is_object(value)
    if not wrong and not (type(value.get("runs")) is int and value["runs"] > 0):
        return "damaged: its 'runs' is not a number of runs"
    if not wrong and not (_is_number(value.get("margin")) and 1 <= value["margin"] < math.inf):
        return "damaged: its 'margin' is not a number of at least 1"
    return wrong


def _too_deep(value: Any, room: int) -> str:
    """Whether values lie deeper in one another than ``room``."""
    for each in value.values() if type(value) is dict else value:
        if not room or (type(each) in _NESTING and _too_deep(each, room - 1)):
            return f"nested deeper than {MAX_DEPTH} values"
    return ""


def kind_of(value: Any) -> str:
    """The type of a JSON value in words: ``a text``, ``an object``."""
    return _KINDS.get(type(value), type(value).__name__)


_RULES: dict[str, _Check] = {
    "ms_version": _is_text, "device_target": _is_text, "written_by": _is_text, "compiled": _are_texts,
    "injected": _are_texts,
}  # fmt: skip
_ATTRIBUTES: dict[str, _Check] = {
    "emulated": _is_truth, "imported": _is_truth, "rules": _are_rules, "tolerance": _is_tolerance,
    "learned": _is_learned,
}  # fmt: skip
