"""Compares the texts of two sides: graphs, execution orders, what modes watched and the recorder wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness.capture.capture import COMPARED, RECORDED, RESULTS
from harness.capture.recorder import MODES, readable
from harness.cli.operands import Side
from harness.compare import TextComparison, compare_texts, explain_texts
from harness.compare.policy import texts_count
from harness.report import artefacts
from harness.report.artefacts import IDENTICAL, state
from harness.words import counted

_NAMED = 4
_OF_A_MODE = re.compile(rf"{RECORDED}(\d+)/")


@dataclass(frozen=True)
class Texts:
    """The texts of two sides.

    Attributes:
        expected, found: texts by name; the recorder's names are those of the found side.
        judged: whether a difference of a text that is a result counts, see ``harness.compare.policy.texts_count``; it
            does where one side is a directory of the recorder, which has nothing else to compare.
        notes: what was not compared, and why.
        stored: whether both are runs of goldens, which hold every text that a test hands over.
    """

    expected: Mapping[str, bytes]
    found: Mapping[str, bytes]
    judged: bool
    notes: tuple[str, ...] = ()
    stored: bool = False

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Every text with its differences, see ``harness.report.artefacts``."""
        return artefacts(self.expected, self.found)

    @cached_property
    def results(self) -> TextComparison:
        """The texts whose differences count."""
        sides = ({n: side[n] for n in side if self._counts(n)} for side in (self.expected, self.found))
        return compare_texts(*sides)

    def _counts(self, name: str) -> bool:
        kind = next((each for each in RESULTS if name.startswith(each)), None)
        both = kind is not None and all(any(n.startswith(kind) for n in side) for side in (self.expected, self.found))
        both |= kind == COMPARED and self.stored
        return self.judged and both

    def lines(self) -> list[str]:
        """Lines for people: the number of texts, and the first differences of those that count."""
        names = sorted({*self.expected, *self.found})
        if not names:
            return []
        lines = []
        if not self.results.holds:
            lines += explain_texts(self.results, "Texts that are results differ:", (), readable).split("\n")
        # Their lines are not compared here; only JSON and the page need that.
        states = {
            n: state(self.expected.get(n), self.found.get(n))
            for n in names
            if not (self.notes and n.startswith(RECORDED))
        }
        others = [(n, each) for n, each in states.items() if each != IDENTICAL and not self._counts(n)]
        same = list(states.values()).count(IDENTICAL)
        lines.append(f"{counted(len(states), 'text')}: {same} identical" + (", " if others else ""))
        if others:
            named = ", ".join(f"{n} ({each})" for n, each in others[:_NAMED])
            more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
            lines[-1] += f"{len(others)} that only describe do not agree: {named}{more}; --report shows how"
        return [*lines, *self.notes]


def texts_of(one: Side, other: Side) -> Texts:
    """The texts of two sides; the recorder's are compared within one of its modes."""
    alike = one.holds_texts_alone or other.holds_texts_alone or texts_count(one.party, other.party)
    expected, found = one.artefacts, other.artefacts
    notes: list[str] = []
    recorded = [[n for n in side if n.startswith(RECORDED)] for side in (expected, found)]
    if bool(recorded[0]) != bool(recorded[1]):
        name, count = (one.name, len(recorded[0])) if recorded[0] else (other.name, len(recorded[1]))
        notes.append(f"only {name} has texts of the recorder ({count}): not compared")
    modes = [any(_OF_A_MODE.match(n) for n in names) for names in recorded]
    if all(recorded) and modes[0] != modes[1]:
        expected, found = _of_one_mode(expected, found) if modes[0] else _of_one_mode(found, expected)[::-1]
    stored = one.run is not None and other.run is not None and one.mode == other.mode
    return Texts(expected, found, alike, tuple(notes), stored)


def _of_one_mode(golden: Mapping[str, bytes], tree: Mapping[str, bytes]) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Chooses the names of the recorder mode that fits better: a golden holds both modes, a directory only one without
    saying which."""

    def by_name(mode: int) -> dict[str, bytes]:
        return {
            _OF_A_MODE.sub(RECORDED, name, count=1): text
            for name, text in golden.items()
            if not name.startswith(RECORDED) or name.startswith(f"{RECORDED}{mode}/")
        }

    sides = [by_name(mode) for mode in MODES]
    return min(sides, key=lambda side: len(compare_texts(side, tree).failures)), dict(tree)
