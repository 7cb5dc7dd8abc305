"""Comments, docstrings, errors and pages read as plain modern English: these words do not occur."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator

import pytest

from tests.architecture.source import MODULES, ROOT

#: words and phrases that readers stumble over, and what to write instead
INSTEAD = {
    r"as there(?=[.,;:)]|$)": "as in MindSpore",
    r"anew": "again, from the start",
    r"sooner": "earlier",
    r"(?:hence|thereof|whereof|therein|thereby|upon|whence|lest|herein|unto)(?!:)": "therefore, of it, in it, on",
    r"(?:is|are) no names?": "does not name, is not a name",
    r"of which (?:there is )?no": "a sentence of its own",
    r"(?:bits|bit) like": "the same bits as",
    r"and its kin": "what is meant",
    r"ha(?:ve|s) not (?:an?|the)": "does not have",
    r"that is none(?! of)": "what it is not",
    r"(?:[Ww]hat|lets pass what) (?:nothing|is no)": "what is meant",
    r"whatever was before": "what was before",
}
#: and of the compiler these, too
INSTEAD_THERE = {
    r"as there": "as in MindSpore",
    r"(?<!here )(?:is|are|was|were) no(?! (?:longer|more))": "is not a",
    r"(?:[Nn]obody|[Ww]hoever|[Ww]homever)": "what or who is meant",
    r"thus": "therefore",
    r"nothing of": "none of the",
    r"of which": "a sentence of its own",
}
COMPILER = ("harness.framework.compile", "harness.framework.frames", "harness.framework.observed")


def words(*lists: dict[str, str]) -> re.Pattern[str]:
    """What is looked for."""
    return re.compile(rf"\b(?:{'|'.join(each for found in lists for each in found)})\b")


FOUND, FOUND_THERE = words(INSTEAD), words(INSTEAD, INSTEAD_THERE)
PAGES = [path for path in sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")]) if path.name != "CHANGELOG.md"]


def told(text: str) -> Iterator[tuple[int, str]]:
    """The comments, docstrings and parts of other texts of a module, with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, " ".join(node.value.split())


def strange(text: str, words: re.Pattern[str], read: Callable[[str], Iterable[tuple[int, str]]] = told) -> list[str]:
    """The words that a text should not have, each with its line; ``read`` gives the parts that count."""
    if not words.search(" ".join(text.split())):  # most files, which need not be parsed
        return []
    return [f"{line}: {found[0]!r} in {part[:100]!r}" for line, part in read(text) for found in words.finditer(part)]


def _lines(text: str) -> Iterable[tuple[int, str]]:
    return enumerate(text.splitlines(), 1)


def test_the_code_reads_as_plain_english() -> None:
    wrong = [
        f"{name}:{each}"
        for name, path in MODULES.items()
        for each in strange(path.read_text(encoding="utf-8"), FOUND_THERE if name.startswith(COMPILER) else FOUND)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_pages_read_as_plain_english() -> None:
    assert PAGES
    wrong = [
        f"{path.relative_to(ROOT)}:{each}"
        for path in PAGES
        for each in strange(path.read_text(encoding="utf-8"), FOUND, _lines)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [
        ("# a name that is no file", True), ("# there is no file", False), ("'''It begins\nanew.'''", True),
        ("x = f'a {1} whoever'", True), ("# it is no longer used", False), ("thus = 1", False),
        ("# as there are", True),
    ],
)  # fmt: skip
def test_a_word_of_the_compiler_is_seen(text: str, is_wrong: bool) -> None:
    assert bool(strange(text, FOUND_THERE)) is is_wrong


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [
        ("# it is refused, as there", True), ("# (as there)", True), ("# as many as there are", False),
        ("# what is no name", True), ("# a state of which no copy is kept", True), ("# `Adam` and its kin", True),
        ("# they have not the same bits", True), ("# it is written anew", True), ("# a name that is no file", False),
        ("# a file that is none", True), ("# it lets pass what nothing reads", True), ("def seek(whence): 0", False),
        ("# the handler that was there before", False), ("# it has no name", False),
    ],
)  # fmt: skip
def test_a_word_is_seen(text: str, is_wrong: bool) -> None:
    assert bool(strange(text, FOUND)) is is_wrong
