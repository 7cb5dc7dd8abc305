"""The report of SGLang's comparator (JSON lines): statistics of two runs, of each tensor that it compared.

Source: its public types of records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.capture.capture import Problem
from harness.capture.logs.base import DEVIATION, LogReader, Slot, log_reader, text_of
from harness.errors import TreeError
from harness.reading import parse_json
from harness.records import Record, SlotKey

_KINDS = ("config", "rank_info", "input_ids", "skip", "comparison", "non_tensor", "summary", "warning")
_ITEMS = {"max": "max", "min": "min", "mean": "avg", "abs_mean": "abs avg", "std": DEVIATION}
_BASELINE = "baseline/"
_LARGEST_STEP = 2**31


@log_reader
class SGLang(LogReader):
    """The compared run under the tensors' names, its baseline under ``baseline/NAME``."""

    name = "sglang"
    suffixes = (".jsonl",)
    backend = "sglang"

    @classmethod
    def recognises(cls, head: str) -> bool:
        return any(f'"type":"{kind}"' in head.replace('": "', '":"') for kind in _KINDS)

    def records(self, path: str, problems: list[Problem]) -> Iterator[Record]:
        for number, line in enumerate(text_of(path).split("\n"), 1):
            if not line.strip():
                continue
            said = parse_json(line, f"{path}, line {number}", TreeError)
            if not isinstance(said, dict) or said.get("type") not in _KINDS:
                raise ValueError(f"line {number} is no record of a comparison")
            where = f"{path}, line {number}"
            if said["type"] in ("skip", "comparison", "non_tensor") and not isinstance(said.get("name"), str):
                raise ValueError(f"line {number} names no tensor")
            if said["type"] == "skip":
                problems.append(Problem(where, "skipped", f"{said['name'][:200]}: {str(said.get('reason'))[:200]}"))
            elif said["type"] == "comparison":
                yield from self._both(number, said)
            elif said["type"] == "non_tensor":
                yield from self._values(said, _step(number, said))

    def _both(self, number: int, said: dict[str, Any]) -> Iterator[Record]:
        step = _step(number, said)
        for prefix, field in (("", "target"), (_BASELINE, "baseline")):
            name, facts = prefix + said["name"], said.get(field)
            if not isinstance(facts, dict) or not isinstance(stats := facts.get("stats"), dict):
                raise ValueError(f"line {number}: {field} of {said['name'][:200]!r} states no statistics")
            shape = facts.get("shape")
            if not isinstance(shape, list) or not all(type(size) is int for size in shape):
                raise ValueError(f"line {number}: the shape of {said['name'][:200]!r} is {str(shape)[:80]}")
            numbers = {item: _text(stats[each]) for each, item in _ITEMS.items() if each in stats}
            further = stats.get("percentiles")
            if isinstance(further, dict):
                numbers |= {f"percentile {str(at)[:9]}": _text(value) for at, value in further.items()}
            slot = Slot(name, "tensor", "output", 0, str(facts.get("dtype")), tuple(shape), numbers, iteration=step)
            yield self.record(slot, self.begins(name, step))

    def _values(self, said: dict[str, Any], step: int) -> Iterator[Record]:
        for prefix, field in (("", "target"), (_BASELINE, "baseline")):
            name = prefix + said["name"]
            key = SlotKey(0, 0, step, name, self.begins(name, step), "output", 0)
            yield self.argument(key, "tensor", f"{said.get(f'{field}_type')} {said.get(f'{field}_value')}")


def _step(number: int, said: dict[str, Any]) -> int:
    place = said.get("location")
    step = place.get("step") if isinstance(place, dict) else None
    if step is None:
        return 0
    if type(step) is not int or not 0 <= step < _LARGEST_STEP:
        raise ValueError(f"line {number}: its step is {str(step)[:40]}")
    return step


def _text(value: Any) -> str:
    """A number as a text; null, which JSON has in place of NaN, too."""
    if value is None:
        return "nan"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"a statistic is {str(value)[:40]!r}, no number")
    return repr(float(value)) if abs(value) < 2**1000 or value != value else "inf" if value > 0 else "-inf"
