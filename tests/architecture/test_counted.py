"""A number that may be 1 is not followed by a plural noun: ``harness.words`` makes the noun agree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.source import ROOT, parsed

#: what speaks of results
PACKAGES = ("harness/cli", "harness/compare", "harness/explain", "harness/scale", "harness/store", "pytest_msdump")
NOUNS = re.compile(
    r"(?: of the)? (slots|runs|texts|elements|operators|outputs|artefacts|goldens|candidates|stores|tensors|ranks"
    r"|files)\b"
)
#: the word is a verb here
VERBS = {"{name} runs", "{', '.join(found)} runs"}


def plurals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Where an f-string has a computed number before a plural noun, and that part of it."""
    for each in ast.walk(tree):
        if not isinstance(each, ast.JoinedStr):
            continue
        for value, then in zip(each.values, each.values[1:], strict=False):
            if isinstance(value, ast.FormattedValue) and isinstance(then, ast.Constant):
                noun = NOUNS.match(str(then.value))
                shown = ast.unparse(value.value)
                if noun and not shown.lstrip("_").isupper():
                    yield each.lineno, f"{{{shown}}} {noun[1]}"


def test_the_rule_finds_what_it_should() -> None:
    wrong = ast.parse("f'{len(a)} slots'; f'{n} of {m} texts differ'; f'{MAX} files'; f'{name} differs'")
    assert [what for _, what in plurals(wrong)] == ["{len(a)} slots", "{m} texts"]


@pytest.mark.parametrize("package", PACKAGES)
def test_numbers_and_nouns_agree(package: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, what in plurals(parsed(path))
        if what not in VERBS
    ]
    assert not found, "\n".join(found)
