"""Every command that a message names is made by ``harness.suggest``, and a test types it as it is printed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source import MODULES, ROOT, parsed

#: where commands are made; whoever calls them suggests a command
HOMES = {
    "harness.suggest": ("command", "install", "pull"),
    "pytest_msdump.commands": (
        "again", "show", "accept", "review", "moved", "prune", "collect", "verify", "describe", "refuse_reviewed",
    ),
}  # fmt: skip
TESTS = ("tests/plugin/test_suggested.py", "tests/plugin/test_suggested_by_commands.py")
_VERBS = (
    "accept|audit|backends|check|convert|diff|doctor|import|init|judge|learn|prune|regen|report|review|run|show|verify"
)
_COMMAND = re.compile(rf"\bmsdump (?:{_VERBS})\b|\bpytest -|\bpip install\b|\bgit lfs\b|\bgit-lfs (?!pointer)")

_CALLS = re.compile(r"harness\.suggest|from pytest_msdump import .*\bcommands\b|pytest_msdump\.commands")

#: Texts that say which command something comes from, or what a file of the project is for; nobody types them.
MENTIONS = (
    "file that msdump diff --json wrote",
    "pages that --msdump-report, msdump diff --report and msdump report --join wrote can be joined",
    "A candidate bundle of pytest-msdump: `msdump accept` takes it over.\n",
    "A first golden test: `msdump regen` writes its golden",
    "`msdump regen` writes them, `msdump review`",
    " as msdump diff --json writes it",
    "msdump learn takes dump trees, or --command with --times; one of the two",
    "msdump diff: ",
    "# Goldens are binary; once `msdump init` has run in a clone, `git diff` shows them as text.",
    '|| echo "msdump could not show it; run msdump init again"',
)


def _with(pattern: re.Pattern[str]) -> Iterator[tuple[str, Path]]:
    """The modules, but for the homes of commands, whose source has it: few are worth parsing."""
    for name, path in MODULES.items():
        if name not in HOMES and pattern.search(path.read_text(encoding="utf-8")):
            yield name, path


def _texts(tree: ast.AST) -> Iterator[ast.Constant]:
    """The texts of a module that are no docstrings."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in said:
            yield node


def _calls(name: str, path: Path) -> Iterator[str]:
    """The places of a module that suggest a command: ``MODULE:FUNCTION BUILDER``."""
    tree = parsed(path)
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for each in node.names:
                if each.name in HOMES.get(node.module or "", ()):
                    known[each.asname or each.name] = each.name
                if f"{node.module}.{each.name}" in HOMES:
                    home = f"{node.module}.{each.name}"
                    known |= {f"{each.asname or each.name}.{builder}": builder for builder in HOMES[home]}

    def walk(node: ast.AST, place: str) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            inner = place
            if isinstance(child, ast.ClassDef | ast.FunctionDef) and not place.endswith(")"):
                inner = f"{place}.{child.name}".lstrip(".") + "()" * isinstance(child, ast.FunctionDef)
            if isinstance(child, ast.Call) and ast.unparse(child.func) in known:
                yield f"{name}:{place.removesuffix('()') or '<module>'} {known[ast.unparse(child.func)]}"
            yield from walk(child, inner)

    yield from walk(tree, "")


def _covered() -> set[str]:
    """What the tests say they type."""
    found: set[str] = set()
    for each in TESTS:
        for node in ast.walk(ast.parse((ROOT / each).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "covers":
                found.update(ast.literal_eval(argument) for argument in node.args)
    return found


def test_no_message_spells_a_command_by_hand() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value!r}"
        for name, path in _with(_COMMAND)
        for node in _texts(parsed(path))
        if _COMMAND.search(said := node.value if isinstance(node.value, str) else node.value.decode("latin-1"))
        and not any(each in said for each in MENTIONS)
    ]
    assert not found, "made by harness.suggest.command it can be typed:\n" + "\n".join(found)


def test_every_mention_is_needed() -> None:
    everything = "".join(path.read_text(encoding="utf-8") for path in MODULES.values())
    assert [each for each in MENTIONS if each.rstrip("\n") not in everything] == []


def test_every_suggestion_is_typed_by_a_test() -> None:
    made = {site for name, path in _with(_CALLS) for site in _calls(name, path)}
    assert made == _covered()
