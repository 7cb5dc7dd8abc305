"""The README as an index shows it: no relative link is left, and none is dropped where the home is known."""

from __future__ import annotations

import re
import runpy

from tests.architecture.source import ROOT

METADATA = runpy.run_path(str(ROOT / "ci" / "metadata.py"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
_TARGET = re.compile(r"\]\(([^)\s]+)\)")


def test_with_a_home_every_link_is_absolute() -> None:
    shown = METADATA["described"](README, "https://example.org/a/b")
    targets = _TARGET.findall(shown)
    assert len(targets) == len(_TARGET.findall(README))
    assert [each for each in targets if not each.startswith("https://")] == []
    pictures = re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", shown)
    assert pictures
    assert all("/raw/main/" in each for each in pictures)


def test_without_a_home_no_link_leads_nowhere() -> None:
    shown = METADATA["described"](README, "")
    assert [each for each in _TARGET.findall(shown) if "://" not in each] == []
    assert "gate your first network" in shown
    assert "![" not in shown
