"""Scripts run twice under the real MindSpore 2.10.0, the second time with one change: what ``msdump diff`` says of it.

``changed/rows.py`` says what is right, by hand. One loaded MindSpore forks for each script.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli.diff import Found, compare_sides
from harness.cli.operands import open_side
from harness.explain import block
from tests.differential.side import Side
from tests.interop.changed.rows import ROWS, Row

pytestmark = pytest.mark.interop

SCRIPTS = Path(__file__).parent / "changed"
BASES = sorted({row.script for row in ROWS})
#: seconds a script may take
LIMIT = 600
Dumped = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def dumped(mindspore_side: Side, tmp_path_factory: pytest.TempPathFactory) -> Dumped:
    """Gives the dump tree of a script under a name; what was run is kept."""
    trees: dict[str, Path] = {}

    def tree(name: str, text: str) -> Path:
        if name not in trees:
            out = tmp_path_factory.mktemp(name)
            script = out / "train.py"
            script.write_text(text)
            mindspore_side.begin(script, out, LIMIT)
            assert mindspore_side.end() == 0, (out / "stderr").read_text(errors="replace")[-3000:]
            trees[name] = out / "tree"
        return trees[name]

    return tree


def source(script: str) -> str:
    return (SCRIPTS / f"{script}.py").read_text()


def compared(one: Path, other: Path) -> Found:
    with open_side(str(one), None, None) as expected, open_side(str(other), None, None) as found:
        return compare_sides(expected, found, None)


def test_there_are_enough() -> None:
    assert len(ROWS) >= 40
    assert all(source(row.script).count(row.old) == 1 for row in ROWS)


@pytest.mark.parametrize("script", BASES)
def test_an_unchanged_script_agrees(dumped: Dumped, script: str) -> None:
    found = compared(dumped(script, source(script)), dumped(f"{script}-again", source(script)))
    assert found.judged.holds, found.explanation and block(found.explanation)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{ROWS.index(row)}-{row.script}")
def test_origin_and_cause(dumped: Dumped, row: Row) -> None:
    base = source(row.script)
    golden = dumped(row.script, base)
    found = compared(golden, dumped(f"{row.script}-{ROWS.index(row)}", base.replace(row.old, row.new)))
    explanation = found.explanation
    assert explanation is not None, found.judged.notes
    told = block(explanation)
    origin, cause = explanation.origin, explanation.cause
    assert origin is not None, told
    assert any(re.search(row.origin, name) for name in (origin.operator, origin.found_as) if name), told
    assert cause is not None, told
    assert all(words in cause.text for words in row.says), told
    replayed = cause.check is not None and cause.check.transformation == "replay"
    assert cause.certainty.proven or replayed or not row.proven, told
    assert cause.certainty.proven <= (cause.check is not None and cause.check.exact), told
    assert told.split("\n")[1].startswith("Cause, "), told
    assert len(told.split("\n")) <= 12, told
