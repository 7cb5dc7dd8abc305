"""For every test: properties have no deadline, since how long an example takes is the machine's affair."""

from __future__ import annotations

from functools import cache
from pathlib import Path

GATE = Path(__file__).parent / "gate"


@cache
def _no_deadline() -> None:
    from hypothesis import settings

    settings.register_profile("no deadline", deadline=None)
    settings.load_profile("no deadline")


def pytest_collect_file(file_path: Path) -> None:
    """Before a module of tests is imported. The gate has no properties, and starts without hypothesis."""
    if file_path.suffix == ".py" and GATE not in file_path.parents:
        _no_deadline()
