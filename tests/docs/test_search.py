"""The search of the built site finds options, commands, words, exit codes and errors, the right page first.

It asks the site's index with the engine and the weights of the theme's search (lunr; a title counts a thousand times).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.subprocesses import ROOT

pytestmark = pytest.mark.deep
SITE = Path(os.environ.get("MSDUMP_SITE", ROOT / "build" / "docs"))
INDEX = SITE / "search" / "search_index.json"

#: what is typed, and the page that has to come first
QUERIES = {
    **{f"--msdump-{name}": "reference/options/" for name in (
        "regen", "learn", "force", "backend", "mode", "golden", "keep", "report", "mindspore-jobs", "level",
        "tolerance", "rdr", "mindspore-timeout",
    )},
    **{f"msdump {name}": "reference/commands/" for name in (
        "accept", "audit", "check", "convert", "diff", "doctor", "import", "inspect", "judge", "prune", "run", "ranks",
        "review", "show", "verify",
    )},
    **dict.fromkeys((
        "glossary", "slot", "bundle", "candidate", "carried", "digest", "emulated", "graft", "manifest", "noise",
        "too loose", "given", "holds", "proven by replay", "level",
    ), "help/glossary/"),
    "troubleshooting": "help/troubleshooting/",
    "flaky": "help/troubleshooting/",
    "nothing was compared": "help/troubleshooting/",
    "nothing was written": "help/troubleshooting/",
    "unused goldens": "help/troubleshooting/",
    "missing golden": "help/troubleshooting/",
    "git-LFS pointer": "help/troubleshooting/",
    "No module named mindspore": "help/troubleshooting/",
    "another package is called harness": "help/troubleshooting/",
    "Binary files differ": "help/troubleshooting/",
    "exit codes": "reference/verdicts/",
    "changelog": "changelog/",
    "limitations": "limitations/",
    "agents": "agents/",
    "tox nox containers": "tutorial/gate-in-ci/",
    "merge goldens": "how-to/git/",
    "130 interrupted": "reference/verdicts/",
    "vulnerability": "help/troubleshooting/",
}  # fmt: skip


@pytest.fixture(scope="module")
def search() -> Callable[[str], list[str]]:
    lunr = pytest.importorskip("lunr", reason="lunr is not installed (tox -e docs)")
    if not INDEX.exists():
        pytest.skip("the site is not built (tox -e docs)")
    found = json.loads(INDEX.read_text(encoding="utf-8"))
    separator = re.compile(found["config"]["separator"])

    def spread(text: str) -> str:
        return " ".join(separator.split(re.sub(r"<[^>]*>", " ", text)))

    documents = [
        (
            {"at": each["location"], "title": spread(each["title"]), "text": spread(each["text"])},
            {"boost": each.get("boost", 1)},
        )
        for each in found["docs"]
    ]
    fields = [{"field_name": "title", "boost": 1000}, {"field_name": "text", "boost": 1}]
    index = lunr.lunr(ref="at", fields=fields, documents=documents)

    def asked(query: str) -> list[str]:
        hits = index.search(spread(query).strip())
        hits.sort(key=lambda hit: (-len(hit["match_data"].metadata), -hit["score"]))  # most words first, as the theme
        return [hit["ref"].partition("#")[0] for hit in hits]

    return asked


def test_sixty_queries() -> None:
    assert len(QUERIES) >= 60


@pytest.mark.parametrize(("query", "page"), QUERIES.items())
def test_the_right_page_comes_first(search: Callable[[str], list[str]], query: str, page: str) -> None:
    assert search(query)[:1] == [page], search(query)[:5]
