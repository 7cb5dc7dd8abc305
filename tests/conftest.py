"""For every test: properties have no deadline, since how long an example takes is the machine's affair.

Block 2 of the README draws the same examples on every machine and remembers none; ``tox -e deep`` draws fresh ones."""

from __future__ import annotations

from functools import cache
from pathlib import Path

GATE = Path(__file__).parent / "gate"


@cache
def _profile() -> None:
    from tests.examples import register

    register()


def pytest_collect_file(file_path: Path) -> None:
    """Before a module of tests is imported. The gate has no properties, and starts without hypothesis."""
    if file_path.suffix == ".py" and GATE not in file_path.parents:
        _profile()
