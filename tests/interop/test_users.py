"""Scripts as users write them print the same here and under the real MindSpore, to its rounding."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.differential.side import Side
from tests.interop.table import Table

pytestmark = pytest.mark.interop
#: several processes share these tests out; being the last, they keep all busy to the end
APART = True
HERE = Path(__file__).parent / "users"
NAMES = sorted(path.stem for path in HERE.glob("*.py"))
#: what is in each script
ABOUT: dict[str, str] = json.loads((Path(__file__).parent / "users.json").read_text(encoding="utf-8"))
INTRO = """
`tests/interop/users` holds scripts as users write them, each run under the real MindSpore 2.10.0 and by `msdump run`:
what they print agrees if the texts are equal and each number is within a thousandth, or 2.1e-4.
"""
#: a number with the blanks around it: numpy pads an array's numbers to the longest, which rounding settles
_NUMBER = re.compile(r"[ ]*(-?\d+\.\d*(?:e[-+]?\d+)?)[ ]*")


def parts(text: str) -> tuple[str, list[float]]:
    """What a script printed: its text without fractions, and these."""
    return _NUMBER.sub("#", text), [float(number) for number in _NUMBER.findall(text)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_prints_the_same(name: str, tmp_path: Path, both: tuple[Side, Side], interop_table: Table) -> None:
    names = [f"`{each}`" for each in NAMES]
    columns = "what is in it", "result"
    rows = interop_table.section("Scripts as users write them", columns, INTRO, "script", names).rows
    row = {"what is in it": ABOUT[name], "result": "refused, or does not end"}
    rows[f"`{name}`"] = row
    ours, theirs = (
        parts(side.printed(HERE / f"{name}.py", tmp_path / place, limit=300))
        for side, place in zip(both, ("own", "real"), strict=True)
    )
    row["result"] = "differs"
    assert ours[0] == theirs[0]
    assert ours[1] == pytest.approx(theirs[1], rel=1e-3, abs=2.1e-4)
    row["result"] = "agrees"
