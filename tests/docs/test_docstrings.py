"""The examples in the docstrings of the public surface run (what else they must say: ``tests/architecture``)."""

from __future__ import annotations

import doctest
import inspect
import shutil
import textwrap
from pathlib import Path

import pytest

from tests.architecture.test_public_surface import FIXTURE, NAMES, public
from tests.docs.pages import Reader, blocks
from tests.subprocesses import ROOT, pytest_run


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the page "Read a dump from a cluster" leaves."""
    home = tmp_path_factory.mktemp("examples")
    reader = Reader(home)
    for block in blocks(ROOT / "docs" / "how-to" / "cluster-dump.md"):
        for _ in reader.follow(block):
            pass
    return home


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
