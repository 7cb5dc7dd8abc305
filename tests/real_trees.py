"""The small real dump trees under ``tests/data/real`` (how they were made: the README there)."""

from __future__ import annotations

import tarfile
from functools import cache
from pathlib import Path, PurePosixPath

DATA = Path(__file__).parent / "data" / "real"
NAMES = ("train", "two_nets", "control", "odd", "values")


def extract(name: str, directory: Path) -> Path:
    """Unpacks one tree below ``directory``, modes included; gives its path."""
    target = directory / name
    target.mkdir(parents=True)
    with tarfile.open(DATA / f"{name}.tar.gz") as archive:
        # Python before 3.11.4 has no filters, and keeps modes without being asked.
        archive.extractall(target, **({"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}))
    return target


@cache
def graph_files(name: str) -> dict[int, dict[str, bytes]]:
    """``{graph: {"ir": ..., "pb": ..., "csv": ...}}`` of one tree, without unpacking it."""
    found: dict[int, dict[str, bytes]] = {}
    with tarfile.open(DATA / f"{name}.tar.gz") as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            kept = path.parent.name == "graphs" or path.name.startswith("ms_execution_order")
            if member.isfile() and kept:
                number = int(path.stem.rpartition("_")[2])
                content = archive.extractfile(member)
                assert content is not None
                found.setdefault(number, {})[path.suffix[1:]] = content.read()
    return found


GRAPHS = [(name, number) for name in NAMES for number in sorted(graph_files(name))]
