"""Runs what a page of the documentation shows, as a reader would: in an empty directory, from top to bottom.

A fenced block with ``title="FILE"`` is written to that file. A ``console`` block holds commands behind ``$ `` and what
they print; a line ``...`` stands for any lines. A ``python`` block without a title is run. ``<!-- not run: WHY -->``
before a block leaves it out; ``<!-- not run: needs torch -->`` only where PyTorch is not installed, and so on.

``python -m tests.docs.pages [PAGE...]`` rewrites what the commands print.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from tests.subprocesses import INSTALLED, PLUGIN, ROOT

_TITLE = re.compile(r'title="([^"]+)"')
_NOT_RUN = re.compile(r"<!-- not run: (.+) -->")
_NEEDS = {"needs torch": ["torch"], "needs onnx, onnxruntime and jax": ["onnx", "onnxruntime", "jax"]}
_HAVE = {why for why, modules in _NEEDS.items() if all(map(importlib.util.find_spec, modules))}
_VARIES = (
    (re.compile(r"\bin \d+\.\d+s( \(\d:\d\d:\d\d\))?"), "in 0.12s"),
    (re.compile(r"\b\d+\.\d+ (CPU )?s(econds)?\b"), r"0.12 \1s\2"),
    (re.compile(r"\d{8}T\d{6}-\d+"), "20260101T120000-1"),
    (re.compile(r"0x[0-9a-f]{6,}"), "0x7f0000000000"),
    (re.compile(r"\S*/(?=(pytest_msdump|harness)/\w[\w/]*\.py\b)"), ".../"),
    # A page does not change with every edit of the plugin.
    (re.compile(r"(\.\.\./(?:pytest_msdump|harness)/\w[\w/]*\.py):\d+"), r"\1:1"),
)
#: lines of pytest's head, which say more of the machine than of the run
_HEAD = re.compile(r"^(platform |rootdir: |plugins: |cachedir: |configfile: |=+ test session starts)")


@dataclass(frozen=True)
class Block:
    """One fenced block.

    Attributes:
        page: the file it stands in.
        line: its first line (the fence), from 0.
        end: the line after its last.
        info: language and title.
        content: text between the fences.
    """

    page: Path
    line: int
    end: int
    info: str
    content: str

    @property
    def language(self) -> str:
        return self.info.partition(" ")[0]

    @property
    def title(self) -> str | None:
        found = _TITLE.search(self.info)
        return found[1] if found else None


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page that are run."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for token in MarkdownIt("commonmark").parse("\n".join(lines)):
        if token.type == "fence" and token.map and token.level == 0:
            before = [line for line in lines[max(0, token.map[0] - 2) : token.map[0]] if line.strip()]
            left_out = _NOT_RUN.fullmatch(before[-1].strip()) if before else None
            if left_out is None or left_out[1] in _HAVE:
                yield Block(page, token.map[0], token.map[1], token.info.strip(), token.content)


def commands(content: str) -> list[tuple[str, str]]:
    """Each command of a console block (several lines where one ends in a backslash), and what it prints."""
    found: list[tuple[str, list[str]]] = []
    going_on = False
    for line in content.splitlines():
        if going_on:
            found[-1] = (f"{found[-1][0]}\n{line}", found[-1][1])
            going_on = line.endswith("\\")
        elif line.startswith("$ "):
            found.append((line[2:], []))
            going_on = line.endswith("\\")
        else:
            assert found, f"a console block begins with a command, got {line!r}"
            found[-1][1].append(line)
    return [(command, "\n".join(printed)) for command, printed in found]


def normal(text: str, home: Path) -> str:
    """``text`` without what differs from run to run and from machine to machine."""
    text = text.replace(str(home.resolve()), "/home/you/project").replace(str(home), "/home/you/project")
    for pattern, fixed in _VARIES:
        text = pattern.sub(fixed, text)
    lines = [line.rstrip() for line in text.splitlines() if not _HEAD.match(line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def matches(shown: str, printed: str) -> bool:
    """Whether ``printed`` is what a page shows; a line ``...`` in ``shown`` stands for any lines."""
    lines = ["(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in shown.splitlines()]
    return re.fullmatch("".join(lines), printed + "\n" if printed else "") is not None


class Reader:
    """Follows one page in ``home``, an empty directory."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._names: dict[str, Any] = {"__name__": "__page__"}

    def follow(self, block: Block) -> list[tuple[str, str, str]]:
        """Carries out a block; gives each command, what the page shows, and what was printed (both normal)."""
        if block.title is not None:
            path = self.home / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.content, encoding="utf-8")
        elif block.language == "console":
            return [
                (command, normal(shown, self.home), normal(self._run(command), self.home))
                for command, shown in commands(block.content)
            ]
        elif block.language == "python":
            code = compile("\n" * (block.line + 1) + block.content, str(block.page), "exec")
            before = os.getcwd()
            os.chdir(self.home)
            try:
                exec(code, self._names)
            finally:
                os.chdir(before)
        return []

    def _run(self, command: str) -> str:
        hidden = ("CI", "GITHUB_", "GITLAB_", "PYTEST_", "MSDUMP_", "HYPOTHESIS_", "COLUMNS", "VIRTUAL_ENV")
        environ = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        # Where this checkout is not installed, its commands are found all the same.
        beside = Path(sys.executable).parent
        with tempfile.TemporaryDirectory() as made:
            if not (beside / "msdump").exists():
                script = Path(made) / "msdump"
                code = "from pytest_msdump.command import main; raise SystemExit(main())"
                script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c \'{code}\' "$@"\n')
                script.chmod(0o755)
            environ["PATH"] = os.pathsep.join((str(beside), made, environ.get("PATH", "")))
            return self._done(command, environ)

    def _done(self, command: str, environ: dict[str, str]) -> str:
        environ |= {"NO_COLOR": "1", "COLUMNS": "110", "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        environ["PYTEST_PLUGINS"] = "" if INSTALLED else PLUGIN
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.home, env=environ, text=True, check=False, timeout=900,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.stdout


def update(page: Path) -> None:
    """Writes what the commands of ``page`` print into it; blocks that hold a ``...`` stay."""
    lines = page.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(Path(folder))
        changes = []
        for block in blocks(page):
            followed = reader.follow(block)
            if followed and not all(matches(shown, printed) for _, shown, printed in followed):
                text = "\n".join(
                    f"$ {command}" + (f"\n{printed}" if printed else "") for command, _, printed in followed
                )
                changes.append((block, text.splitlines()))
    for block, text in reversed(changes):
        lines[block.line + 1 : block.end - 1] = text
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{page}: {len(changes)} blocks rewritten")


if __name__ == "__main__":
    from tests.docs.test_pages import PAGES

    for name in sys.argv[1:] or PAGES:
        update(Path(name) if Path(name).exists() else ROOT / name)
