"""The package of ``examples/extension``, for tests: its modules, and its metadata as an installer would write it."""

from __future__ import annotations

import importlib
import shutil
import sys
import tomllib
from pathlib import Path
from types import ModuleType

from tests.architecture.source import ROOT

EXAMPLE = ROOT / "examples" / "extension"
PROJECT = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def module(name: str) -> ModuleType:
    """A module of the package, whose entry points are not there."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        return importlib.import_module(f"tiny_extension.{name}")
    finally:
        sys.path.remove(str(EXAMPLE))


def installed(site: Path) -> Path:
    """Puts the package and its metadata into a directory, as ``pip install --target`` does."""
    shutil.copytree(EXAMPLE / "tiny_extension", site / "tiny_extension", ignore=shutil.ignore_patterns("__pycache__"))
    info = site / f"{PROJECT['name'].replace('-', '_')}-{PROJECT['version']}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {PROJECT['name']}\nVersion: {PROJECT['version']}\n"
    (info / "METADATA").write_text(head, encoding="utf-8")
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()), ""])
        for group, entries in PROJECT["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")
    return site
