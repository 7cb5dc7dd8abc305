"""``docs/devices.md`` says what the devices are."""

from __future__ import annotations

from pathlib import Path

from harness.devices import DEVICES
from harness.devices.capabilities import FEATURES
from harness.devices.formats import FORMATS

PAGE = (Path(__file__).parents[2] / "docs" / "devices.md").read_text(encoding="utf-8")


def rows(header: str) -> list[list[str]]:
    """The table whose header line begins with ``header``, that line included."""
    lines = PAGE.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(header))
    end = next(at for at, line in enumerate([*lines[start:], ""], start) if not line.startswith("|"))
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[start:end]]
    return [cells[0], *cells[2:]]


def test_the_table_of_capabilities() -> None:
    names = list(DEVICES)
    expected = [[f, *(str(DEVICES.get(n).capabilities[f]) for n in names)] for f in FEATURES]
    assert rows("| feature |") == [["feature", *names], *expected]


def test_the_table_of_numerics() -> None:
    found = {row[0]: row[1:] for row in rows("| device |")[1:]}
    devices = {name: DEVICES.get(name).numerics for name in DEVICES}
    assert found == {name: [n.matmul, n.convolution, n.overflow.name] for name, n in devices.items()}


def test_every_format_is_in_the_table() -> None:
    named = [name for row in rows("| format |")[1:] for name in row[0].split(", ")]
    assert sorted(named) == list(FORMATS)
