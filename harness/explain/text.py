"""An explanation as text: the cause within the first three lines, at most 25 lines and 4 kB in all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.environment import told
from harness.explain.explanation import Cause, Explanation, Origin
from harness.explain.numbers import printable
from harness.suggest import command
from harness.words import among, counted

MAX_LINES = 25
MAX_BYTES = 4000
_WIDTH = 300
_OTHERS = 8
CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Commands:
    """Commands to run next; an empty one is left out.

    Attributes:
        see: a command that shows more, as it can be typed.
        picture: a flag or command that leaves a page.
        meant: the command that accepts the difference.
    """

    see: str = ""
    picture: str = ""
    meant: str = ""

    def line(self) -> str:
        """All commands on one line."""
        named = (("See", self.see), ("Picture", self.picture), ("Meant", self.meant))
        return "   ".join(f"{name}: {command}" for name, command in named if command)


#: where another operator stands, no tolerance was asked
_OF_GRAPHS = frozenset({"replaced", "inserted", "removed", "moved"})


def block(explanation: Explanation, commands: Commands | None = None, colour: bool = False) -> str:
    """The lines of a failure, as the gate, check and diff show them.

    Args:
        explanation: see ``explain``.
        commands: commands to suggest.
        colour: whether to mark title, cause and values with ANSI colours, for a terminal.

    Examples:
        >>> from harness.explain import Commands, Explanation, block
        >>> print(block(Explanation("a run differs from its golden", None, None), Commands(see="msdump show dump")))
        a run differs from its golden
        0 of 0 slots are identical
        See: msdump show dump
    """
    lines = [printable(explanation.title, _WIDTH)]
    cause = explanation.cause
    if explanation.environment:
        lines.append(printable(f"Environment: {told(explanation.environment)}", _WIDTH))
    if cause is not None:
        source = f" ({printable(cause.source, 80)})" if cause.source else ""
        lead = f"Cause, {cause.certainty.value}{_within_rounding(cause)}"
        lines.append(f"{lead}: {printable(cause.text, _WIDTH)}{source}")
    if explanation.origin is not None:
        lines += origin_lines(explanation.origin)
    if explanation.filed == CANNOT_TELL:
        known = "no cause is known" if cause is None else "the environment may do that"
        lines.append(f"Beyond rounding, and {known}: a fault cannot be told from the change of the environment")
    lines += [printable(each, _WIDTH) for each in explanation.others[:_OTHERS]]
    if explanation.tolerance and (explanation.origin is None or explanation.origin.what not in _OF_GRAPHS):
        lines.append(printable(f"Tolerance: {explanation.tolerance}", _WIDTH))
    lines.append(_counts(explanation))
    last = (commands or Commands()).line()
    text = _bounded([*lines, *([last] if last else [])])
    return "\n".join(map(painted, text.split("\n"))) if colour else text


def _within_rounding(cause: Cause) -> str:
    """That an operator computed again gives the run's values, where it does not give their bits."""
    check = cause.check
    replayed = check is not None and check.transformation == "replay" and not check.exact
    return " (replayed within rounding)" if replayed else ""


def origin_lines(origin: Origin) -> list[str]:
    """The lines that name the first divergence."""
    key = origin.key
    rank = f"rank {key.rank}, " if key.rank else ""
    graph = f"graph {key.graph}, " if key.graph else ""
    again = f" (execution {key.execution})" if key.execution else ""
    source = f" ({printable(origin.source, 80)})" if origin.source else ""
    place = f"{rank}{graph}iteration {key.iteration}, {printable(origin.operator, 160)}{again}"
    lines = [f"First divergence: {place}, {origin.what}{source}"]
    if origin.found_as:
        lines.append(f"  found as {printable(origin.found_as, 160)}")
    words = [origin.ranks]
    if origin.element is not None:
        at = f"at {list(origin.element.index)} " if origin.element.index else ""
        words.append(f"{at}expected {origin.element.expected}, found {origin.element.found}")
        words.append(among(origin.differing, origin.count, "element", "differ") if origin.count > 1 else "")
    words += [origin.before, printable(origin.reason, 200), printable(origin.inputs, 160)]
    told = "; ".join(each for each in words if each)
    return [*lines, f"  {told}"] if told else lines


def _counts(explanation: Explanation) -> str:
    after = explanation.after
    operators = f"{counted(after, 'operator')} after it" if after else "nothing else"
    then = f"Then {operators}; " if explanation.origin is not None else ""
    return f"{then}{among(explanation.identical, explanation.slots, 'slot', 'are')} identical"


def _bounded(lines: Sequence[str]) -> str:
    """Cuts the lines to the limits; the last two always stay."""
    kept, end = list(lines[:-2]), list(lines[-2:])
    while len(kept) + len(end) > MAX_LINES or len("\n".join([*kept, *end]).encode(errors="replace")) > MAX_BYTES:
        if not kept:
            break
        kept.pop()
    raw = "\n".join([*kept, *end]).encode(errors="replace")
    return raw[:MAX_BYTES].decode(errors="ignore")


#: patterns to mark in a line of a block, by ANSI code: title, proven and likely causes, leads, values
_MARKS = (
    (re.compile(r".* (?:differs|cannot be told) from .*$"), "1"),
    (re.compile(r"Cause, proven[^:]*(?=:)"), "1;31"),
    (re.compile(r"Cause, likely[^:]*(?=:)"), "1;33"),
    (re.compile(r"(?:Environment|First divergence|Then|See|Picture|Meant)(?=:| )"), "36"),
    (re.compile(r"(?<=expected )[^ ,;]+(?=, found )"), "32"),
    (re.compile(r"(?<=, found )[^ ,;]+"), "31"),
)


def painted(line: str) -> str:
    """A line of a block in colours, for a terminal; any other line stays as it is."""
    if (
        not line.startswith(("Environment", "First divergence", "Cause", "Then ", "See: ", "  "))
        and " from " not in line
    ):
        return line
    marks = sorted((found.start(), found.end(), code) for p, code in _MARKS if (found := p.search(line)))
    done, parts = 0, []
    for start, end, code in marks:
        if start >= done:
            parts += [line[done:start], f"\033[{code}m{line[start:end]}\033[0m"]
            done = end
    return "".join([*parts, line[done:]])


def see_slot(explanation: Explanation | None, store: str, run: str) -> str:
    """The command that shows the first divergence in the golden, ready to type."""
    named = []
    if explanation is not None and explanation.origin is not None and explanation.origin.what != "inserted":
        named = ["--operator", explanation.origin.operator]
    return command("msdump", "show", Path(store), "--run", run, *named)
