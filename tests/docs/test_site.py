"""The pages that the build of the site makes from the code, and the map of the site."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from harness.cli.app import parser
from pytest_msdump.options import OPTIONS
from tests.subprocesses import ROOT

GLOSSARY = (ROOT / "docs" / "help" / "glossary.md").read_text(encoding="utf-8").splitlines()


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
    for name, command in parser().commands.items():
        if command.hidden:
            continue
        section = page.split(f"## msdump {name}\n")[1].split("\n## ")[0]
        for parameter in command.params:
            if parameter.param_type_name == "option" and not parameter.hidden:
                assert all(f"{flag}" in section for flag in parameter.opts), (name, parameter.opts)


def test_every_option_of_the_plugin_is_on_the_page(hooks: ModuleType) -> None:
    sections = hooks.options().split("\n## ")[1:]
    assert len(sections) == len(OPTIONS)
    for option, section in zip(OPTIONS, sections, strict=True):
        assert section.startswith(f"{option.flag}\n")
        assert f"`{option.name}`" in section


def test_a_word_is_linked_once_outside_of_code_and_links(hooks: ModuleType) -> None:
    html = '<h1>A golden</h1><p>The <code>golden</code> and <a href="x">golden</a>: a golden, goldens, a slot.</p>'
    linked = hooks.with_glossary(html, "G")
    assert linked.count('class="glossary"') == 2
    assert (
        ': a <a class="glossary" href="G#golden">golden</a>, goldens, a <a class="glossary" href="G#slot">slot'
        in linked
    )
    words = {
        line.removeprefix("## ").lower().replace(" ", "-").replace(",", "") for line in GLOSSARY if line[:3] == "## "
    }
    assert set(hooks.WORDS.values()) <= words


def test_no_section_has_more_than_seven_entries() -> None:
    counts: dict[int, int] = {}
    for line in (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2].splitlines():
        depth = len(line) - len(line.lstrip())
        counts = {each: count for each, count in counts.items() if each <= depth}
        counts[depth] = counts.get(depth, 0) + 1
        assert counts[depth] <= 7, line


def test_every_page_is_in_the_map() -> None:
    shown = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert not [page for page in pages if page.removeprefix("docs/") not in shown]
