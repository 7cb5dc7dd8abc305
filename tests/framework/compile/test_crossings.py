"""How many function graphs lie behind a value, beside MindSpore 2.10.0 (``tests/data/crossings``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.framework.runtime import session
from tests.data.crossings.forms import FORMS, Form, classes
from tests.framework.compile.build import Graphs, play

DATA = Path(__file__).parents[2] / "data" / "crossings"
CROSSINGS: dict[str, int] = json.loads((DATA / "crossings.json").read_text())
#: forms that differ, and why; a reason that no longer holds fails here
KNOWN: dict[str, str] = {}


def crossing(form: Form) -> int:
    """The real one's."""
    return CROSSINGS[form.expression if form.layer == "None" else form.layer]


def is_nearer(pairs: list[tuple[int, int]], scratch: Path) -> list[bool]:
    """For each number of a form and depth, whether the Atan beside it has its gradient first."""
    script = scratch / "forms.py"
    script.write_text(
        classes({number for number, _ in pairs}) + "".join(f"\ngradient({number}, {depth})" for number, depth in pairs)
    )
    watcher = Graphs()
    with session.fresh([watcher], hooked=False):
        play(script)
    assert len(watcher.found) == len(pairs)
    found = [next(n.name for n in graph.nodes if "/Grad_Atan/" in n.name) for graph in watcher.found]
    return ["/beside-" in name for name in found]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[bool, bool]]:
    """For each form, the order one cell before its crossing, and at it."""
    pairs = [(number, depth) for number, form in enumerate(FORMS) for depth in (crossing(form) - 1, crossing(form))]
    found = is_nearer(pairs, tmp_path_factory.mktemp("crossings"))
    return list(zip(found[::2], found[1::2], strict=True))


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(FORMS)), ids=[f"{form.row} {n}" for n, form in enumerate(FORMS)])
def test_the_crossing_is_the_real_one(number: int, ours: Any) -> None:
    assert ours[number] == (True, False)
