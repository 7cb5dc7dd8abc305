"""``-h``, ``-V``, ``-q`` and ``-v`` of the command; tables that fit the terminal."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli import amount, main
from harness.cli.app import CANNOT_TELL, DIFFERS, HOLDS, parser
from harness.cli.text import clipped, fitted, table
from harness.store import RunData, update
from tests.store.helpers import CPU, record

COMMANDS = sorted(parser().commands)


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "net.h5"
    records = [record(np.arange(3.0) + at, f"Default/{'layer-' * 20}/Op-op{at}") for at in range(30)]
    update(path, "Net", {CPU: RunData(records)})
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "-h"]) == 0
    short = capsys.readouterr().out
    assert main([command, "--help"]) == 0
    assert capsys.readouterr().out == short
    assert f"msdump {command}" in short


def test_the_version_has_a_letter(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-V"]) == 0
    assert re.fullmatch(r"msdump \d+\.\d+\.\d+\S*\n", capsys.readouterr().out)


@pytest.mark.parametrize("words", [("-q", "show", "{}"), ("show", "-q", "{}"), ("show", "{}", "--quiet")])
def test_quiet_prints_nothing_but_errors(
    golden: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert main([each.format(golden) for each in words]) == HOLDS
    assert capsys.readouterr() == ("", "")
    assert main([each.format(golden.parent / "none.h5") for each in words]) == CANNOT_TELL
    out, err = capsys.readouterr()
    assert (out, "none.h5" in err) == ("", True)
    assert main(["show", str(golden)]) == HOLDS
    assert capsys.readouterr().out, "the next command prints again"


def test_quiet_keeps_the_exit_code(golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.h5"
    update(other, "Net", {CPU: RunData([record(np.arange(3.0) + 1, "Default/Op-op0")])})
    assert main(["diff", "-q", str(golden), str(other)]) == DIFFERS
    assert capsys.readouterr().out == ""


def test_verbose_prints_every_row(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--all", str(golden)]) == HOLDS
    every = capsys.readouterr().out
    assert main(["-v", "show", str(golden)]) == HOLDS
    assert capsys.readouterr().out == every


def test_what_another_program_takes_is_handed_on() -> None:
    assert amount.taken_from(["regen", "-q", "-v"], ["regen"]) == ["regen", "-q", "-v"]
    assert not amount.verbose()
    assert amount.taken_from(["-v", "regen", "-q"], ["regen"]) == ["regen", "-q"]
    assert amount.verbose()
    assert amount.taken_from(["show", "--", "-q"], []) == ["show", "--", "-q"]
    assert not amount.verbose()


@given(
    rows=st.lists(st.lists(st.text("abcé-/", max_size=90), min_size=4, max_size=4), max_size=5),
    room=st.integers(20, 140),
)
def test_no_table_is_wider_than_the_terminal(rows: list[list[str]], room: int) -> None:
    import os
    from unittest.mock import patch

    with patch.object(sys.stdout, "isatty", return_value=True, create=True), patch.dict(os.environ, COLUMNS=str(room)):
        lines = list(table(("a", "number", "c", "d"), rows, right=(1,)))
    assert all(len(each) <= room for each in lines)
    assert len(lines) == len(rows) + 1


@given(st.lists(st.integers(1, 200), min_size=1, max_size=9), st.integers(10, 300))
def test_the_widest_columns_give_way(widths: list[int], room: int) -> None:
    found = fitted(widths, room, {0})
    assert found[0] == widths[0]
    assert all(new <= old and new >= min(old, 8) for new, old in zip(found, widths, strict=True))
    if sum(widths) + 2 * (len(widths) - 1) <= room:
        assert found == widths


def test_a_clipped_name_keeps_its_end() -> None:
    assert clipped("Default/network/fc-Dense/MatMul-op0", 20) == "Defau...e/MatMul-op0"
    assert clipped("abcdef", 3) == "abc"
