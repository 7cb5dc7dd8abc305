"""The directory that test ids and goldens are relative to: the same wherever in a project pytest is started.

pytest's own root directory is that of the configuration file; without one it is wherever pytest was started, so that
``cd tests; pytest --msdump`` would look for other goldens, of tests with other ids.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

_VERSIONED = (".git", ".hg")
_SUFFIX = ".h5"


class Root(NamedTuple):
    """A directory, and what made it the root, in words."""

    path: Path
    why: str


def root_of(config: pytest.Config, golden: str) -> Root:
    """Finds the project's root: pytest's own rootdir if a configuration file or an option sets it; else the nearest
    directory from there upwards that holds the goldens or is under version control.

    Args:
        golden: name of the golden directory, as the configuration has it.
    """
    start = config.rootpath
    if config.getoption("rootdir", default=None):
        return Root(start, "--rootdir names it")
    if config.inipath is not None:
        return Root(start, f"it holds {config.inipath.name}")
    if (start / "setup.py").exists():
        return Root(start, "it holds setup.py")
    for folder in _upwards(start):
        if _has_stores(folder / golden):
            return Root(folder, f"it holds {golden}; there is no configuration file of pytest")
    for folder in _upwards(start):
        if folder != Path.home() and any((folder / name).exists() for name in _VERSIONED):
            return Root(folder, "it is under version control; there is no configuration file of pytest")
    return Root(start, "pytest took it for the tests' common directory; there is no configuration file of pytest")


def _upwards(start: Path) -> Iterator[Path]:
    """``start`` and the directories above it, up to the one under version control, or a home directory."""
    for folder in (start, *start.parents):
        if folder.parent == folder:
            return
        yield folder
        if folder == Path.home() or any((folder / name).exists() for name in _VERSIONED):
            return


def _has_stores(folder: Path) -> bool:
    return folder.is_dir() and any(name.endswith(_SUFFIX) for _, _, names in os.walk(folder) for name in names)


def similar_folders(folder: Path, root: Path) -> str:
    """Directories with names similar to a golden directory that does not exist; empty if there are none."""
    from difflib import get_close_matches

    found: list[str] = []
    for above in dict.fromkeys((folder.parent, root)):
        names = [each.name for each in above.iterdir() if each.is_dir()] if above.is_dir() else []
        alike = get_close_matches(folder.name, names, 3)
        alike += [name for name in names if name not in alike and not name.startswith(".") and name == "golden"]
        found += [str(above / name) for name in alike if above / name != folder]
    return ", ".join(dict.fromkeys(found))


def similar_stores(path: str, known: list[str]) -> str:
    """Goldens whose names are like ``path``."""
    from difflib import get_close_matches

    return ", ".join(get_close_matches(path, known, 3, 0.8))
