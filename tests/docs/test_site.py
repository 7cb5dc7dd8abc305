"""The pages that the build of the site makes from the code, and the map of the site."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest
import typer

from harness.cli.app import app
from pytest_msdump.options import OPTIONS
from tests.subprocesses import ROOT


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "docs" / "hooks.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_command_and_each_of_its_options_is_on_the_page(hooks: ModuleType) -> None:
    page = hooks.commands()
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        if command.hidden:
            continue
        section = page.split(f"## msdump {name}\n")[1].split("\n## ")[0]
        for parameter in command.params:
            if parameter.param_type_name == "option" and not parameter.hidden:
                assert all(f"{flag}" in section for flag in parameter.opts), (name, parameter.opts)


def test_every_option_of_the_plugin_is_on_the_page(hooks: ModuleType) -> None:
    rows = [line for line in hooks.options().splitlines() if line.startswith("| `--")]
    assert len(rows) == len(OPTIONS)
    assert all(option.flag in row and option.name in row for option, row in zip(OPTIONS, rows, strict=True))


def test_every_page_is_in_the_map() -> None:
    shown = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert not [page for page in pages if page.removeprefix("docs/") not in shown]
