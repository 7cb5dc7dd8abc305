"""The memory plans MindSpore wrote (``tests/data/memory``)."""

from __future__ import annotations

import tarfile
from functools import cache
from pathlib import Path, PurePosixPath

DATA = Path(__file__).parents[1] / "data" / "memory"
SAMPLES = ("lenet", "mlp", "wide", "deep")


@cache
def texts(archive: str) -> dict[str, dict[str, str]]:
    """``{directory: {file name: text}}`` of one archive."""
    found: dict[str, dict[str, str]] = {}
    with tarfile.open(DATA / f"{archive}.tar.xz") as packed:
        for member in packed:
            content = packed.extractfile(member)
            if content is not None:
                path = PurePosixPath(member.name)
                found.setdefault(path.parent.name, {})[path.name] = content.read().decode()
    return found
