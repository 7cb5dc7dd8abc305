"""What the parts of one task gave is told with what they have in common said once."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harness.capture import Problem
from harness.scale.journal import packed, unpacked
from harness.scale.wire import Done, Left, Read, folded

_SPANS = st.none() | st.just(((1, 0, 0), (2, 0, 0))) | st.tuples(*[st.tuples(st.integers(0, 3), *[st.just(0)] * 2)] * 2)
_LEFT = st.builds(Left, st.sampled_from([b"a", b"b"]), st.sampled_from([(1, 0, 0), (0, 2, 0)]), _SPANS, _SPANS)
_READ = st.builds(
    Read,
    st.lists(st.builds(Problem, st.just("x"), st.just("damaged"), st.sampled_from("ab")), max_size=1),
    closed=st.dictionaries(st.tuples(st.just(0), st.integers(0, 2)), st.booleans(), max_size=1),
)
_DONE = st.builds(Done, st.none() | _READ, st.none() | _READ, aligned=st.booleans(), left=st.none() | _LEFT)


@given(st.lists(_DONE, max_size=9))
def test_folded_results_are_the_results(results: list[Done]) -> None:
    made = folded(deepcopy(results))
    assert made.parts == len(results)
    assert unpacked(packed(made)) == made, "a journal holds it"
    again = []
    for done, own in made.each():
        reads = [
            None if read is None else replace(read, closed=closed)
            for read, closed in zip((done.expected, done.found), own.closed, strict=True)
        ]
        again.append(replace(done, expected=reads[0], found=reads[1]))
    assert again == results


def test_parts_that_are_alike_are_told_once() -> None:
    made = folded([Done(Read(), Read(), aligned=True, left=Left(b"a", (7, 0, 0))) for _ in range(50)])
    assert (len(made.alike), made.own) == (1, ())
