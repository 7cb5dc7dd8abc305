"""The docstrings of the public surface, as the site's page of the API lists it: complete, and their examples run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import shutil
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import Reader, blocks
from tests.subprocesses import ROOT, pytest_run

PAGE = ROOT / "docs" / "reference" / "api.md"
NAMES = re.findall(r"^::: (\S+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
FIXTURE = "pytest_msdump.fixture.Msdump"


def public(name: str) -> Any:
    module, attribute = name.rsplit(".", 1)
    return getattr(importlib.import_module(module), attribute)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the page "Read a dump from a cluster" leaves."""
    home = tmp_path_factory.mktemp("examples")
    reader = Reader(home)
    for block in blocks(ROOT / "docs" / "how-to" / "cluster-dump.md"):
        for _ in reader.follow(block):
            pass
    return home


@pytest.mark.parametrize("name", NAMES)
def test_says_what_it_takes_and_shows_an_example(name: str) -> None:
    text = inspect.getdoc(public(name)) or ""
    first = text.partition("\n\n")[0]
    assert first.endswith("."), "a line that says what it is for"
    assert "Examples:" in text
    assert not re.findall(r"^    \w+(?:, \w+)+: ", text, re.MULTILINE), "the site shows one name a row"
    if inspect.isfunction(public(name)) and name.startswith("harness."):
        named = [word for word in inspect.signature(public(name)).parameters if word not in ("self", "args", "kwargs")]
        missing = [word for word in named if not re.search(rf"\b{word}\b", text.partition("Examples:")[0])]
        assert not missing, f"arguments that the text does not explain: {missing}"


@pytest.mark.deep
@pytest.mark.parametrize("name", [name for name in NAMES if name != FIXTURE])
def test_examples_run(name: str, directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("dump", "later", "golden"):
        shutil.copytree(directory / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(public(name)) or "", {}, name, None, None)
    assert examples.examples
    told: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(examples, out=told.append)
    assert result.failed == 0, "".join(told)


@pytest.mark.deep
def test_the_fixtures_example_is_a_test(tmp_path: Path) -> None:
    text = (inspect.getdoc(public(FIXTURE)) or "").partition("checks it:\n\n")[2]
    (tmp_path / "test_example.py").write_text(textwrap.dedent(text))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    for flag in ("--msdump-regen", "--msdump"):
        done = pytest_run((flag,), tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "1 passed" in done.stdout
