"""Names inside the file: different things never share a path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import StoreError
from harness.records import SlotKey
from harness.store.layout.schema import RESERVED, RunId, artefact_path, escape, run_path, slot_path, unescape

odd = st.text(st.sampled_from("ab./%@0 \0é%2F"), max_size=12) | st.text(max_size=12)
slots = st.sampled_from(["output.0", "input.12", "output.0@1", "index", "names", "tensors", ".", "..", ""])


@given(odd | slots)
def test_escape_can_be_undone(component: str) -> None:
    link = escape(component, RESERVED)
    assert unescape(link) == component
    assert link not in (b"", b".")
    assert not set(link) & set(b"/\0")


def test_escape_leaves_ordinary_names_readable() -> None:
    for name in ("Default", "fc1-Dense", "MatMul-op0", "fc1.weight", "gradDefault", "a b", "中"):
        assert escape(name) == name.encode()


def test_surrogates_that_stand_for_no_byte_are_refused() -> None:
    with pytest.raises(StoreError, match="not valid Unicode"):
        escape("\ud800")


keys = st.builds(
    SlotKey,
    rank=st.integers(0, 2),
    graph=st.integers(0, 2),
    iteration=st.integers(0, 2),
    operator=st.lists(odd | slots, min_size=1, max_size=4).map("/".join),
    execution=st.integers(0, 2),
    io=st.sampled_from(["input", "output"]),
    slot=st.integers(0, 12),
)


@given(keys, keys)
def test_slots_never_share_a_path_nor_lie_in_one_another(one: SlotKey, other: SlotKey) -> None:
    first, second = slot_path(one), slot_path(other)
    assert (first == second) == (one == other)
    assert not second.startswith(first + b"/")


def test_slot_paths_are_readable() -> None:
    key = SlotKey(0, 1, 2, "Default/fc1-Dense/MatMul-op0", 0, "output", 3)
    assert slot_path(key) == b"tensors/rank0/graph1/iteration2/Default/fc1-Dense/MatMul-op0/output.3"
    assert slot_path(key._replace(execution=5)) == slot_path(key) + b"@5"


@given(st.lists(odd | slots, min_size=1, max_size=3).map("/".join))
def test_artefacts_never_collide_with_the_tables(name: str) -> None:
    first = artefact_path(name).split(b"/")[0]
    assert first.decode() not in RESERVED
    assert "/".join(unescape(part) for part in artefact_path(name).split(b"/")) == name


@given(st.tuples(odd, odd), st.tuples(odd, odd))
def test_runs_never_share_a_path(one: tuple[str, str], other: tuple[str, str]) -> None:
    paths = []
    for run in (RunId(*one), RunId(*other)):
        if not all(run):
            with pytest.raises(StoreError, match="needs a backend and a mode"):
                run_path(run)
            return
        paths.append(run_path(run))
    assert (paths[0] == paths[1]) == (one == other)
