"""The page: data that reads back, nothing fetched."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.cli import main
from harness.compare import check
from harness.compare.spread import spread
from harness.explain import Explanation, Origin
from harness.report import Run, content, render
from tests.compare.helpers import operator
from tests.report.made import made


def data_of(page: str) -> Any:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    return json.loads(match[1])


def test_the_data_read_back() -> None:
    run = made()
    page = render([run, run], "a < b & c")
    assert data_of(page) == {"title": "a < b & c", "runs": [json.loads(json.dumps(run))] * 2}
    assert "<title>a &lt; b &amp; c</title>" in page
    assert "{{" not in page.split('id="data"')[0]


def test_no_name_of_a_run_can_end_the_script() -> None:
    page = render([made()], "x")
    assert page.count("</script>") == 3
    assert "<script>alert" not in page


def test_nothing_is_fetched() -> None:
    page = render([made()], "x")
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", page)
    assert "@import" not in page
    assert "url(" not in page
    # The one address is the name of a namespace.
    assert set(re.findall(r"https?://[\w./]+", page)) == {"http://www.w3.org/2000/svg"}


def test_the_policy_admits_nothing_but_the_pages_own() -> None:
    page = render([made()], "x")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]
    # The library comes with its licence.
    assert "/*! dagre 3.1.3" in page
    assert "Permission is hereby granted, free of charge" in page


def test_what_a_run_holds() -> None:
    run = made()
    assert run["first"] is not None
    first = run["steps"][run["first"]]
    assert first["where"][3] == "Default/layer1-Dense/Add-op1"
    assert first["role"] == "new"
    assert run["details"]
    assert [each["state"] for each in run["artefacts"]] == [
        "differs", "identical", "differs", "differs", "new", "missing",
    ]  # fmt: skip
    assert made(scale=1.0)["holds"] is True


def test_the_picture_marks_what_the_text_calls_the_first_divergence() -> None:
    value = np.ones((2, 3), np.float32)
    names = ("Default/a-Dense/Add-op0", "Default/b-Dense/Add-op1")
    sides = [[one for name in names for one in operator(name, [value], [value * k])] for k in (1, 2)]
    comparison = check(*sides)
    firsts = []
    for name in names:
        key = next(slot.key for slot in comparison.slots if slot.key.operator == name)
        told = Explanation("it differs", Origin("moved", name, key), None)
        page = content(Run("net", "golden", "run", comparison, spread(comparison), told, verdict="differs"))
        firsts.append(page["steps"][page["first"]]["where"][3])
    assert firsts == list(names)


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from harness.store import RunData, RunId, update

    runs = {
        RunId("mindspore", name): RunData(operator("Add-op0", [], [np.full(3, k, np.float32)]))
        for name, k in (("a", 1), ("b", 2))
    }
    update(tmp_path / "x.h5", "net", runs)
    sides = [f"{tmp_path / 'x.h5'}::mindspore/{name}" for name in "ab"]
    assert main(["diff", *sides, "--report", str(tmp_path / "out.html")]) == 1
    run = data_of((tmp_path / "out.html").read_text())["runs"][0]
    assert run["counts"]["differs"] == 1
    assert run["notes"] == ["expected: mindspore, real", "found: mindspore, real"]
