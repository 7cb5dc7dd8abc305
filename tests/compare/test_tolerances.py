"""Which tolerance holds where, and how users write them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.compare import DEFAULTS, EXACT, Tolerance, Tolerances
from harness.errors import ToleranceError
from tests.store.helpers import record

KEY = record(0.0, "Default/fc1-Dense/MatMul-op0").key


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_the_table_covers_every_inexact_dtype_and_no_other(dtype: dtypes.DType) -> None:
    assert (dtype.name in DEFAULTS) == (dtype.kind in "fc")
    chosen = Tolerances.parse({"default": 0.5, dtype.lower: 0.25, "MatMul": 0.125}).of(KEY, "MatMul", dtype.name)
    assert chosen == (Tolerance(rtol=0.125) if dtype.kind in "fc" else EXACT)


def test_precedence() -> None:
    rules = Tolerances.parse(
        {"default": 1, "float32": 2, "MatMul": 3, "Default/fc2*": 4, "*op0:output.0": 5, "Default/*": 6}
    )

    def rtol(key: Any, op_type: str, dtype: str) -> float:
        return rules.of(key, op_type, dtype).rtol

    assert rtol(KEY, "MatMul", "Float32") == 5
    assert rtol(KEY._replace(slot=1), "MatMul", "Float32") == 6
    assert rtol(KEY._replace(operator="Default/fc2-Dense/MatMul-op1"), "MatMul", "Float32") == 4
    assert rtol(KEY._replace(operator="Gradients/x"), "MatMul", "Float32") == 3
    assert rtol(KEY._replace(operator="Gradients/x"), "Add", "Float32") == 2
    assert rtol(KEY._replace(operator="Gradients/x"), "Add", "Float64") == 1


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (None, EXACT),
        ("exact", EXACT),
        ("default", DEFAULTS["Float32"]),
        (1e-3, Tolerance(rtol=1e-3)),
        (0, Tolerance()),
        ((1e-3, 1e-5), Tolerance(rtol=1e-3, atol=1e-5)),
        ([1e-3, 1e-5], Tolerance(rtol=1e-3, atol=1e-5)),
        ({"rtol": 0.1, "max_ulp": 3}, Tolerance(rtol=0.1, max_ulp=3)),
        (Tolerance(scaled=0.5), Tolerance(scaled=0.5)),
        (Tolerances(default=Tolerance(atol=1)), Tolerance(atol=1)),
        ({}, EXACT),
        ({"MatMul": "default"}, DEFAULTS["Float32"]),
        ({"Default/*": "default"}, DEFAULTS["Float32"]),
        ({"Add": 0.5}, EXACT),
    ],
    ids=str,
)
def test_ways_to_write_one(given_: Any, expected: Tolerance) -> None:
    assert Tolerances.parse(given_).of(KEY, "MatMul", "Float32") == expected


@pytest.mark.parametrize(
    "wrong",
    ["loose", -1, float("nan"), float("inf"), True, (1, 2, 3), ("a", 1), {"rtol": -1}, {"max_ulp": 1.5},
     {"rtol": "1"}, {"MatMul": {"rtoll": 1}}, {3: 0.1}, {"default": [1]}, 3j, {"max_ulp": True}],
    ids=repr,
)  # fmt: skip
def test_what_means_nothing_is_refused(wrong: Any) -> None:
    with pytest.raises(ToleranceError, match=r"given was|cannot read|at least 0"):
        Tolerances.parse(wrong)


tolerances = (
    st.none()
    | st.builds(
        Tolerance,
        rtol=st.floats(0, 10),
        atol=st.floats(0, 10),
        scaled=st.floats(0, 10),
        max_ulp=st.integers(0, 10),
    )
    | st.just(EXACT)
)
names = st.sampled_from(["MatMul", "Add", "float32", "Default/*", "*:input.0", "[ab]?"])


@given(st.dictionaries(names, tolerances), tolerances)
def test_json_round_trip(table: dict[str, Tolerance | None], default: Tolerance | None) -> None:
    rules = Tolerances.parse({"default": "default" if default is None else default}
                             | {name: "default" if t is None else t for name, t in table.items()})  # fmt: skip
    assert Tolerances.parse(json.loads(json.dumps(rules.as_json()))) == rules


def test_says_what_it_admits() -> None:
    assert str(EXACT) == "exact"
    assert str(Tolerance()) == "equal values"
    assert str(Tolerance(rtol=1e-5, scaled=1e-6, max_ulp=1)) == "rtol=1e-05 scaled=1e-06 max_ulp=1"
