"""Pages that the build of the site makes itself: commands and options from the code, a report from a seeded fault."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
#: what the build adds to the pages that stand in docs/
MADE = ("reference/commands.md", "reference/options.md", "changelog.md", "live-report.md", "live/report.html")
TUTORIAL = ROOT / "docs" / "tutorial" / "find-a-bug.md"


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages to the site's files."""
    from mkdocs.structure.files import File

    texts = (commands(), options(), changelog(), _LIVE, report())
    for name, text in zip(MADE, texts, strict=True):
        files.append(File.generated(config, name, content=text))
    return files


def commands() -> str:
    """Every command of ``msdump`` with its arguments and options, in Markdown, from the parser itself."""
    import typer

    from harness.cli.app import app

    group = typer.main.get_command(app)
    lines = ["# Commands", "", "The build of this site makes this page from the command's own parser.", ""]
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        if not command.hidden:
            lines += _command(name, command)
    return "\n".join(lines)


def _command(name: str, command: Any) -> Iterator[str]:
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join(["msdump", name, *command.collect_usage_pieces(context)])
    yield from (f"## msdump {name}", "", "```text", usage, "```", "")
    for paragraph in (command.help or "").split("\n\n"):
        yield from (_escaped(paragraph), "")
    rows = [row for parameter in command.params if (row := parameter.get_help_record(context))]
    if rows:
        yield from ("| argument or option | means |", "|---|---|")
        # A list's Python type says nothing that the dots behind its name do not.
        yield from (f"| {_code(re.sub(r' <list.*>$', '', left))} | {_escaped(right)} |" for left, right in rows)
        yield ""


def options() -> str:
    """Every option of the plugin, in Markdown, from its own table."""
    from pytest_msdump.options import OPTIONS

    lines = [
        "# Options of the plugin", "",
        "The build of this site makes this page from the plugin's own table. The command line wins over the marker,",
        "the marker over the configuration file. [The plugin](../plugin.md) says more.", "",
        "| flag | in the file | marker | default | means |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for each in OPTIONS:
        flag = each.flag + (f"={each.metavar or '|'.join(each.choices)}" if each.kind != "flag" else "")
        default = ", ".join(each.default) if isinstance(each.default, tuple) else each.default
        marker = _code(f"{each.marker}=") if each.marker else ""
        shown = "off" if default is False else _code(str(default)) if default != "" else ""
        means = _escaped(each.help) + (f": {' or '.join(map(_code, each.choices))}" if each.choices else "")
        lines.append(f"| {_code(flag)} | {_code(each.name)} | {marker} | {shown} | {means} |")
    return "\n".join(lines) + "\n"


def changelog() -> str:
    """``CHANGELOG.md``, whose links lead to pages of the site."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.sub(r"\]\(docs/", "](", text)


def report() -> str:
    """The page that the reader of the tutorial gets from its fault."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    from tests.docs.pages import Reader, blocks

    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(Path(folder))
        for block in blocks(TUTORIAL):
            reader.follow(block)
            if (reader.home / "report.html").exists():
                return (reader.home / "report.html").read_text(encoding="utf-8")
    raise RuntimeError(f"{TUTORIAL}: no block leaves report.html")


def _code(text: str) -> str:
    return "`" + text.replace("|", " or ") + "`"  # a bar would end the cell


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[|])", r"\\\1", " ".join(text.split())).replace("<", "&lt;")


_LIVE = """---
hide: [toc]
---

# A live report

The build of this site followed the tutorial [Find a bug](tutorial/find-a-bug.md) and kept the page that
`--msdump-report=report.html` wrote. Keys `1` to `6` choose a view. [Open it by itself](live/report.html).

<iframe src="../live/report.html" title="The report of a failing test"
  style="width: 100%; height: 46rem; border: 1px solid var(--md-default-fg-color--lighter)"></iframe>
"""
