"""A headless Chromium for the tests of the page; ``tox -e browser`` has one everywhere.

Without one its tests are skipped; they fail where ``MSDUMP_BROWSER_REQUIRED`` is set. ``MSDUMP_SCREENSHOTS`` names a
directory where pictures are kept, for people who look at a CI run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.report import render
from tests.report.chromium import find

WIDTH, HEIGHT = 1300, 900


class Screen:
    """One page in the browser.

    Attributes:
        page: of Playwright.
        troubles: what the console said and what was thrown; a test ends with none.
        requests: addresses that were asked for, the page's own first.
    """

    def __init__(self, page: Any, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.troubles: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.troubles.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, runs: list[dict[str, Any]], title: str = "report") -> None:
        """Shows a page about ``runs``."""
        self.show(render(runs, title))

    def show(self, text: str) -> None:
        """Shows a page."""
        path = self.folder / "report.html"
        path.write_text(text, encoding="utf-8")
        self.page.goto(path.as_uri())

    def press(self, *keys: str) -> None:
        """Presses keys, one after the other, wherever the focus is."""
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def text(self) -> str:
        """What the view says."""
        return str(self.page.inner_text("#view"))

    def run(self, script: str, *arguments: Any) -> Any:
        """Runs a function of JavaScript on the page."""
        return self.page.evaluate(script, *arguments)

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements in sight that match."""
        return [str(each) for each in self.page.locator(selector).all_inner_texts()]

    def drawn(self, selector: str) -> list[str]:
        """The texts of all elements of a picture that match."""
        return [str(each) for each in self.page.locator(selector).all_text_contents()]

    def measured(self, what: str, milliseconds: float) -> None:
        """Keeps a figure beside the pictures; times are measured here, not judged."""
        line = f"{what}: {milliseconds:.0f} ms"
        print(line)
        if folder := os.environ.get("MSDUMP_SCREENSHOTS"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            with (Path(folder) / "measured.txt").open("a", encoding="utf-8") as file:
                file.write(line + "\n")

    def shot(self, name: str) -> None:
        """Keeps a picture."""
        folder = os.environ.get("MSDUMP_SCREENSHOTS")
        if folder:
            # A canvas is drawn a frame after it was put on the page.
            self.run("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=str(Path(folder) / f"{name}.png"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    kept = os.environ.get("MSDUMP_CHROMIUM_KEPT")
    chromium = find(Path(kept) if kept else None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    if chromium is None or sync_playwright is None:
        missing = f"{'Chromium' if chromium is None else 'playwright'} is missing; `tox -e browser` installs it"
        if os.environ.get("MSDUMP_BROWSER_REQUIRED"):
            pytest.fail(missing, pytrace=False)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        # Root needs --no-sandbox; the page is our own.
        arguments = ["--no-sandbox", "--disable-gpu"]
        environment = {**os.environ, **chromium.environment}
        started = playwright.chromium.launch(executable_path=chromium.program, env=environment, args=arguments)
        yield started
        started.close()


@pytest.fixture
def screen(browser: Any, tmp_path: Path) -> Iterator[Screen]:
    """A page of its own, light; fails the test if the console said anything or something was fetched."""
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
    made = Screen(context.new_page(), tmp_path)
    yield made
    fetched = [url for url in made.requests if not url.startswith(("file:", "data:"))]
    context.close()
    assert made.troubles == []
    assert fetched == []
