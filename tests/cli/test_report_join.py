"""``msdump report --join``: pages of several CI jobs become one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness.cli import main
from tests.scale.trees import write_tree


def page(folder: Path, name: str, *, differs: bool) -> Path:
    one = write_tree(folder / f"{name}-one", range(1), 2)
    other = write_tree(folder / f"{name}-other", range(1), 2, changed=(0, 1) if differs else None)
    assert main(["diff", str(one), str(other), "--report", str(folder / f"{name}.html")]) == differs
    return folder / f"{name}.html"


def runs(path: Path) -> list[dict[str, object]]:
    data = re.search('id="data">(.*?)</script>', path.read_text(), re.DOTALL)
    assert data is not None
    return list(json.loads(data[1])["runs"])


def test_runs_of_all_pages_are_on_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calm, loud = page(tmp_path, "calm", differs=False), page(tmp_path, "loud", differs=True)
    joined = tmp_path / "all.html"
    capsys.readouterr()
    assert main(["report", str(calm), str(loud), "--join", str(joined)]) == 1
    assert "2 runs of 2 jobs, 1 does not hold" in capsys.readouterr().out
    first, second = runs(joined)
    assert (first["holds"], second["holds"]) == (False, True)
    names = {str(first["name"]), str(second["name"])}
    assert len(names) == 2, "runs of one name carry their page's"
    assert first | {"name": 0} == runs(loud)[0] | {"name": 0}
    assert main(["report", str(calm), "--join", str(joined)]) == 0
    assert main(["report", str(joined), str(loud), "--join", str(tmp_path / "more.html")]) == 1


@pytest.mark.parametrize(
    "text",
    ["", "<html>", '<script type="application/json" id="data">{"runs": [{"name": "x"}]}</script>',
     '<script type="application/json" id="data">{"runs": 1}</script>',
     '<script type="application/json" id="data">' + "[" * 100_000 + "</script>"],
)  # fmt: skip
def test_what_is_no_page_is_one_line(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    bad, joined = tmp_path / "bad.html", tmp_path / "all.html"
    bad.write_text(text)
    for given in (bad, tmp_path / "none.html", tmp_path):
        assert main(["report", str(given), "--join", str(joined)]) == 2
        error = capsys.readouterr().err
        assert len(error.splitlines()) == 1
        assert str(given) in error
    assert not joined.exists()


def test_a_name_that_would_end_the_element_stays_a_name(tmp_path: Path) -> None:
    source = page(tmp_path, "loud", differs=True)
    evil = source.read_text().replace('"name":"', '"name":"\\u003c/script>', 1)
    source.write_text(evil)
    assert main(["report", str(source), "--join", str(tmp_path / "all.html")]) == 1
    assert str(runs(tmp_path / "all.html")[0]["name"]).startswith("</script>")
