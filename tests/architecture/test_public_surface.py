"""The docstrings of the public surface, as the API page lists it, are complete (``tests/docs`` runs their examples)."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import re
from typing import Any

import pytest

from tests.architecture.source import ROOT

PAGE = ROOT / "docs" / "reference" / "api.md"
USED, RETURNED = (
    re.findall(r"^::: (\S+)$", part, re.MULTILINE)
    for part in PAGE.read_text(encoding="utf-8").split("\n## What they return\n")
)
#: what a user calls or makes; each has an example
NAMES = USED
CLASSES = [name for name in (*USED, *RETURNED) if name.rsplit(".", 1)[1][0].isupper()]
#: a row of a docstring's list: a name, then its text
ROW = re.compile(r"^    (\w+(?:, \w+)*): ", re.MULTILINE)
FIXTURE = "pytest_msdump.fixture.Msdump"


def public(name: str) -> Any:
    module, attribute = name.rsplit(".", 1)
    if module.endswith(".torch"):
        pytest.importorskip("torch", reason="PyTorch is not installed; get it with: pip install 'pytest-msdump[torch]'")
    return getattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize("name", NAMES)
def test_says_what_it_takes_and_shows_an_example(name: str) -> None:
    text = inspect.getdoc(public(name)) or ""
    assert text.partition("\n\n")[0].endswith("."), "a line that says what it is for"
    assert "Examples:" in text
    assert not [row for row in ROW.findall(text) if "," in row], "the site shows one name a row"
    if inspect.isfunction(public(name)) and name.startswith("harness."):
        named = [word for word in inspect.signature(public(name)).parameters if word not in ("self", "args", "kwargs")]
        missing = [word for word in named if not re.search(rf"\b{word}\b", text.partition("Examples:")[0])]
        assert not missing, f"arguments that the text does not explain: {missing}"


def described(text: str) -> list[str]:
    """The names in the list ``Attributes`` of a docstring, in order."""
    part = text.partition("Attributes:\n")[2]
    return ROW.findall(re.split(r"^\S", part, maxsplit=1, flags=re.MULTILINE)[0])


@pytest.mark.parametrize("name", CLASSES)
def test_describes_every_attribute_with_its_type(name: str) -> None:
    cls = public(name)
    text = inspect.getdoc(cls) or ""
    assert text.partition("\n\n")[0].endswith("."), "a line that says what it is for"
    names = described(text)
    assert not [row for row in names if "," in row], "the site shows one name a row"
    members = set(cls.__members__) if issubclass(cls, enum.Enum) else set()
    typed = members | {each for base in cls.__mro__ for each in inspect.get_annotations(base)}
    typed |= {each for each in names if isinstance(inspect.getattr_static(cls, each, None), property)}
    assert set(names) <= typed, f"the site shows no type for {sorted(set(names) - typed)}"
    fields = {each.name for each in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else members
    fields |= set(getattr(cls, "_fields", ()))
    missing = {each for each in fields if not each.startswith("_")} - set(names)
    assert not missing, f"fields that the text does not describe: {sorted(missing)}"


@pytest.mark.parametrize("name", CLASSES)
def test_describes_every_method_and_its_arguments(name: str) -> None:
    for at, member in vars(public(name)).items():
        member = getattr(member, "__func__", None) or getattr(member, "fget", None) or getattr(member, "func", member)
        if at.startswith("_") or not inspect.isfunction(member) or member.__name__ == "<lambda>":
            continue
        text = inspect.getdoc(member) or ""
        assert text.partition("\n\n")[0].endswith("."), f"{name}.{at}: a line that says what it is for"
        named = [word for word in inspect.signature(member).parameters if word not in ("self", "cls")]
        missing = [word for word in named if not re.search(rf"\b{word}\b", text)]
        assert not missing, f"{name}.{at}: arguments that the text does not explain: {missing}"
