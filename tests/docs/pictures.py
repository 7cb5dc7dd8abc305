"""Makes the pictures of the README and of the site's home page: ``python -m tests.docs.pictures``.

Each shows the page that a failing run wrote, in a headless Chromium (``tox -e browser`` installs what this needs:
``.tox/browser/bin/python -m tests.docs.pictures``). The README's text comes from the same run as its picture.
"""

from __future__ import annotations

import os
import re
import runpy
import tempfile
from pathlib import Path

from tests.docs.pages import normal
from tests.subprocesses import ROOT, pytest_run

FOLDER = ROOT / "docs" / "pictures"
#: the network of the README's failure, and what somebody changes
NETWORK = """import numpy as np
import pytest
from harness import nn


@pytest.mark.msdump
def test_train(msdump):
    net = nn.Dense(3, 5)
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.05, momentum=0.9)
    x, y = np.linspace(-1, 1, 12).reshape(4, 3).astype(np.float32), np.ones((4, 5), np.float32)
    msdump.train(net, nn.MSELoss(), optimizer, [(x, y), (x, y)])
"""
#: the pages that quote this failure, in their first block of text
QUOTING = ("README.md", "docs/comparison.md")
FAULT = ("learning_rate=0.05", "learning_rate=0.1")


def failure(home: Path) -> str:
    """What pytest prints of the README's fault; ``home`` (an empty directory) then holds ``report.html``."""
    (home / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (home / "test_net.py").write_text(NETWORK, encoding="utf-8")
    pytest_run(("--msdump-regen",), home)
    (home / "test_net.py").write_text(NETWORK.replace(*FAULT), encoding="utf-8")
    done = pytest_run(("--msdump", "--msdump-report=report.html"), home)
    return normal(done.stdout, home)


def shown(page: str) -> list[str]:
    """The lines of the failure that a page quotes; ``...`` stands for what it leaves out."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[0].splitlines()


def holds(line: str, printed: str) -> bool:
    """Whether a line of the README is one of ``printed``."""
    pattern = ".*".join(map(re.escape, line.split("...")))
    return re.search(f"^{pattern}$", printed, re.MULTILINE) is not None


def main() -> None:
    """Makes all pictures again."""
    from playwright.sync_api import sync_playwright

    from tests.report.chromium import find

    report = runpy.run_path(str(ROOT / "docs" / "hooks.py"))["report"]

    kept = os.environ.get("MSDUMP_CHROMIUM_KEPT")
    chromium = find(Path(kept) if kept else None)
    assert chromium is not None, "no Chromium: `tox -e browser` installs one"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder)
        print(failure(home))
        (home / "attention.html").write_text(report(), encoding="utf-8")
        # Root needs --no-sandbox; the pages are our own.
        browser = playwright.chromium.launch(
            executable_path=chromium.program, env={**os.environ, **chromium.environment}, args=["--no-sandbox"]
        )
        for page, name, schemes, size in (
            ("report.html", "report", ("light",), (1280, 640)),
            ("attention.html", "attention", ("light", "dark"), (1200, 760)),
        ):
            for scheme in schemes:
                width, height = size
                context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
                tab = context.new_page()
                tab.goto((home / page).as_uri())
                tab.wait_for_load_state("networkidle")
                picture = FOLDER / f"{name}-{scheme}.png"
                tab.screenshot(path=str(picture))
                slim(picture)
                context.close()
        browser.close()


def slim(picture: Path) -> None:
    """Keeps 256 colours of a picture of a page, which shows all there is: less than half of the bytes."""
    from PIL import Image

    with Image.open(picture) as whole:
        few = whole.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(picture, "PNG", optimize=True)


if __name__ == "__main__":
    main()
