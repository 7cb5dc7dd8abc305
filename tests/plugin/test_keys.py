"""Test ids and the golden files they own."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_msdump.keys import (
    MAX_PART,
    MAX_PATH,
    CaseId,
    golden_path,
    owner_module,
    parse,
    without_variant,
)
from pytest_msdump.variants import Variant

SMALL = st.sampled_from("aAbB.-_@+%~:[]/ éÉßKcon")
NAME = st.text(st.one_of(SMALL, st.characters()), max_size=12)
FOLDER = NAME.map(lambda text: text.replace("/", "|"))
LONG = st.text(SMALL, min_size=100, max_size=400).map(lambda text: text.replace("/", "|"))
FILE = st.one_of(FOLDER, FOLDER.map(lambda text: text + ".py"), LONG)
CASES = st.builds(
    CaseId,
    st.lists(st.one_of(FOLDER, LONG), max_size=3).flatmap(lambda dirs: FILE.map(lambda file: "/".join([*dirs, file]))),
    st.lists(st.one_of(NAME, LONG), min_size=1, max_size=3).map(tuple),
    st.none() | NAME | LONG,
)


def folded(path: str) -> str:
    """What a file system may take for the same name: case and Unicode form do not count."""
    return unicodedata.normalize("NFKC", path).casefold()


@given(CASES, CASES)
@example(CaseId("a/C.py", ("f",)), CaseId("a.py", ("C", "f")))
@example(CaseId("a.py", ("f",), None), CaseId("a.py", ("f",), ""))
@example(CaseId("a.py", ("f",), "a-b"), CaseId("a.py", ("f",), "a_b"))
@example(CaseId("a.py", ("f",), "a b"), CaseId("a.py", ("f",), "a_b"))
@example(CaseId("a.py", ("f",), "A"), CaseId("a.py", ("f",), "a"))
@example(CaseId("a.py", ("TestA", "f")), CaseId("a.py", ("Testa", "f")))
@example(CaseId("a.py", ("a", "b")), CaseId("a.py", ("a.b",)))
@example(CaseId("a.py", ("f",), "x@y"), CaseId("a.py", ("f@x",), "y"))
@example(CaseId("a.py", ("f",), "é"), CaseId("a.py", ("f",), "é"))
@example(CaseId("a.py", ("f",), "x" * 400), CaseId("a.py", ("f",), "x" * 401))
@example(CaseId("a", ("f",)), CaseId("a.py", ("f",)))
def test_two_tests_never_share_a_golden(one: CaseId, other: CaseId) -> None:
    assert (folded(golden_path(one)) == folded(golden_path(other))) == (one == other)


@given(CASES)
@example(CaseId("../outside/test_x.py", ("f",)))
@example(CaseId("/abs/test_x.py", ("f",)))
@example(CaseId("con.py", ("nul", "f"), "."))
def test_a_golden_path_can_be_written_anywhere(case: CaseId) -> None:
    path = golden_path(case)
    assert path.isascii()
    assert path == path.lower()
    assert len(path) <= MAX_PATH
    assert path.endswith(".h5")
    for part in path.split("/"):
        assert part
        assert len(part) <= MAX_PART + len(".h5")
        assert not part.startswith(".")
        assert not part.endswith((".", " "))
        assert not set(part) & set('\\:*?"<>|\0 ')
        assert part.split(".")[0].split("@")[0] not in {"con", "prn", "aux", "nul", "com1", "lpt9"}


@given(CASES)
def test_the_golden_path_tells_the_test_file(case: CaseId) -> None:
    found = owner_module(golden_path(case))
    if found is None:
        assert "~" in golden_path(case)
    else:
        assert found == case.path


@given(st.text())
def test_any_path_is_answered(path: str) -> None:
    found = owner_module(path)
    assert found is None or isinstance(found, str)


def test_a_store_outside_any_module_has_no_owner() -> None:
    assert owner_module("import.h5") is None
    assert owner_module("a/b.txt") is None


def test_the_path_reads_like_the_id() -> None:
    case = parse("tests/gate/test_nets.py::TestMlp::test_step[cpu-tensor-0.5]")
    assert golden_path(without_variant(case, "cpu-tensor")) == "tests/gate/test_nets/+test+mlp.test_step@0.5.h5"


@pytest.mark.parametrize(
    "nodeid",
    ["a.py::f", "a.py::C::f[x]", "a[1].py::f[a::b[c]]", "d/a.py::C::D::f[]", "plain.txt"],
)
def test_parse_gives_the_parts_back(nodeid: str) -> None:
    assert str(parse(nodeid)) == nodeid


def test_a_file_owns_no_golden() -> None:
    with pytest.raises(ValueError, match=r"a\.py names a file"):
        golden_path(parse("a.py"))


@given(st.lists(NAME, max_size=3), st.integers(0, 3))
def test_the_variant_is_no_part_of_the_key(others: list[str], at: int) -> None:
    chosen = Variant("ascend-o0", "tensor").id
    if any(chosen in other for other in others):
        return
    ids = [*others]
    ids.insert(at, chosen)
    left = without_variant(CaseId("a.py", ("f",), "-".join(ids)), chosen)
    assert left.params == ("-".join(others) if others else None)


def test_without_parameters_nothing_is_taken_away() -> None:
    case = CaseId("a.py", ("f",))
    assert without_variant(case, "cpu-tensor") == case
