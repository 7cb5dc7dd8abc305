"""A project's goldens are found the same way from every directory inside of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import main
from harness.cli.nearest import configuration, goldens, goldens_of
from harness.errors import StoreError
from harness.store import manifest, update
from tests.store.helpers import CPU, run_data

HOLDERS = {
    "pytest.ini": "[pytest]\nmsdump_golden = {}\n",
    ".pytest.ini": "[pytest]\nmsdump_golden = {}\n",
    "pytest.toml": '[pytest]\nmsdump_golden = "{}"\n',
    "pyproject.toml": '[tool.pytest.ini_options]\nmsdump_golden = "{}"\n',
    "tox.ini": "[tox]\nenvlist = a\n[pytest]\nmsdump_golden: {}\n",
    "setup.cfg": "[tool:pytest]\naddopts = -q %(x)s\nmsdump_golden = {}\n",
}


@pytest.mark.parametrize("name", HOLDERS)
def test_the_configuration_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / name).write_text(HOLDERS[name].format("kept/my goldens"))
    for folder in ("golden", "kept/my goldens", "src/deep er"):
        (tmp_path / folder).mkdir(parents=True)
    bundle = tmp_path / ".msdump" / "candidates" / "1"
    bundle.mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "src" / "deep er"):
        monkeypatch.chdir(folder)
        assert goldens().resolve() == tmp_path / "kept" / "my goldens"
    monkeypatch.chdir(tmp_path.parent)
    assert goldens_of(bundle).resolve() == tmp_path / "kept" / "my goldens"


@pytest.mark.parametrize(
    ("name", "text"),
    [("pyproject.toml", "[tool.pytest"), ("tox.ini", "\x00["), ("setup.cfg", "= ="), ("pytest.ini", "")],
)
def test_what_cannot_be_read_names_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "golden").mkdir()
    monkeypatch.chdir(tmp_path)
    assert configuration(tmp_path) == tmp_path / name
    assert goldens() == Path("golden")


def test_another_project_is_not_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "golden").mkdir()
    (tmp_path / "inner" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "inner")
    with pytest.raises(StoreError, match="here or above; name it"):
        goldens()
    assert goldens_of(tmp_path / "elsewhere") == Path("golden")


def test_from_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    golden, bundle = tmp_path / "golden", tmp_path / ".msdump" / "candidates" / "1"
    for folder in (golden, bundle, tmp_path / "src"):
        folder.mkdir(parents=True)
    update(golden / "a.h5", "a", {CPU: run_data()})
    manifest.rebuild(golden)
    update(bundle / "b.h5", "b", {CPU: run_data()})
    monkeypatch.chdir(tmp_path / "src")
    assert main(["verify"]) == 0
    assert capsys.readouterr().out.startswith("../golden: 1 store")
    assert main(["accept", "../.msdump/candidates/1"]) == 0
    assert (golden / "b.h5").exists()
    assert list((tmp_path / "src").iterdir()) == []


def test_an_unpacked_artifact_belongs_to_the_project_it_is_taken_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "artifact" / ".msdump" / "candidates" / "1"
    bundle.mkdir(parents=True)
    (tmp_path / "project" / "golden").mkdir(parents=True)
    (tmp_path / "project" / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.chdir(tmp_path / "project")
    assert goldens_of(bundle) == Path("golden")
