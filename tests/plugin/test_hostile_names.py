r"""Names from elsewhere (a golden's operators, an error's text) show as ``\x1b`` wherever a session shows them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import escape
from harness.store import GoldenStore, RunData, RunId, manifest, update
from tests.store.helpers import record

pytest_plugins = ["pytester"]
Files = Callable[..., dict[str, bytes]]

#: Everything that neither a terminal nor a reader should get raw: C0, C1, marks of direction, what is not seen.
UNSEEN = "".join(
    chr(code) for code in (*range(1, 0xD800), *range(0xE000, 0x110000)) if escape.line(chr(code)) != chr(code)
)
NAMES = [
    f"Default/{UNSEEN[:64]}/Add-op0",
    f"Default/{UNSEEN[64:]}/Add-op0",
    "=1+1|cmd/Add-op0",
    "Default/]]></failure><x>&amp;|`*_~%0A::error::x/Add-op0",
]
RAW = re.compile(f"[{re.escape(UNSEEN.replace(chr(10), '').replace(chr(13), '').replace(chr(9), ''))}]")


def replaced(made: pytest.Pytester, name: str) -> None:
    """The golden of test_one begins with an operator of this name, which the test does not run."""
    path, run = made.path / "golden" / "test_nets" / "test_one.h5", RunId("cpu", "tensor")
    with GoldenStore.open(path) as store:
        kept = store.run(*run)
        records = [record([1.0, 2.0], name, source=f"{name.replace('/', '_')}.py:1"), *kept.records()]
        data = RunData(records, attrs=kept.attrs)
        update(path, "test_nets.py::test_one", {run: data})
    manifest.rebuild(made.path / "golden")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES, ids=["C0, C1", "other", "formula", "markup"])
def test_an_operator_of_a_golden(made: pytest.Pytester, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    replaced(made, name)
    summary = made.path / "summary.md"
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    result = made.runpytest("--msdump", "-v", "--junitxml=out.xml", "--msdump-report=page.html")
    result.assert_outcomes(passed=3, failed=1)
    said = [result.stdout.str(), result.stderr.str()]
    said += [Path(made.path, each).read_text(encoding="utf-8") for each in ("out.xml", "summary.md", "page.html")]
    for each in said:
        assert not RAW.search(each), RAW.search(each)
    shown = escape.line(name)[:40]
    assert shown in said[0]
    tree = ET.fromstring(said[2])
    properties = {each.get("name"): each.get("value") for each in tree.iter("property")}
    told = " ".join(filter(None, [*properties.values(), *(each.text for each in tree.iter("failure"))]))
    assert shown in told
    assert not [each for each in said[0].splitlines() if each.startswith("::error::x")]


def test_an_error_in_a_test(gate: pytest.Pytester) -> None:
    gate.makepyfile(
        """
        import pytest
        from harness.errors import TreeError

        @pytest.fixture
        def broken():
            raise TreeError("a\\x1b[2J\\u202eb")

        @pytest.mark.msdump
        def test_body(msdump):
            try:
                raise ValueError("c\\x07d")
            except ValueError as error:
                raise TreeError("a\\x1b[2J\\u202eb") from error

        @pytest.mark.msdump
        def test_setup(msdump, broken):
            pass
        """.replace("\\\\", "\\")
    )
    result = gate.runpytest("--msdump", "--junitxml=out.xml")
    result.assert_outcomes(failed=1, errors=1)
    for each in (result.stdout.str(), (gate.path / "out.xml").read_text(encoding="utf-8")):
        assert not RAW.search(each), RAW.search(each)
        assert each.count("a\\x1b[2J\\u202eb") >= 2
