"""How far a long training is."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from harness.framework.train.progress import BETWEEN, LONG, Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, seconds: list[float]) -> str:
    """What is written where steps end at these seconds."""
    clock = iter([0.0, *seconds])
    with Progress(3, 30, stream, lambda: next(clock)) as progress:
        for at in range(len(seconds)):
            progress.step(1 + at // 10)
    return stream.getvalue()


def test_a_short_run_shows_nothing() -> None:
    for stream in (io.StringIO(), Terminal()):
        assert shown(stream, [0.1 * at for at in range(30)]) == ""


def test_plain_lines_come_now_and_then() -> None:
    late = LONG + 1
    seconds = [late, late + 1, late + BETWEEN - 1, late + BETWEEN, late + BETWEEN + 1]
    assert shown(io.StringIO(), seconds).splitlines() == [
        f"msdump: epoch 1/3, step 1/30, {late:.0f} s",
        f"msdump: epoch 1/3, step 4/30, {late + BETWEEN:.0f} s",
    ]


def test_a_terminal_gets_a_bar() -> None:
    text = shown(Terminal(), [LONG + at for at in range(12)])
    assert "epoch 2/3" in text
    assert "12/30" in text


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSDUMP_PROGRESS", "0")
    assert shown(io.StringIO(), [LONG + 1]) == ""


def test_a_short_training_needs_no_rich() -> None:
    code = "import sys, harness.framework.train.model; print('rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
