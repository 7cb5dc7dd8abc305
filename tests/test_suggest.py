"""Suggested commands mean to a shell what they were made of."""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.suggest import command, install, pull

NAMES = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=12).filter(lambda name: name[-1] != "\n")
ODD = [
    "-x",
    "@x",
    "it's",
    'a "b"',
    "$HOME",
    "`id`",
    "a b",
    "ü\\n",
    "*",
    "~",
    "#",
    "!",
    "\x1b[31m",
    "\t",
    "a\nb",
    "\udcff",
    "",
]


def read_by_a_shell(typed: str) -> list[str]:
    done = subprocess.run(["/bin/sh", "-c", typed], capture_output=True, timeout=600, check=True)
    return done.stdout.decode(errors="surrogateescape").split("\0")[:-1]


@settings(max_examples=10)
@given(st.lists(st.sampled_from(ODD) | NAMES, min_size=20, max_size=60))
def test_a_shell_reads_every_word_as_it_was_given(words: list[str]) -> None:
    given_bytes = [word.encode(errors="surrogateescape") for word in words if _is_a_name(word)]
    words = [word for word in words if _is_a_name(word)]
    typed = command("printf", r"%s\0", *words)
    assert typed.isprintable()
    assert [word.encode(errors="surrogateescape") for word in read_by_a_shell(typed)] == given_bytes


def _is_a_name(word: str) -> bool:
    try:
        word.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def test_a_path_is_no_option() -> None:
    assert command("msdump", "show", PurePosixPath("-x"), PurePosixPath("@y"), "-z") == "msdump show ./-x ./@y -z"
    assert install("pytest-msdump[torch]") == "pip install 'pytest-msdump[torch]'"


def test_within_changes_no_directory_for_later() -> None:
    assert command("msdump", "prune", within="..") == "(cd .. && msdump prune)"
    assert command("msdump", "prune", within="-its") == "(cd ./-its && msdump prune)"
    assert command("msdump", "prune", within=".") == "msdump prune"


def test_a_pointer_is_replaced_in_its_own_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one" / ".git").mkdir(parents=True)
    (tmp_path / "one" / "golden").mkdir()
    store = tmp_path / "one" / "golden" / "x.h5"
    for start, expected in (
        (tmp_path / "one", "git lfs pull"),
        (tmp_path / "one" / "golden", "git lfs pull"),
        (tmp_path, "(cd one && git lfs pull)"),
    ):
        monkeypatch.chdir(start)
        assert pull(store) == expected
