"""Corpora that grow from run to run: what atheris found to reach new branches, one small archive for each reader.

libFuzzer replaces an input by a smaller one that reaches the same; of what is left, the smallest are kept.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

FOLDER = Path(__file__).parent / "grown"
#: bytes of inputs that are kept for a reader
KEPT = 48 << 10


def archive(reader: str) -> Path:
    """Where a reader's inputs lie."""
    return FOLDER / f"{reader.replace(', ', '-')}.zip"


def grown(reader: str) -> Iterator[tuple[str, bytes]]:
    """A reader's inputs by name; none if nothing was kept yet."""
    path = archive(reader)
    if path.exists():
        with zipfile.ZipFile(path) as whole:
            for name in whole.namelist():
                yield name, whole.read(name)


def keep(reader: str, inputs: Iterator[bytes]) -> int:
    """Replaces a reader's archive by one of these inputs, the smallest first; gives how many were kept.

    Equal inputs give equal bytes: names are digests, times are none.
    """
    left, chosen = KEPT, []
    for data in sorted(set(inputs), key=lambda data: (len(data), data)):
        left -= len(data)
        if left < 0:
            break
        chosen.append(data)
    FOLDER.mkdir(exist_ok=True)
    with zipfile.ZipFile(archive(reader), "w", zipfile.ZIP_DEFLATED) as whole:
        for data in chosen:
            whole.writestr(zipfile.ZipInfo(sha256(data).hexdigest()[:16]), data, zipfile.ZIP_DEFLATED)
    return len(chosen)
