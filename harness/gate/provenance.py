"""Where a golden comes from, for its manifest: versions, machine, seed, commit."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

#: Distributions whose version can change a result.
TOOLS = ("pytest-msdump", "numpy", "h5py", "ml_dtypes")


def origin(root: Path, seed: int | None = None) -> dict[str, Any]:
    """The facts of this process and of the working tree at ``root``.

    Args:
        root: a directory of the project.
        seed: that generators of random numbers were given; None if nobody set one.
    """
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "seed": seed,
        "commit": _commit(root),
        "versions": {name: _version(name) for name in TOOLS},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _commit(root: Path) -> str | None:
    """The commit of the working tree; with a mark if tracked files differ from it; None outside of git."""
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            cwd=root, capture_output=True, text=True, timeout=10, check=False, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None if found.returncode == 0 else None
