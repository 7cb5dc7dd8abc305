"""Pages that the build of the site makes itself: commands and options from the code, a report from a seeded fault."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
#: what the build adds to the pages that stand in docs/
MADE = (
    "reference/commands.md",
    "reference/options.md",
    "changelog.md",
    "agents.md",
    "live-report.md",
    "live/report.html",
)
#: front matter of pages that a search shows before others
_BOOST = ("---", "search:", "  boost: 4", "---", "")
TUTORIAL = ROOT / "docs" / "tutorial" / "find-a-bug.md"


def on_config(config: Any) -> Any:
    """Links that edit a page, where the build is given the project's home (``MSDUMP_HOME``)."""
    home = os.environ.get("MSDUMP_HOME", "").rstrip("/")
    if home:
        config.repo_url, config.edit_uri = home, "edit/main/docs/"
        config.theme["features"].append("content.action.edit")
    return config


def on_post_page(output: str, page: Any, config: Any) -> str:
    """The theme's search has no name of its own for a reader of the screen."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Words of ours are linked to the glossary where they first stand on a page."""
    if page.file.src_uri.startswith(("help/", "reference/", "changelog")):
        return html
    base = "../" * page.url.count("/")
    return with_glossary(html, f"{base}help/glossary/")


#: words of ours, as they stand in prose, and their headings in the glossary
WORDS = {
    "golden": "golden", "goldens": "golden", "slot": "slot", "slots": "slot", "gate": "gate", "bundle": "bundle",
    "candidate": "candidate", "candidates": "candidate", "first divergence": "first-divergence", "manifest": "manifest",
    "capture": "capture", "dump tree": "dump-tree", "backend": "backend", "verdict": "verdict",
}  # fmt: skip
_TAG = re.compile(r"(<[^>]*>)")
_CLOSED = ("a", "code", "pre", "h1", "h2", "h3", "h4", "script", "style", "nav", "th")


def with_glossary(html: str, glossary: str) -> str:
    """``html`` in which each of ``WORDS`` links to the glossary once, outside of code, links and headings."""
    left = dict(WORDS)
    depth, parts = 0, _TAG.split(html)
    for at, part in enumerate(parts):
        tag = re.match(r"</?([a-zA-Z0-9]+)", part) if part.startswith("<") else None
        if tag:
            if tag[1].lower() in _CLOSED and not part.endswith("/>"):
                depth += -1 if part.startswith("</") else 1
        elif depth == 0 and left and part.strip():
            parts[at] = _linked(part, left, glossary)
    return "".join(parts)


def _linked(text: str, left: dict[str, str], glossary: str) -> str:
    words = "|".join(sorted(map(re.escape, left), key=len, reverse=True))

    def link(found: re.Match[str]) -> str:
        heading = left.get(found[0])
        if heading is None:
            return found[0]
        for name in [each for each, other in left.items() if other == heading]:
            del left[name]
        return f'<a class="glossary" href="{glossary}#{heading}">{found[0]}</a>'

    return re.sub(rf"\b(?:{words})\b", link, text)


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages to the site's files."""
    from mkdocs.structure.files import File

    texts = (commands(), options(), changelog(), agents(), _LIVE, report())
    for name, text in zip(MADE, texts, strict=True):
        files.append(File.generated(config, name, content=text))
    return files


def commands() -> str:
    """Every command of ``msdump`` with its arguments and options, in Markdown, from the parser itself."""
    from harness.cli.app import parser

    lines = [*_BOOST, "# Commands", "", "The build of this site makes this page from the command's own parser.", ""]
    for name, command in parser().commands.items():
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
        *_BOOST, "# Options of the plugin", "",
        "The build of this site makes this page from the plugin's own table. The command line wins over the marker,",
        "the marker over the configuration file. [The plugin](../plugin.md) says more.", "",
    ]  # fmt: skip
    for each in OPTIONS:
        flag = each.flag + (f"={each.metavar or '|'.join(each.choices)}" if each.kind != "flag" else "")
        default = ", ".join(each.default) if isinstance(each.default, tuple) else each.default
        shown = "off" if default is False else _code(str(default)) if default != "" else "none"
        means = _escaped(each.help[:1].upper() + each.help[1:])
        means += f": {' or '.join(map(_code, each.choices))}" if each.choices else ""
        marker = f"; marker: {_code(f'{each.marker}=')}" if each.marker else ""
        lines += [f"## {each.flag}", "", f"{_code(flag)}", "", f"{means}.", ""]
        lines += [f"Default: {shown}; in the configuration: {_code(each.name)}{marker}.", ""]
    return "\n".join(lines) + "\n"


def changelog() -> str:
    """``CHANGELOG.md``, whose links lead to pages of the site."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.sub(r"\]\(docs/", "](", text)


def agents() -> str:
    """``AGENTS.md``, as a page."""
    return (ROOT / "AGENTS.md").read_text(encoding="utf-8")


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
