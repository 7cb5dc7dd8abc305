"""What a capture did not see, or saw otherwise than it usually runs, and the closing lines that say so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.capture import Capture

#: what a result holds about it, and how the closing lines begin
TITLES = {
    "compiled": "compiled by torch.compile; code that inductor made is recorded by what it reads and gives:",
    "unread": "not read or not followed:",
}
_LONGEST = 400
_MAX_NAMED = 20


def of(capture: Capture) -> tuple[str, str]:
    """Modules that ``torch.compile`` had wrapped; and how many tensors could not be read, with the first of them
    (``3, the first: Default/relu-op0 input.0: it lies on device meta``). Empty texts if there are none."""
    from harness.compare.policy import WHOLE

    compiled = ", ".join(path or WHOLE for path in capture.rules.get("compiled", ()))
    lost = [each for each in capture.problems if each.kind != "empty"]
    unread = f"{len(lost)}, the first: {lost[0].path}: {lost[0].why}" if lost else ""
    return compiled[:_LONGEST], unread[:_LONGEST]


def closing(results: Iterable[Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """The closing lines about these results."""
    flat = [each for group in results for each in group]
    for name, title in TITLES.items():
        found = sorted({_line(each, name) for each in flat if each[name]})
        if found:
            yield title
            yield from (f"  {each}" for each in found[:_MAX_NAMED])
        if len(found) > _MAX_NAMED:
            yield f"  ... and {len(found) - _MAX_NAMED} more"


def _line(result: Mapping[str, Any], name: str) -> str:
    return f"{result['network']} [{result['backend']}-{result['mode']}]: {result[name]}"
