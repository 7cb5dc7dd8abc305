"""What programs of the second style are made of, from ``forms.txt``: one form a line, with ``|`` between its parts.

The expression (``{0}`` and ``{1}`` are its arguments, ``{c}`` the attribute that ``__init__`` makes for it, ``{n}`` the
length of the last axis, ``{h}`` that of the second); what ``__init__`` makes; how many dimensions it takes (``23``: two
or three; any number if empty); the shape it gives, of ``s``, that of its first argument (the same if empty).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

from tests.differential.program import Shape


@dataclass(frozen=True)
class Form:
    """One way to compute.

    Attributes:
        text: the expression.
        made: source of what ``__init__`` makes for it; empty for nothing.
        ranks: how many dimensions it takes.
        shape: source of the shape it gives.
    """

    text: str
    made: str = ""
    ranks: tuple[int, ...] = (1, 2, 3, 4)
    shape: str = "s"

    @property
    def arity(self) -> int:
        """How many arguments of one shape it takes."""
        return 2 if "{1}" in self.text else 1

    def gives(self, shape: Shape) -> Shape:
        """The shape of its result."""
        return tuple(eval(self.shape, {"s": tuple(shape), "prod": prod}))


def filled(text: str, shape: Shape) -> str:
    """``text`` with the lengths of ``shape`` in place of ``{n}`` and ``{h}``."""
    return text.replace("{n}", str(shape[-1])).replace("{h}", str(shape[1] if len(shape) > 1 else 1))


def _read() -> Iterator[tuple[str, Form]]:
    group = ""
    for line in (Path(__file__).parent / "forms.txt").read_text().splitlines():
        if line.startswith("# "):
            group = line[2:]
            continue
        text, made, ranks, shape = ([part.strip() for part in line.split(" | ")] + [""] * 3)[:4]
        yield group, Form(text, made, tuple(map(int, ranks)) or (1, 2, 3, 4), shape or "s")


#: all, by group
GROUPS: dict[str, tuple[Form, ...]] = {}
for _group, _form in _read():
    GROUPS[_group] = (*GROUPS.get(_group, ()), _form)
FORMS = tuple(form for forms in GROUPS.values() for form in forms)
