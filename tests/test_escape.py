"""What names from elsewhere look like where people read them."""

from __future__ import annotations

import csv
import io
import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import escape
from harness.report import render

UNSEEN = ("Cc", "Cs", "Zl", "Zp")
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
ANY = st.text(st.characters(), max_size=40)
NASTY = st.text(st.sampled_from("\x1b\x07\x9b\x00\r\n\t\x7f=+-@|!'\",a1" + BIDI), max_size=20)


def is_clean(shown: str, but: str = "") -> bool:
    return not any((unicodedata.category(c) in UNSEEN or c in BIDI) and c not in but for c in shown)


@given(ANY | NASTY)
def test_nothing_that_commands_a_terminal_is_left(given: str) -> None:
    assert is_clean(escape.text(given), "\n\t")
    assert is_clean(escape.line(given))
    assert escape.line(escape.line(given)) == escape.line(given)


@given(st.text(st.characters(categories=("L", "N", "P", "S")), max_size=40))
def test_plain_text_stays(given: str) -> None:
    assert escape.text(given) == escape.line(given) == given


def test_what_is_escaped_can_be_told() -> None:
    assert escape.line("a\x1b]0;b\x07\u202e\n\U000e0041") == r"a\x1b]0;b\x07\u202e\n\U000e0041"
    assert escape.text("a\n\tb\r") == "a\n\tb\\r"


@given(NASTY | ANY)
def test_no_cell_is_a_formula(given: str) -> None:
    shown = escape.cell(given)
    assert isinstance(shown, str)
    assert is_clean(shown)
    try:
        float(shown)
    except ValueError:
        assert not shown.startswith(("=", "+", "-", "@"))
    text = io.StringIO()
    csv.writer(text).writerow([shown])
    assert next(csv.reader(io.StringIO(text.getvalue()))) == [shown]


@pytest.mark.parametrize("given", [-1.5, 0, "-2.5", "-inf", None])
def test_numbers_stay_in_cells(given: object) -> None:
    assert escape.cell(given) == ("" if given is None else given)


@given(st.dictionaries(ANY | NASTY, ANY | NASTY, max_size=3))
def test_strings_of_json_show_what_text_shows(given: dict[str, str]) -> None:
    pairs = {
        key: value
        for key, value in given.items()
        if not any(0xD800 <= ord(c) < 0xE000 or ord(c) > 0xFFFF for c in key + value)
    }
    found = json.loads(escape.json_text(json.dumps(pairs)))
    assert list(found.items()) == list({escape.text(k): escape.text(v) for k, v in pairs.items()}.items())


def test_pages_hold_nothing_raw() -> None:
    page = render([{"name": "a\x1b[2J\u202e</script>\x9b", "holds": True}], "t\x1b\u202e")
    assert is_clean(page, "\n\t")
    assert r"a\\x1b[2J\\u202e" in page


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_streams_write_what_their_encoding_lacks(encoding: str) -> None:
    data = io.BytesIO()
    stream = escape.Escaped(io.TextIOWrapper(data, encoding, "strict", newline=""))
    print("é\u20ac\ud800\x1b", file=stream)
    stream.flush()
    said = data.getvalue().decode(encoding)
    assert said.endswith("\\ud800\\x1b\n")
    assert ("€" in said) == (encoding == "utf-8")


def test_output_is_escaped_within(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr
    with escape.escaped_output():
        print("\x1b")
        print("\x07", file=sys.stderr)
        with escape.escaped_output():
            print("\\x1b\x1b")
        escape.unescape_output()
        print("\x1b raw")
    assert (sys.stdout, sys.stderr) == before
    said = capsys.readouterr()
    assert (said.out, said.err) == ("\\x1b\n\\x1b\\x1b\n\x1b raw\n", "\\x07\n")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        escape.show(escape.painted("a \x1b]0;title\x07", "31", stream), escape.Escaped(stream))
    assert terminal.getvalue() == "\x1b[31ma \\x1b]0;title\\x07\x1b[0m\n"
    assert file.getvalue() == "a \\x1b]0;title\\x07\n"
    monkeypatch.setenv("NO_COLOR", "1")
    escape.show(escape.painted("b", "31", quiet := Terminal()), quiet)
    assert quiet.getvalue() == "b\n"


def test_lines_are_escaped_one_by_one() -> None:
    stream = io.StringIO()
    escape.Escaped(stream).writelines(iter(["a\x1b\n", "b\n"]))
    assert stream.getvalue() == "a\\x1b\nb\n"
