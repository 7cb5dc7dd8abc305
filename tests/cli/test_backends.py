"""``msdump backends``."""

from __future__ import annotations

import pytest

from harness.cli import main
from harness.cli.app import CANNOT_TELL, HOLDS
from harness.devices import DEVICES
from harness.devices.capabilities import FEATURES


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_every_device_is_a_column_and_every_feature_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backends"]) == HOLDS
    cells = [line.split() for line in lines(capsys)]
    names = list(DEVICES)
    at = cells.index(["feature", *names])
    assert cells[at + 1] == ["kind", *("emulated" for _ in names)]
    found = {row[0]: row[1:] for row in cells[at + 2 :]}
    assert found == {f: [str(DEVICES.get(n).capabilities[f]) for n in names] for f in FEATURES}


@pytest.mark.parametrize("name", list(DEVICES))
def test_one_device(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backends", name]) == HOLDS
    device = DEVICES.get(name)
    printed = lines(capsys)
    assert printed[0].startswith(f"{name}: {device.target}")
    assert printed[0].endswith(", emulated")
    for rule in (*device.rules.values(), *(answer.gist for answer in device.capabilities.answers.values())):
        assert any(line.endswith(rule) for line in printed)


def test_an_unknown_device(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backends", "ascend-o9"]) == CANNOT_TELL
    assert "no device is called 'ascend-o9'; did you mean ascend-o" in capsys.readouterr().err
