"""What notebooks and terminals show of results."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness import escape, notebook
from harness.capture import Capture
from harness.errors import HarnessError
from harness.records import Record, SlotKey
from harness.store import GoldenStore


class Reader(HTMLParser):
    """The texts of an HTML, and its tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        assert attrs == []

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@given(st.text(max_size=20), st.lists(st.lists(st.text(max_size=20), min_size=2, max_size=2), max_size=20))
def test_a_table_holds_texts_alone(title: str, rows: list[list[str]]) -> None:
    found = Reader(notebook.table(title, ("one", "other"), rows, len(rows)))
    assert set(found.tags) <= {"div", "p", "table", "thead", "tbody", "tr", "th", "td"}
    assert found.tags.count("td") == 2 * min(len(rows), notebook.MOST)
    assert all(escape.line(text) == text for text in found.texts)
    assert (f"and {len(rows) - notebook.MOST} more" in found.texts) == (len(rows) > notebook.MOST)


def capture(count: int) -> Capture:
    values = np.arange(3, dtype=np.float32)
    records = [
        Record(SlotKey(0, 0, 0, f"Default/<b>-op{at}", 0, "output", 0), "Add", "Float32", (3,), values=values)
        for at in range(count)
    ]
    return Capture("Net<script>", "cpu", True, records)


def test_a_capture_shows_its_slots() -> None:
    found = Reader(capture(14)._repr_html_())
    assert found.texts[0] == "Net<script>: cpu, tensor (emulated), 14 slots"
    assert "Default/<b>-op0" in found.texts
    assert "and 2 more" in found.texts


def test_a_judgement_and_an_update_say_what_they_hold(tmp_path: Path) -> None:
    values = {"loss": np.float32(1.5), "scores": np.arange(3.0)}
    place = tmp_path / "g.h5"
    made = harness.write(place, values)
    assert repr(made).startswith("<UpdateResult: g.h5, ")
    assert repr(made).endswith("(2 slots: 2 new)>")
    held = harness.check(place, values)
    assert repr(held) == "<Judgement: identical; 2 slots: 2 identical>"
    assert Reader(held._repr_html_()).tags == ["div", "p"]
    values["scores"][1] += 1
    with pytest.raises(AssertionError) as caught:
        harness.check(place, values)
    judgement = caught.value.judgement  # type: ignore[attr-defined]
    assert repr(judgement) == "<Judgement: differs; 2 slots: 1 identical, 1 differs>"
    assert "check/scores" in Reader(judgement._repr_html_()).texts
    told = Reader(caught.value._repr_html_())  # type: ignore[attr-defined]
    assert told.tags[:3] == ["pre", "div", "p"]
    assert "First divergence: iteration 0, check/scores" in told.texts[0]
    with GoldenStore.open(place) as store:
        assert repr(store.run("cpu", "tensor")) == "<StoredRun: cpu/tensor of g.h5, tensors>"


def test_an_error_shows_the_cell_alone() -> None:
    """As a notebook asks for it: frames of the cell, none of ours nor of the notebook's own."""
    source = "from harness import ops, Tensor\n\ndef f(x):\n    return ops.matmul(x, x)\n\nf(Tensor([[1.0, 2.0]]))"
    with pytest.raises(HarnessError) as caught:
        exec(compile(source, "<cell>", "exec"), {})
    lines = caught.value._render_traceback_()
    files = [each for each in lines if each.startswith("  File ")]
    assert [each.partition('"<cell>", ')[2] for each in files if "<cell>" in each] == [
        "line 6, in <module>",
        "line 4, in f",
    ]
    assert not any("harness" in each.replace("test", "") for each in files[2:])
    assert "inner dimensions" in lines[-1]
