"""Programs that show rows of ``docs/differences.md``: what they print, and which operators their graphs hold.

``rows.txt`` has them: ``== START OF A ROW`` and a program. ``python -m tests.docs.rows REAL`` records both sides in
``tests/data/differences.json`` and prints the rows that no longer differ; REAL is the Python with MindSpore 2.10.0
and numpy 1.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from harness.capture import read_tree
from tests.differential.side import Side
from tests.subprocesses import ROOT

HERE = Path(__file__).parent
PAGE = ROOT / "docs" / "differences.md"
RECORDED = ROOT / "tests" / "data" / "differences.json"
#: a line of the program in the name of an input
_LINE = re.compile(r"_\d+_\d+_(?=input_)")


def programs() -> dict[str, str]:
    """The start of a row -> its program."""
    found: dict[str, str] = {}
    for block in (HERE / "rows.txt").read_text(encoding="utf-8").removeprefix("== ").split("\n== "):
        row, _, program = block.partition("\n")
        assert row not in found, f"two programs for {row!r}"
        found[row] = program
    return found


def outcomes(side: Side, sources: Iterable[str], folder: Path) -> list[list[str]]:
    """For each program: the lines it prints, then the operators and inputs of its graphs."""
    prelude = (HERE / "rows_prelude.py").read_text(encoding="utf-8")
    found = []
    for number, source in enumerate(sources):
        out = folder / str(number)
        out.mkdir(parents=True)
        script = out / "program.py"
        script.write_text(prelude + source, encoding="utf-8")
        side.begin(script, out, 120)
        code = side.end()
        found.append([*((out / "stdout").read_text().splitlines()), *([f"exit code {code}"] if code else [])])
        if (out / "tree" / "rank_0" / "execution_order").exists():
            capture = read_tree(out / "tree")
            order = [f"{number} {name}" for number, names in capture.execution_order.items() for name in names]
            inputs = sorted({record.key.operator for record in capture.records() if record.op_type == "Parameter"})
            found[-1] += [*order, *(f"input {_LINE.sub('_', name)}" for name in inputs)]
    return found


def rows_of_the_page() -> list[list[str]]:
    """The cells of each row of the page's tables."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    return [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]


def record(real: str, folder: Path) -> None:
    """Writes what both sides give."""
    table = programs()
    sides = Side(sys.executable, own=True), Side(real, own=False)
    here, there = (outcomes(side, table.values(), folder / name) for side, name in zip(sides, "ht", strict=True))
    for side in sides:
        side.close()
    found = {row: {"here": a, "there": b} for row, a, b in zip(table, here, there, strict=True)}
    RECORDED.write_text(json.dumps(found, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    for row, both in found.items():
        if both["here"] == both["there"]:
            print(f"no difference: {row}")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as directory:
        record(sys.argv[1], Path(directory))
