"""Comments, docstrings and errors of the compiler read as plain modern English: these words do not occur."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

import pytest

from tests.architecture.source import MODULES

#: words and turns that readers stumble over, and what to write instead
INSTEAD = {
    r"as there": "as in MindSpore",
    r"(?<!here )(?:is|are|was|were) no(?! (?:longer|more))": "is not a",
    r"(?:[Nn]obody|[Ww]hoever|[Ww]homever)": "what or who is meant",
    r"(?:hence|thereof|whereof|therein|thereby|upon|whence|lest|thus|herein|unto)": "therefore, of it, in it, on",
    r"anew": "again",
    r"sooner": "earlier",
    r"nothing of": "none of the",
    r"of which": "a sentence of its own",
}
PACKAGES = ("harness.framework.compile", "harness.framework.frames", "harness.framework.observed")
FOUND = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b")


def told(text: str) -> Iterator[tuple[int, str]]:
    """The comments, docstrings and parts of other texts of a module, with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, " ".join(node.value.split())


def test_the_compiler_reads_as_plain_english() -> None:
    wrong = [
        f"{name}:{line}: {found[0]!r} in {text[:100]!r}"
        for name, path in MODULES.items()
        if name.startswith(PACKAGES)
        for line, text in told(path.read_text(encoding="utf-8"))
        for found in FOUND.finditer(text)
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
def test_a_word_is_seen(text: str, is_wrong: bool) -> None:
    assert any(FOUND.search(each) for _, each in told(text)) is is_wrong
