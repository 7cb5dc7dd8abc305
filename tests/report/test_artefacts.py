"""Texts on a page: every one is listed with its state, differences are bounded, and what is cut is said."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.capture.kinds import kind_of
from harness.report.artefacts import CHARACTERS, HEAD, artefacts
from harness.store import GoldenStore
from tests.subprocesses import ROOT

SIDES = st.dictionaries(
    st.sampled_from(["rdr/1/PIPELINE.00_bootstrap.ir", "rdr/1/SESSION.graph_build.0.pb", "graphs/a.ir", "b.txt"]),
    st.one_of(st.binary(max_size=60), st.lists(st.sampled_from([b"x", b"y", b"z"])).map(b"\n".join)),
)


@given(expected=SIDES, found=SIDES)
def test_every_text_is_listed_with_its_state(expected: dict[str, bytes], found: dict[str, bytes]) -> None:
    rows = artefacts(expected, found)
    assert [row["name"] for row in rows] == sorted({*expected, *found})
    for row in rows:
        one, other = expected.get(row["name"]), found.get(row["name"])
        assert row["bytes"] == [None if side is None else len(side) for side in (one, other)]
        state = "new" if one is None else "missing" if other is None else "identical" if one == other else "differs"
        assert row["state"] == state
        if state == "differs":
            assert row["hunks"] or row["cut"] or "same_as" in row
    json.dumps(rows, allow_nan=False)


#: of each of ten huge texts
LINES = 20_000


@pytest.mark.long
def test_huge_texts_stay_small_and_say_what_is_cut() -> None:
    one = {f"{name}.txt": b"".join(b"%d old\n" % n for n in range(LINES)) for name in "abcdefghij"}
    other = {name: text.replace(b"old", name.encode()) for name, text in one.items()}
    one["long.txt"], other["long.txt"] = b"x" * 3_000_000, b"x" * 2_999_999 + b"y"
    rows = artefacts(one, other)
    assert len(json.dumps(rows)) < 2 * CHARACTERS
    assert all(row["cut"] for row in rows if row["name"] != "long.txt")
    assert rows[0]["left_out"] + sum(tag != " " for hunk in rows[0]["hunks"] for tag, _ in hunk[2]) == 2 * LINES


def test_when_there_is_no_room_it_is_said() -> None:
    one = {f"{n:04}.txt": b"\n".join(b"%d %d" % (n, k) + b"x" * 200 for k in range(300)) for n in range(60)}
    rows = artefacts(one, {name: text.replace(b"x", b"y") for name, text in one.items()})
    assert len(json.dumps(rows)) < 2 * CHARACTERS
    assert rows[0]["hunks"]
    assert not rows[-1]["hunks"]
    assert rows[-1]["cut"] == "600 more of 600 differing lines are not shown"


def test_equal_differences_are_kept_once() -> None:
    one = {f"rdr/2/PIPELINE.{n:02}_x.ir": b"a\nb\n" + b"c\n" * n for n in range(4, 8)}
    rows = artefacts(one, {name: text.replace(b"b", b"B") for name, text in one.items()})
    assert [row.get("same_as") for row in rows] == [None, 0, 0, 0]
    for row in rows:
        assert row["hunks"] or rows[row["same_as"]]["hunks"]


def test_of_one_side_the_beginning_is_shown() -> None:
    (row,) = artefacts({}, {"rdr/1/SESSION.graph_exec_order.0.txt": b"kernel\n" * 1000})
    assert row["state"] == "new"
    assert [tag for tag, _ in row["hunks"][0][2]] == ["+"] * HEAD
    assert row["lines"] == [None, 1000]


def test_every_artefact_of_the_shipped_goldens_has_a_kind() -> None:
    with GoldenStore.open(ROOT / "golden/tests/gate/test_networks/test_lenet.h5") as store:
        names = {name for run in store.runs() for name in store.run(*run).artefacts()}
    kinds = {name: kind_of(name) for name in names}
    assert not [name for name, kind in kinds.items() if kind.words in ("text", "artefact of another recorder")]
    assert {kind.recorder for kind in kinds.values()} == {True, False}
    assert all(kind.recorder is name.startswith("rdr/") for name, kind in kinds.items())


@pytest.mark.parametrize(
    ("name", "words", "recorder", "counts"),
    [
        ("graphs/ms_output_trace_code_graph_0.ir", "kernel graph", False, False),
        ("rank_1/graphs/ms_output_trace_code_graph_0.ir", "kernel graph", False, False),
        ("rdr/1/OPTIMIZER.CPU_somas_offline_log.0.txt", "memory plan", True, True),
        ("rdr/rank1/SESSION.graph_build.0.pb", "kernel graph", True, True),
        ("compared/watched.txt", "what the mode watched", False, True),
        ("unknown", "text", False, False),
    ],
)
def test_kinds(name: str, words: str, recorder: bool, counts: bool) -> None:
    kind = kind_of(name)
    assert (kind.words, kind.recorder, kind.counts) == (words, recorder, counts)
