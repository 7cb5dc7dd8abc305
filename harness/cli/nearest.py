"""Finds a project's goldens, the same way from every directory inside the project."""

from __future__ import annotations

import configparser
import os
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import HarnessError, StoreError
from harness.reading import read_bytes

NAME = "golden"
SCRATCH, CANDIDATES = ".msdump", "candidates"
#: files that configure pytest, each with the section for it
_HOLDERS = {
    "pytest.ini": "pytest", ".pytest.ini": "pytest", "pytest.toml": "pytest", "pyproject.toml": "tool.pytest",
    "tox.ini": "pytest", "setup.cfg": "tool:pytest",
}  # fmt: skip
_OF_PYTEST = ("pytest.ini", ".pytest.ini", "pytest.toml")  # these count whatever they hold


def configuration(folder: Path) -> Path | None:
    """The file that configures pytest in ``folder``, by pytest's own rules; None if there is none.

    An unreadable file counts as well, because pytest would not look at a second file.
    """
    for name in _HOLDERS:
        path = folder / name
        if path.is_file() and (name in _OF_PYTEST or _settings(path) is not None):
            return path
    return None


class Configured(NamedTuple):
    """What a directory's configuration of pytest says, or pytest's own defaults.

    Attributes:
        golden: the directory of the goldens, as the configuration names it.
        testpaths: where pytest looks for tests, patterns; empty for everywhere.
        files, functions: patterns for names of files and functions that are tests.
    """

    golden: str = NAME
    testpaths: tuple[str, ...] = ()
    files: tuple[str, ...] = ("test_*.py", "*_test.py")
    functions: tuple[str, ...] = ("test",)


def configured(folder: Path) -> Configured:
    """What the configuration of pytest in ``folder`` says of tests and goldens."""
    found = configuration(folder)
    given = (_settings(found) or {}) if found is not None else {}
    kept = Configured()
    golden = given.get("msdump_golden")
    return Configured(
        golden if isinstance(golden, str) and golden else kept.golden,
        _words(given.get("testpaths")),
        _words(given.get("python_files")) or kept.files,
        _words(given.get("python_functions")) or kept.functions,
    )


def configured_above(folder: Path) -> Path | None:
    """The configuration of pytest of a project that ``folder`` lies in."""
    start = Path(os.path.abspath(folder))
    for above in _upwards(start):
        found = configuration(above) if above != start else None
        if found is not None:
            return Path(os.path.relpath(found))
    return None


def _words(value: Any) -> tuple[str, ...]:
    """A list of pytest's configuration: words in one text, or a list of texts."""
    if isinstance(value, str):
        try:
            return tuple(shlex.split(value))
        except ValueError:
            return tuple(value.split())
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def project(start: Path) -> Path:
    """The nearest directory from ``start`` upwards that configures pytest or is under version control; ``start`` if
    none does."""
    for folder in _upwards(Path(os.path.abspath(start))):
        if configuration(folder) is not None or any((folder / name).exists() for name in (".git", ".hg")):
            return folder
    return start


def goldens() -> Path:
    """Finds the goldens of the current project: the directory named by ``msdump_golden`` in the nearest pytest
    configuration, or the nearest ``golden``, up to a directory under version control.

    Raises:
        StoreError: there are no goldens.
    """
    for folder in _upwards(Path.cwd()):
        found = _named(folder)
        if found.is_dir():
            return Path(os.path.relpath(found))
    raise StoreError(f"{NAME}: there is no such directory of goldens, here or above; name it")


def goldens_of(bundle: Path) -> Path:
    """Finds the goldens of a candidate bundle: those of the project that left it; else those of the current directory,
    or the ``golden`` to be made here.

    A bundle unpacked from CI also lies in ``.msdump/candidates``, but not in a project.
    """
    above = Path(os.path.realpath(bundle)).parents  # resolve() fails for a link to itself
    if len(above) > 2 and above[0].name == CANDIDATES and above[1].name == SCRATCH:
        named = _named(above[2])
        if named.is_dir() or configuration(above[2]) is not None:
            return Path(os.path.relpath(named))
    try:
        return goldens()
    except StoreError:
        return Path(NAME)


def _named(folder: Path) -> Path:
    found = configuration(folder)
    given = (_settings(found) or {}).get("msdump_golden") if found is not None else None
    return folder / (given if isinstance(given, str) and given else NAME)


def _upwards(start: Path) -> Iterator[Path]:
    for folder in (start, *start.parents):
        yield folder
        if folder == Path.home() or any((folder / name).exists() for name in (".git", ".hg")):
            return


def _settings(path: Path) -> dict[str, Any] | None:
    """A file's settings for pytest; None if it does not configure pytest, empty if it cannot be read."""
    section = _HOLDERS[path.name]
    try:
        text = read_bytes(path, 1 << 20, HarnessError).decode()
        if path.suffix != ".toml":
            parser = configparser.RawConfigParser(strict=False)
            parser.read_string(text)
            return dict(parser[section]) if section in parser else None
        found: Any = tomllib.loads(text)
    except (HarnessError, ValueError, configparser.Error):
        return {}
    for part in section.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    if not isinstance(found, dict):
        return None
    older = found.get("ini_options")
    return older if isinstance(older, dict) else found
