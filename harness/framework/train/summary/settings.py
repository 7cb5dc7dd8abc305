"""The settings of what ``SummaryCollector`` collects."""

from __future__ import annotations

import re
from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.nn import checks
from harness.framework.train.metrics.base import typed

OWNER = "SummaryCollector"
LANDSCAPE: dict[str, Any] = {
    "landscape_size": 40, "unit": "step", "num_samples": 2048, "create_landscape": {"train": True, "result": True},
    "intervals": [list(range(1, 10)), list(range(10, 20))],
}  # fmt: skip
DEFAULT: dict[str, Any] = {
    "collect_metric": True, "collect_graph": True, "collect_train_lineage": True, "collect_eval_lineage": True,
    "collect_input_data": True, "collect_dataset_graph": True, "histogram_regular": None,
    "collect_landscape": LANDSCAPE,
}  # fmt: skip


def wanted(given: Any, keep_default: bool) -> dict[str, Any]:
    """The items to collect, by name; ``SettingTypeError`` or ``SettingError`` for a wrong setting."""
    if given is None:
        return dict(DEFAULT) if keep_default else {}
    typed(given, (dict,), "collect_specified_data", OWNER)
    for name, value in given.items():
        typed(name, (str,), "a name of collect_specified_data", OWNER)
        checks.among(name, DEFAULT, "a name of collect_specified_data", OWNER)
        if name == "histogram_regular":
            _check_pattern(value)
        elif name == "collect_landscape":
            _check_landscape(value)
        else:
            checks.boolean(value, name, OWNER)
    return {**DEFAULT, **given} if keep_default else dict(given)


def _check_pattern(value: Any) -> None:
    if value is None:
        return
    try:
        re.compile(typed(value, (str,), "histogram_regular", OWNER))
    except re.error as error:
        raise SettingError(f"{OWNER}: histogram_regular is not a regular expression: {error}") from None


def _check_landscape(value: Any) -> None:
    if value is None:
        return
    typed(value, (dict,), "collect_landscape", OWNER)
    for name in value:
        checks.among(name, LANDSCAPE, "a name of collect_landscape", OWNER)
    size = typed(value.get("landscape_size", 40), (int,), "landscape_size", OWNER)
    checks.number(size, "landscape_size", OWNER, 3, 256)
    checks.among(typed(value.get("unit", "step"), (str,), "unit", OWNER), ("step", "epoch"), "unit", OWNER)
    typed(value.get("num_samples", 2048), (int,), "num_samples", OWNER)
    intervals = typed(value.get("intervals"), (list,), "intervals", OWNER)
    for each in intervals:
        if not isinstance(each, list) or not all(isinstance(number, int) for number in each):
            raise SettingTypeError(f"{OWNER}: intervals must be lists of ints, got {each!r}")
        if len(each) < 3:
            raise SettingError(f"{OWNER}: each of intervals must have at least three numbers, got {each!r}")
