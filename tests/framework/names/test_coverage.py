"""How much of what two public collections of models use works here; it must not fall."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.framework import names

USED = json.loads((Path(__file__).resolve().parents[2] / "data" / "names" / "api_use.json").read_text())
PLACES = {"ms": "", "ds": "dataset", "vision": "dataset.vision", "transforms": "dataset.transforms"}
#: least share of uses, in percent; raise it when more is there
FLOORS = {"nn": 99.6, "ms": 98.4, "ops": 98.9, "ds": 93.1, "vision": 94.7, "transforms": 100, "all": 98.9}


def share(group: str) -> float:
    """Percent of the uses of a group's names (of all: ``all``) whose names work here."""
    there = of = 0
    for each, uses in USED["attributes"].items():
        if group in (each, "all"):
            of += sum(uses.values())
            there += sum(n for name, n in uses.items() if names.supported(PLACES.get(each, each), name))
    return 100 * there / of


@pytest.mark.parametrize("group", FLOORS)
def test_the_share_of_uses_that_work_does_not_fall(group: str) -> None:
    assert share(group) >= FLOORS[group]


if __name__ == "__main__":
    for group in FLOORS:
        print(f"{group}: {share(group):.2f} %")
