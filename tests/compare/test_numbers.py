"""Rows of four numbers are judged without their texts: verdict, reason and digest are those of the rows."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.capture.msprobe_records import StatedRecord
from harness.compare.judge import SlotJudge
from harness.compare.tolerances import Tolerances
from harness.records import Record, SlotKey
from harness.stats.printed import row_digest

_KEY = SlotKey(0, 0, 0, "Functional.linear.0.forward", 0, "output", 0)
_NUMBER = st.one_of(
    st.floats(width=16), st.integers(-9, 9), st.just(-0.0), st.sampled_from([math.nan, math.inf, 2.0**60, 1e-30])
)
_SAID = st.fixed_dictionaries(
    {"Max": _NUMBER, "Min": _NUMBER, "Mean": _NUMBER, "Norm": _NUMBER},
    optional={"md5": st.sampled_from(["", "0a", "0b"])},
)
_KINDS = st.tuples(st.sampled_from(["BFloat16", "Float32", "Int64", "Complex64"]), st.sampled_from([(), (2, 3), (0,)]))
_TOLERANCES = st.sampled_from(["exact", "default", 0.5, {"float32": 1e-3}])


class _Rows(StatedRecord):
    """The same, of which nobody knows that there are four numbers."""

    __slots__ = ()

    @property
    def numbers(self) -> tuple[Any, ...] | None:
        return None


def _near(said: dict[str, Any], nudge: float) -> dict[str, Any]:
    return {name: value * nudge if isinstance(value, float) else value for name, value in said.items()}


@given(_SAID, _SAID, st.sampled_from([None, 1.0, 1 + 1e-4, 1.01]), _KINDS, _TOLERANCES)
def test_numbers_are_judged_as_their_rows_are(
    one: dict[str, Any], other: dict[str, Any], nudge: float | None, kind: tuple[str, tuple[int, ...]], asked: Any
) -> None:
    """The verdict, its reason and its hash are those of rows; digests tell the same sides apart."""
    saids = (one, other if nudge is None else _near(one, nudge))
    made = [[cls.of(_KEY, "linear", *kind, "torch", said) for said in saids] for cls in (StatedRecord, _Rows)]
    quick, slow = (SlotJudge(Tolerances.parse(asked)).differing(*pair, None) for pair in made)
    assert quick == slow
    assert slow == quick
    assert hash(quick) == hash(slow)
    assert pickle.loads(pickle.dumps(quick)) == copy.copy(quick) == replace(quick) == slow
    pair: list[Record] = [*made[0]]
    same = pair[0].digest == pair[1].digest
    assert pair[0].agrees(pair[1]) is same
    rows = [row_digest(*kind, record.row()) for record in pair]
    # Not the other way round: zeros have signs.
    assert not same or rows[0] == rows[1]
