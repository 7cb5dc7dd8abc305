"""Names inside the file: different things never share a path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import StoreError
from harness.records import SlotKey
from harness.store.layout.schema import (
    RESERVED,
    RunId,
    artefact_path,
    escape,
    named_run,
    run_path,
    run_text,
    slot_path,
    unescape,
)

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


words = st.sampled_from(["modules", "sentinel", "rank0", "rank12", "@", "@a", "tensor", "index"])
runs = st.builds(
    RunId,
    odd | words,
    odd | words,
    st.sampled_from(["operators", "modules", "sentinel"]),
    st.integers(-1, 20) | st.just(2**31 - 1),
    odd | words,
)


@given(runs, runs)
def test_runs_never_share_a_path(one: RunId, other: RunId) -> None:
    paths = []
    for run in (one, other):
        if not run.backend or not run.mode:
            with pytest.raises(StoreError, match="needs a backend and a mode"):
                run_path(run)
            return
        paths.append(run_path(run))
        assert named_run(run_text(run)) == run
    assert (paths[0] == paths[1]) == (one == other)


@given(runs, odd | words | slots)
def test_a_run_and_an_artefact_of_another_never_share_a_path(run: RunId, name: str) -> None:
    plain = RunId(run.backend or "a", run.mode or "b")
    further = run._replace(backend=plain.backend, mode=plain.mode)
    if further != plain:
        assert run_path(further).split(b"/")[3] != artefact_path(name).split(b"/")[0]


@given(st.lists(odd | words, max_size=6).map("/".join))
def test_a_text_names_one_run_or_is_refused(text: str) -> None:
    try:
        run = named_run(text)
    except (ValueError, StoreError):
        return
    assert run_text(run) == text
    assert run.backend
    assert run.mode


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (RunId("cpu", "tensor"), "cpu/tensor"),
        (RunId("torch", "tensor", "modules"), "torch/tensor/modules"),
        (RunId("torch", "tensor", rank=0), "torch/tensor/rank0"),
        (RunId("torch", "tensor", variant="fused"), "torch/tensor/@fused"),
        (RunId("torch", "full", "sentinel", 11, "b"), "torch/full/sentinel/rank11/@b"),
    ],
)
def test_what_is_as_usual_is_not_in_a_runs_name(run: RunId, text: str) -> None:
    assert (str(run), run_text(run), run_path(run)) == (text, text, f"runs/{text}".encode())


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (RunId("cpu", "tensor", "layers"), "unknown granularity 'layers'"),
        (RunId("cpu", "tensor", rank=-2), "a number from 0"),
        (RunId("cpu", "tensor", rank=2**31), "a number from 0"),
        (RunId("cpu", "tensor", rank=True), "a number from 0"),
    ],
)
def test_a_key_that_no_run_can_have_is_refused(run: RunId, why: str) -> None:
    with pytest.raises(StoreError, match=why):
        run_path(run)
