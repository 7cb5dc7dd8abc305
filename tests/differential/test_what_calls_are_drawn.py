"""How calls are drawn and compared, without the real MindSpore."""

from __future__ import annotations

import ast

import pytest

from tests.differential.calls import OWN_PRELUDE, apart, difference, draws, in_each_dtype, program
from tests.differential.mistakes import PRELUDE
from tests.interop.kernel_dtypes import refusals


def test_draws_are_those_of_their_seed_and_parse() -> None:
    first = draws(300, 5)
    assert first == draws(300, 5)
    assert first != draws(300, 6)
    ast.parse(program(first))
    assert len({str(call) for call in first}) > 290
    assert len(in_each_dtype()) > 4000
    compile(PRELUDE + OWN_PRELUDE, "prelude", "exec")


def outcome(value: object, error: str = "", bases: tuple[str, ...] = (), same: bool = True) -> dict[str, object]:
    return {"call": 0, "mode": "eager", "out": [value, error, list(bases)], "same": same}


ONE = ["Float32", [1], ["1.0"]]


@pytest.mark.parametrize(
    ("own", "real", "kind"),
    [
        (outcome(ONE), outcome(ONE), ""),
        (outcome(["Float32", [1], ["1.000001"]]), outcome(ONE), ""),
        (outcome(["Float32", [1], ["1.1"]]), outcome(ONE), "value"),
        (outcome(["Float32", [1], ["nan"]]), outcome(ONE), "value"),
        (outcome(["Int32", [1], ["2"]]), outcome(["Int32", [1], ["1"]]), "value"),
        (outcome(["Float16", [1], ["1.0"]]), outcome(ONE), "type"),
        (outcome(["Float32", [1, 1], ["1.0"]]), outcome(ONE), "type"),
        (outcome(["tuple", [ONE]]), outcome(ONE), "type"),
        (outcome(["Float32", [1], ["1.1"]]), outcome(ONE, same=False), ""),
        (outcome(ONE), outcome(None, "TypeError: no", ("TypeError",)), "fails there"),
        (outcome(None, "TypeError: no", ("TypeError",)), outcome(ONE), "fails here"),
        (outcome(None, "X: no", ("TypeError",)), outcome(None, "Y: no", ("TypeError",)), ""),
        (outcome(None, "X: no", ("ValueError",)), outcome(None, "Y: no", ("TypeError",)), "class"),
        (None, outcome(ONE), "ends"),
        (outcome(ONE), None, ""),
    ],
)
def test_what_differs(own: dict[str, object] | None, real: dict[str, object] | None, kind: str) -> None:
    assert difference(own, real)[0] == kind


def test_a_slope_may_be_rounding_of_its_terms() -> None:
    small = ["Float32", [1], ["1e-08"]], ["Float32", [1], ["-2e-08"]]
    assert apart(*small) == "values"
    assert not apart(*small, 1.0)


def test_refusals_are_read_from_errors() -> None:
    texts = [
        "Select CPU operator[Abs] fail! ... are input[Bool], output[Bool];,  but get input[[const vector]{UInt16}], "
        "output[[const vector]{UInt16}].",
        "Select CPU operator[Select] fail! ..., but get input[Bool BFloat16 BFloat16 ] and output[BFloat16 ]",
        "For primitive[CeLU], the input argument[input_x] must be a type of {Tensor[Float16]}, but got Tensor[Int8].",
        "another error",
    ]
    assert refusals(texts) == {"Abs": {"UInt16"}, "Select": {"Bool BFloat16 BFloat16"}, "CeLU": {"Int8 *"}}
