"""Where the files of trees at URLs lie, and whose they are; no file system is needed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.scale.places import listed, opened


@pytest.mark.parametrize("numbers", [(101, 202), (4000, 17), (7,)])
def test_the_number_of_a_process_is_no_rank_at_a_url(
    numbers: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"step{step}/proc{number}/dump.json" for step in (0, 1) for number in numbers]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(f'{{"task": "statistics", "data": {{}}, "of": "{name}"}}')

    class Files:
        def find(self, root: str, detail: bool) -> dict[str, dict[str, int]]:
            return {f"{root}/{name}": {"size": 1} for name in names}

        def get_file(self, path: str, target: str) -> None:
            Path(target).write_bytes((tmp_path / path.removeprefix("root/")).read_bytes())

    monkeypatch.setattr(sys.modules["harness.scale.places"], "filesystem", lambda place: (Files(), "root"))
    here = {each.path.split("/")[1]: each.rank for each in listed("odd://root")}
    assert here == {f"proc{number}": rank for rank, number in enumerate(sorted(numbers))}
    for rank, number in enumerate(sorted(numbers)):
        with opened("odd://root", (rank, -1, 1)) as folder:
            (brought,) = Path(folder).rglob("dump.json")
            assert brought.relative_to(folder).as_posix() == f"step1/rank{rank}/dump.json"
            assert f"proc{number}/" in brought.read_text()
