"""Statements as users write them, around forms that keep a value's shape: blocks of ``language.txt``.

``{0}`` is the value taken, ``{1}`` the one made, ``f(...)`` and ``g(...)`` two forms drawn for it (``forms.txt``),
``self.flag`` an attribute that is drawn. A block that begins with ``def self.method`` has a method of the cell.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

from tests.differential.program import Statement, Var

BLOCKS = tuple(
    tuple(block.strip("\n").split("\n"))
    for block in (Path(__file__).parent / "language.txt").read_text(encoding="utf-8").split("---\n")
)


def write(chooser: random.Random, x: Var, out: Var, name: str, form: Callable[[], str]) -> Statement:
    """A block that makes ``out`` of ``x``; ``form`` gives forms of ``{0}``, ``name`` is that of what it adds to the
    cell."""
    forms = {"f": form(), "g": form()}
    lines = []
    for line in chooser.choice(BLOCKS):
        # Braces of Python's own are doubled; {0} and {1} stay places, for a shrinker to fill.
        line = re.sub(r"{(?![01]})|(?<!{[01])}", r"\g<0>\g<0>", line)
        line = re.sub(r"\b([fg])\(([\w{}]+)\)", lambda m: f"({forms[m[1]].replace('{0}', m[2])})", line)
        lines.append(line.replace("self.flag", f"self.flag{name}").replace("self.method", f"self.method{name}"))
    methods: list[str] = []
    if lines[0].startswith("def self."):
        end = next(at for at, line in enumerate(lines[1:], 1) if not line.startswith(" "))
        methods, lines = [lines[0].replace("def self.", "def ").replace("(x", "(self, x"), *lines[1:end]], lines[end:]
    flag = any(f"self.flag{name}" in line for line in lines)
    made = ((f"flag{name}", repr(chooser.random() < 0.5)),) if flag else ()
    return Statement("", (x.name,), (out,), made, tuple(lines), tuple(methods))
