"""How far long work is."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from harness.progress import BETWEEN, SOON, Progress, progress_over


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def stepped(stream: io.StringIO, seconds: list[float], unit: str = "steps", size: int = 1) -> str:
    """What is written where steps end at these seconds."""
    clock = iter([0.0, *seconds])
    with Progress("", 30 * size, unit, lines=True, stream=stream, clock=lambda: next(clock)) as progress:
        for at in range(len(seconds)):
            progress.step(size, f"epoch {1 + at // 10}/3")
    return stream.getvalue()


def test_short_work_shows_nothing() -> None:
    for stream in (io.StringIO(), Terminal()):
        assert stepped(stream, [SOON * at / 31 for at in range(30)]) == ""


def test_plain_lines_come_now_and_then() -> None:
    late = SOON + 1
    seconds = [late, late + 1, late + BETWEEN - 1, late + BETWEEN, late + BETWEEN + 1]
    assert stepped(io.StringIO(), seconds).splitlines() == [
        f"msdump: epoch 1/3, steps 1/30, {late:.0f} s",
        f"msdump: epoch 1/3, steps 4/30, {late + BETWEEN:.0f} s",
    ]


def test_bytes_are_shown_as_such() -> None:
    assert "MB" in stepped(Terminal(), [9.0], "bytes", 1 << 20)
    assert stepped(io.StringIO(), [9.0], "bytes", 1 << 20) == "msdump: epoch 1/3, 1 of 30 MiB, 9 s\n"


def test_no_plain_lines_unless_asked_for() -> None:
    stream = io.StringIO()
    clock = iter([0.0, 100.0, 200.0])
    with Progress("regen", 2, "networks", stream=stream, clock=lambda: next(clock)) as progress:
        progress.step()
        progress.step()
    assert stream.getvalue() == ""


def test_a_terminal_gets_a_bar() -> None:
    text = stepped(Terminal(), [SOON + at for at in range(12)])
    assert "epoch 2/3" in text
    assert "12/30" in text
    assert "steps" in text


def test_names_from_elsewhere_command_no_terminal() -> None:
    stream = Terminal()
    clock = iter([0.0, 1.0])
    with Progress("", 2, "networks", stream=stream, clock=lambda: next(clock)) as progress:
        progress.step(1, "net\x1b]0;title\x07 [bold]red")
    assert "\x1b]0" not in stream.getvalue()
    assert r"net\x1b]0;title\x07 [bold]red" in stream.getvalue()


def test_a_line_stands_above_the_bar() -> None:
    stream = Terminal()
    clock = iter([0.0, 1.0])
    with Progress("", 2, "networks", stream=stream, clock=lambda: next(clock)) as progress:
        progress.line("before")
        progress.step()
        progress.line("a [note] of it")
    assert stream.getvalue().startswith("msdump: before\n")
    assert "msdump: a [note] of it" in stream.getvalue()


def test_another_piece_of_work_begins_anew() -> None:
    stream = io.StringIO()
    clock = iter([0.0, 1.0, 50.0, 50.1, 51.0])
    with Progress("one", 4, "stores", lines=True, stream=stream, clock=lambda: next(clock)) as progress:
        progress.step(3)
        progress.begin("two", 2, "stores")
        progress.step()
        progress.step()
    assert stream.getvalue().splitlines() == ["msdump: one, stores 3/4, 1 s", "msdump: two, stores 2/2, 1 s"]


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_what_goes_by_is_what_was_given(stream: type[io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream())
    assert list(progress_over(iter("abc"), "letters", 3, "letters")) == ["a", "b", "c"]
    assert list(progress_over("abc", lambda letter: f"letter {letter}")) == ["a", "b", "c"]


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSDUMP_PROGRESS", "0")
    for stream in (io.StringIO(), Terminal()):
        assert stepped(stream, [SOON + 1]) == ""


@pytest.mark.long
def test_a_short_training_needs_no_rich() -> None:
    code = "import sys, harness.framework.train.model; print('rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
