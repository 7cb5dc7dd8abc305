"""``docs/comparison.md`` says what the code does."""

from __future__ import annotations

from pathlib import Path

from harness.compare import DEFAULTS, Verdict
from harness.compare.pairing.kinds import ROWS

PAGE = (Path(__file__).parents[2] / "docs" / "comparison.md").read_text(encoding="utf-8")


def rows(header: str) -> list[list[str]]:
    """The table whose header line begins with ``header``."""
    lines = PAGE.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(header)) + 2
    end = next(at for at, line in enumerate(lines[start:], start) if not line.startswith("|"))
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[start:end]]


def test_the_table_of_tolerances() -> None:
    expected = [[n, f"{t.rtol:g}", f"{t.scaled:g}", str(t.max_ulp)] for n, t in DEFAULTS.items()]
    assert rows("| dtype | rtol |") == expected
    assert not any(tolerance.atol for tolerance in DEFAULTS.values())


def test_the_table_of_verdicts() -> None:
    assert [row[:2] for row in rows("| verdict |")] == [[v.value, "yes" if v.holds else "no"] for v in Verdict]


def test_the_table_of_types() -> None:
    documented = [[cell.strip("`") for cell in row] for row in rows("| types | parts |")]
    assert documented == [[names, row.replace("|", "\\|")] for names, row in ROWS]
