"""The page is the same whether one process ran the tests or several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.interop.table import Table

SECTIONS = (
    ("a", "Second of a", "one"),
    ("a", "First of a", "two"),
    ("b", "Of b", "three"),
    ("a", "Second of a", "four"),
)


def _filled(sections: Sequence[tuple[str, str, str]]) -> Table:
    table = Table()
    for module, title, name in sections:
        table.module = module
        section = table.section(title, ("slots",))
        section.rows[name] = {"slots": len(name)}
        section.note("Known differences", [f"{name}: so it is"])
    return table


def test_workers_write_the_page_of_one_process(tmp_path: Path) -> None:
    alone, together = tmp_path / "alone.md", tmp_path / "together.md"
    _filled(SECTIONS).write(alone, tmp_path / "alone.json")
    for module in ("b", "a"):
        _filled([each for each in SECTIONS if each[0] == module]).write(together, tmp_path / "together.json")
    assert together.read_text(encoding="utf-8") == alone.read_text(encoding="utf-8")
    titles = [line for line in alone.read_text(encoding="utf-8").splitlines() if line.startswith("## ")]
    assert titles == ["## Second of a", "## First of a", "## Of b"]


def test_rows_of_one_section_may_come_from_two_processes(tmp_path: Path) -> None:
    for module, name in (("b", "one"), ("a", "two")):
        _filled([(module, "Shared", name)]).write(tmp_path / "page.md", tmp_path / "kept.json")
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert page.count("## Shared") == 1
    assert page.index("| two |") < page.index("| one |") < page.index("two: so it is") < page.index("one: so it is")


def test_a_section_of_another_run_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    _filled(SECTIONS).write(page, tmp_path / "first.json")
    whole = page.read_text(encoding="utf-8")
    _filled([SECTIONS[2]]).write(page, tmp_path / "second.json")
    assert page.read_text(encoding="utf-8") == whole
    _filled([("b", "Of b", "five"), ("b", "New", "six")]).write(page, tmp_path / "third.json")
    titles = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("## ")]
    assert titles == ["## Second of a", "## First of a", "## Of b", "## New"]
    assert "| five |" in page.read_text(encoding="utf-8")
    assert "| three |" not in page.read_text(encoding="utf-8")


def test_rows_that_a_sample_leaves_out_stay(tmp_path: Path) -> None:
    page, names = tmp_path / "page.md", ["`a`", "`b`", "`c`"]
    for run, (compared, known) in enumerate([(["`c`", "`a`"], names), (["`b`"], names), (["`c`"], names[1:])]):
        table = Table()
        section = table.section("Sampled", ("run",), names=known)
        section.rows |= {name: {"run": run} for name in compared}
        table.write(page, tmp_path / f"{run}.json")
        rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
        assert rows == [["| `a` | 0 |", "| `c` | 0 |"], ["| `a` | 0 |", "| `b` | 1 |", "| `c` | 0 |"],
                        ["| `b` | 1 |", "| `c` | 2 |"]][run]  # fmt: skip


def test_nothing_compared_is_no_page(tmp_path: Path) -> None:
    Table().write(tmp_path / "page.md", tmp_path / "kept.json")
    assert not list(tmp_path.iterdir())
