"""Texts that are results: the first line that differs, whatever the texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.compare import differences

TEXTS = st.dictionaries(
    st.sampled_from(["compared/a", "compared/b"]), st.lists(st.sampled_from([b"x", b"y\n", b"\xff", b""])).map(b"".join)
)


@given(TEXTS, TEXTS)
def test_each_text_that_differs_is_named_once(expected: dict[str, bytes], found: dict[str, bytes]) -> None:
    told = differences(expected, found)
    assert [each.name for each in told] == sorted(
        name for name in {*expected, *found} if expected.get(name) != found.get(name)
    )
    assert all(each.expected != each.found and len(str(each)) < 400 for each in told)


def test_the_first_line_that_differs_is_shown() -> None:
    (one,) = differences({"a": b"1\n2\n3"}, {"a": b"1\n4\n5"})
    assert str(one) == "a, line 2: expected '2', found '4'"
    (gone,) = differences({"a": b"1"}, {})
    assert str(gone) == "a, line 1: expected '1', found nothing"
    (long,) = differences({"a": b"z" * 1000}, {"a": b""})
    assert "..." in str(long)
    assert len(str(long)) < 200
