"""The page of an inspection in a browser: a click tells, findings lead to their rows, nothing is fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.bench_inspect import write_statistics
from harness.capture import read_tree
from harness.inspect.inspecting import examined
from harness.report.health import page
from harness.testing.sick import make
from tests.report.conftest import Screen


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_click_tells_operator_line_and_step(screen: Screen, width: int, scheme: str) -> None:
    screen.page.set_viewport_size({"width": width, "height": 900})
    screen.page.emulate_media(color_scheme=scheme)
    screen.show(page(*examined(make("dead units", 1).capture())))
    screen.page.locator(".strip img").first.click()
    told = screen.texts("output")[0]
    assert "MatMul-op0" in told
    assert ": about " in told
    assert ".py:" in told
    screen.page.locator(".error a").first.click()
    screen.page.locator(".strip.chosen").wait_for(timeout=10_000)
    assert screen.run("() => document.documentElement.scrollWidth") == width


def test_ten_thousand_rows(screen: Screen, tmp_path: Path) -> None:
    write_statistics(tmp_path, 3, 10_000, operands=0)
    screen.show(page(*examined(read_tree(str(tmp_path)))))
    screen.page.locator(".overview img").click(position={"x": 50, "y": 100})
    assert "layer" in screen.texts("output")[0]
    screen.page.locator(".tools input").fill("layer9876-")
    screen.press("Tab")
    assert "MatMul-op9876" in screen.texts("output")[0]
    assert screen.page.locator(".rows i").count() == 1
