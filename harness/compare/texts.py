"""Compares the texts of a run with those of its golden line by line, with a short extract of the differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.compare.line_diff import blocks, clipped, common
from harness.compare.verdict import Verdict
from harness.words import among, counted

#: Number of characters shown of a line.
WIDTH = 110
_CONTEXT = 30
_LOOKED_AT = 40
_SHOWN_TEXTS = 3
_SHOWN_LINES = 8
_NAMED = 6


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """A text that does not hold.

    Attributes:
        name: name of the artefact.
        verdict: ``DIFFERS``, ``MISSING`` or ``UNEXPECTED``.
        expected: its content on the expected side; empty if that side lacks it.
        found: its content on the found side; empty if that side lacks it.
    """

    name: str
    verdict: Verdict
    expected: bytes = b""
    found: bytes = b""


@dataclass(frozen=True, slots=True)
class TextComparison:
    """The verdicts on all texts.

    Attributes:
        names: names of all texts on either side, sorted.
        failures: verdicts of the texts that do not hold, in the same order.
    """

    names: tuple[str, ...]
    failures: tuple[TextVerdict, ...]

    @property
    def holds(self) -> bool:
        """Whether every text is the golden's."""
        return not self.failures


def compare_texts(expected: Mapping[str, bytes], found: Mapping[str, bytes]) -> TextComparison:
    """Judges every text of both sides; texts are equal if their bytes are.

    Args:
        expected: the golden's texts, by name.
        found: the run's texts, by name.

    Examples:
        >>> from harness.compare import compare_texts
        >>> texts = compare_texts({"graph.ir": b"Add"}, {"graph.ir": b"Sub"})
        >>> texts.holds
        False
    """
    names = sorted(expected.keys() | found.keys())
    failures = []
    for name in names:
        if name not in found:
            failures.append(TextVerdict(name, Verdict.MISSING, expected=expected[name]))
        elif name not in expected:
            failures.append(TextVerdict(name, Verdict.UNEXPECTED, found=found[name]))
        elif expected[name] != found[name]:
            failures.append(TextVerdict(name, Verdict.DIFFERS, expected[name], found[name]))
    return TextComparison(tuple(names), tuple(failures))


def explain_texts(
    comparison: TextComparison,
    title: str,
    next_steps: Sequence[str] = (),
    readable: Callable[[str, bytes], bytes] | None = None,
) -> str:
    """Describes the differences in words, in about 35 lines and 3.5 kB.

    Args:
        title: the first line.
        next_steps: commands to suggest; each is printed completely.
        readable: gives lines for the content of a binary artefact of that name.
    """
    failures = comparison.failures
    kinds = (Verdict.DIFFERS, Verdict.MISSING, Verdict.UNEXPECTED)
    counts = [sum(each.verdict is kind for each in failures) for kind in kinds]
    parts = ", ".join(f"{count} {kind.counted}" for count, kind in zip(counts, kinds, strict=True))
    same = len(comparison.names) - len(failures)
    lines = [title, f"{counted(len(comparison.names), 'text')}: {same} identical, {parts}"]
    shown = _distinct(failures, readable)
    lines += [line for picture in shown.values() for line in picture]
    others = [each for each in failures if each.name not in shown]
    if others:
        named = ", ".join(clipped(f"{each.name} ({each.verdict.value})", 70) for each in others[:_NAMED])
        more = f", and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        lines.append(f"also: {named}{more}")
    if next_steps:
        lines += ["What to run next:", *(f"  {step}" for step in next_steps)]
    return "\n".join(lines)


def summary(comparison: TextComparison, readable: Callable[[str, bytes], bytes] | None = None) -> str:
    """The number of differing texts, and the first difference, in four lines; for ``readable`` see
    ``explain_texts``."""
    head = among(len(comparison.failures), len(comparison.names), "text", "differ")
    return "\n".join([head, *itertools.islice(_shown(comparison.failures[0], readable), 4)])


def _distinct(failures: Sequence[TextVerdict], readable: Callable[[str, bytes], bytes] | None) -> dict[str, list[str]]:
    """The first differences that do not repeat an earlier one, by name: a change shows in all stages."""
    found: dict[str, list[str]] = {}
    seen = set()
    for each in failures[:_LOOKED_AT]:
        head, *picture = _shown(each, readable)
        if len(found) < _SHOWN_TEXTS and (not picture or tuple(picture) not in seen):
            found[each.name] = [head, *picture]
            seen.add(tuple(picture))
    return found


def _shown(failure: TextVerdict, readable: Callable[[str, bytes], bytes] | None) -> Iterator[str]:
    name = clipped(failure.name, 150)
    if failure.verdict is Verdict.MISSING:
        yield f"{name}: the golden has it ({counted(len(failure.expected), 'byte')}), this run does not"
    elif failure.verdict is Verdict.UNEXPECTED:
        yield f"{name}: this run has it ({counted(len(failure.found), 'byte')}), the golden does not"
    else:
        both = [failure.expected, failure.found]
        if readable is not None:
            both = [readable(failure.name, raw) for raw in both]
        expected, found = (raw.decode("utf-8", "backslashreplace").split("\n") for raw in both)
        yield f"{name}: golden {counted(len(expected), 'line')}, found {len(found)}"
        yield from short_diff(expected, found)


def short_diff(expected: Sequence[str], found: Sequence[str], limit: int = _SHOWN_LINES) -> list[str]:
    """At most ``limit`` lines of what differs, ``-`` golden and ``+`` found, each place with its line number.

    Of a long line, the part that differs is shown.
    """
    lines: list[str] = []
    for equal, old, old_end, new, new_end in blocks(expected, found):
        if not equal:
            lines.append(f"  line {old + 1}:")
            lines += _pairs(expected[old:old_end], found[new:new_end])
    if len(lines) > limit:
        lines = [*lines[: limit - 1], f"  ... ({len(lines) - limit + 1} more lines of differences)"]
    return lines


def _pairs(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    for before, after in itertools.zip_longest(old, new):
        at = max(common(before, after) - _CONTEXT, 0) if before is not None and after is not None else 0
        if before is not None:
            yield "  - " + clipped(before, WIDTH, at)
        if after is not None:
            yield "  + " + clipped(after, WIDTH, at)
