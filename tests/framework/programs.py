"""Programs whose output was recorded from MindSpore 2.10.0: the files of ``tests/data/programs``, each ``.txt``
with a ``.told`` beside it.

``python -m tests.framework.programs REAL [NAME...]`` runs them with the Python REAL, which has MindSpore, and writes
what they print.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.differential.side import Side

DATA = Path(__file__).parents[1] / "data" / "programs"
NAMES = sorted(path.stem for path in DATA.glob("*.txt"))


def printed(side: Side, name: str, folder: Path) -> list[str]:
    """The lines that a program prints."""
    return side.printed(DATA / f"{name}.txt", folder / name).splitlines()


def told(name: str) -> list[str]:
    """The lines that it prints under MindSpore 2.10.0."""
    return (DATA / f"{name}.told").read_text(encoding="utf-8").splitlines()


def main(real: str, *names: str) -> None:
    """Records the programs named, or all."""
    side = Side(real, own=False)
    with tempfile.TemporaryDirectory() as folder:
        for name in names or NAMES:
            lines = printed(side, name, Path(folder))
            (DATA / f"{name}.told").write_text("\n".join(lines) + "\n", encoding="utf-8")
    side.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
