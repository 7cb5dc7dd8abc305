"""The page: data that reads back, nothing fetched, and a browser that shows it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.cli import main
from harness.compare import check, explain, first_divergence
from harness.compare.hints import hints
from harness.compare.spread import spread
from harness.report import Run, content, render
from tests.compare.helpers import operator

NASTY = "Default/</script><script>alert(1)</script>&quot;/Add-op0"


def made(name: str = "net [cpu-tensor]", operators: int = 3, scale: float = 1.5) -> dict[str, Any]:
    """The content of a run in which the second operator of several is off."""
    rng = np.random.default_rng(1)
    sides: list[list[Any]] = [[], []]
    for side, factor in zip(sides, (1.0, scale), strict=True):
        value = rng.standard_normal((4, 6)).astype(np.float32) if side is sides[0] else sides[0][0].values
        for iteration in range(2):
            for number in range(operators):
                other = (value * np.float32(factor if number == 1 else 1) + np.float32(1)).astype(np.float32)
                where = NASTY if number == 2 else f"Default/layer{number}-Dense/Add-op{number}"
                side += operator(where, [value], [other], iteration=iteration)
                value = other
    comparison = check(*sides)
    course = spread(comparison)
    divergence = first_divergence(comparison)
    looks = hints(comparison, course, divergence.where) if divergence else ()
    text = explain(comparison, network="net", backend="cpu", mode="tensor")
    texts: tuple[dict[str, bytes], dict[str, bytes]] = (
        {"graphs/a.ir": b"one\ntwo\n"},
        {"graphs/a.ir": b"one\nthree\n"},
    )
    return content(Run(name, "golden", "run", comparison, course, looks, text, texts, ["emulated"]))


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
    assert page.count("</script>") == 2
    assert "<script>alert" not in page


def test_nothing_is_fetched() -> None:
    page = render([made()], "x")
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", page)
    assert "@import" not in page
    assert "url(" not in page
    # The one address is the name of a namespace.
    assert set(re.findall(r"https?://[\w./]+", page)) == {"http://www.w3.org/2000/svg"}


def test_what_a_run_holds() -> None:
    run = made()
    assert run["first"] is not None
    first = run["steps"][run["first"]]
    assert first["where"][3] == "Default/layer1-Dense/Add-op1"
    assert first["role"] == "new"
    assert run["details"]
    assert [each["state"] for each in run["artefacts"]] == ["differs"]
    assert "-two" in run["artefacts"][0]["diff"]
    assert made(scale=1.0)["holds"] is True


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


# -- in a browser ------------------------------------------------------------------------------------------------------
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-sync", "--disable-component-update", "--window-size=1300,900",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium; skips where there is none (its packages: chromium, chromium-driver, and selenium)."""
    paths = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    if not all(paths.values()):
        missing = "no chromium and chromedriver on this machine"
        pytest.fail(missing) if os.environ.get("MSDUMP_BROWSER_REQUIRED") else pytest.skip(missing)
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = str(paths["chromium"])
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    from selenium.webdriver.chrome.service import Service

    driver = webdriver.Chrome(options=options, service=Service(paths["chromedriver"]))
    yield driver
    driver.quit()


def opened(browser: Any, folder: Path, runs: list[dict[str, Any]]) -> None:
    page = folder / "report.html"
    page.write_text(render(runs, "report"))
    browser.get(page.as_uri())


def keys(browser: Any, *pressed: str) -> None:
    for key in pressed:
        browser.switch_to.active_element.send_keys(key)


def text(browser: Any) -> str:
    return str(browser.execute_script("return document.getElementById('view').innerText"))


def shot(browser: Any, name: str) -> None:
    """Keeps a picture where ``MSDUMP_SCREENSHOTS`` says, for people who look at a CI run."""
    folder = os.environ.get("MSDUMP_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        browser.save_screenshot(str(Path(folder) / f"{name}.png"))


VIEWS = {
    "1": "First divergence", "2": "Error along the execution order", "3": "of 12 slots", "4": "its slots",
    "5": "Noise of outputs", "6": "graphs/a.ir: differs",
}  # fmt: skip


def test_every_view_loads_without_an_error(browser: Any, tmp_path: Path) -> None:
    opened(browser, tmp_path, [made(), made("other", scale=1.0)])
    for key, words in VIEWS.items():
        keys(browser, key)
        assert words in text(browser)
        shot(browser, f"view-{key}")
    keys(browser, "t")
    shot(browser, "dark")
    assert browser.get_log("browser") == []


def test_sorting_filtering_and_links(browser: Any, tmp_path: Path) -> None:
    opened(browser, tmp_path, [made()])
    keys(browser, "3")
    column = "return [...document.querySelectorAll('.row')].map((row) => row.children[7].textContent)"
    browser.find_element("css selector", "[data-sort=max_abs]").click()
    values = [float(value) for value in browser.execute_script(column)]
    assert values == sorted(values, reverse=True)
    assert len(values) > 3
    browser.find_element("css selector", "[data-sort=max_abs]").click()
    assert [float(value) for value in browser.execute_script(column)] == sorted(values)
    keys(browser, "/")
    keys(browser, "layer1", "\ue00c")
    assert {row.text for row in browser.find_elements("css selector", ".row span:nth-child(3)")} == {
        "Default/layer1-Dense/Add-op1"
    }
    browser.find_element("css selector", ".grid").click()
    keys(browser, "3", "\ue015", "\ue007")
    assert "Default/layer1-Dense/Add-op1" in text(browser)
    browser.find_element("link text", "graph around it").click()
    assert "its slots" in text(browser)
    keys(browser, "]")
    assert "differs" in text(browser)
    assert browser.get_log("browser") == []


def test_ten_thousand_slots_are_shown_at_once(browser: Any, tmp_path: Path) -> None:
    opened(browser, tmp_path, [made(operators=2500)])
    keys(browser, "3")
    assert "of 10000 slots" in text(browser)
    # Only the rows in sight are elements.
    assert len(browser.find_elements("css selector", ".row")) < 100
    keys(browser, "\ue010")
    assert len(browser.find_elements("css selector", ".row[aria-selected=true]")) == 1
    loaded = browser.execute_script("const t = performance.timing; return t.loadEventEnd - t.navigationStart")
    print(f"loaded in {loaded} ms")
    assert browser.get_log("browser") == []
