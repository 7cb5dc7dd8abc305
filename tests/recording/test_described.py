"""What captures keep of operators, and how replayers are found."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.recording import (
    REPLAYERS,
    Call,
    Described,
    Edge,
    Facts,
    Operator,
    Parameter,
    Replayed,
    Replayer,
    Result,
    TensorSpec,
    constant,
    described,
    replayer_of,
)  # fmt: skip
from tests.subprocesses import ROOT

SPEC = TensorSpec(dtypes.float32, (2, 3))
NAMES = st.text("abcXYZ_.0", min_size=1, max_size=8)


def test_each_kind_of_edge_is_told() -> None:
    first = Operator("MatMul", "Default/fc", outputs=[SPEC], number=0)
    second = Operator(
        "Add", "Default", {"axis": (0, 1)},
        [Result(first, 1), Parameter("fc.weight", SPEC, True), Parameter("x", SPEC, False), constant(2.5), None],
        [SPEC], mutates=[1], aliases={0: 1}, arguments={"alpha": 3}, phase="backward", number=4,
    )  # fmt: skip
    told = described(second, rank=3)
    assert told.name == "Default/Add-op4"
    assert told.inputs == (
        Edge("result", "Default/fc/MatMul-op0", 1), Edge("parameter", "fc.weight"), Edge("argument", "x", 2),
        Edge("constant", value=2.5), Edge("unknown"),
    )  # fmt: skip
    assert told.names == ("", "", "", "alpha", "")
    assert (told.outputs, told.mutates, told.aliases, told.phase, told.rank) == (
        (("Float32", (2, 3)),), (1,), {0: 1}, "backward", 3,
    )  # fmt: skip


@given(
    type=NAMES,
    scope=NAMES,
    attributes=st.dictionaries(NAMES, st.one_of(st.integers(), st.floats(), st.text(max_size=5), st.none())),
    slots=st.lists(st.sampled_from(["result", "parameter", "argument", "unknown"]), max_size=6),
)
def test_a_description_is_pickled_whole(type: str, scope: str, attributes: dict[str, Any], slots: list[str]) -> None:
    maker = Operator("Make", outputs=[SPEC], number=7)
    operands = {
        "result": maker, "parameter": Parameter("w", SPEC, True), "argument": Parameter("x", SPEC, False),
        "unknown": None,
    }  # fmt: skip
    told = described(Operator(type, scope, attributes, [operands[each] for each in slots], number=0))
    again = pickle.loads(pickle.dumps(told))
    assert repr(again) == repr(told)
    assert [edge.kind for edge in again.inputs] == slots


class Doubling(Replayer):
    def facts(self, operator: Described) -> Facts | None:
        return Facts(moves=True) if operator.type == "Double" else None

    def replay(self, call: Call) -> Replayed | None:
        return Replayed((call.before[0] * call.operator.attributes.get("by", 2),))


def test_a_replayer_is_found_by_its_engines_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REPLAYERS._things, "tiny rt", Doubling)
    assert isinstance(replayer_of("tiny rt 1.0"), Doubling)
    assert isinstance(replayer_of("tiny rt"), Doubling)
    assert replayer_of("tiny") is None
    assert replayer_of("") is None


ASKED = {
    "in": lambda: "MindSpore" in REPLAYERS,
    "list": lambda: list(REPLAYERS),
    "get": lambda: REPLAYERS.get("MindSpore"),
    "other": lambda: replayer_of("nobody 1.0"),
    "ours": lambda: replayer_of("MindSpore 2.10.0"),
}
MEMBERS = """
import sys
from tests.recording.test_described import ASKED, REPLAYERS
for each in sys.argv[1:]:
    ASKED[each]()
print("MindSpore" in REPLAYERS, "MindSpore" in list(REPLAYERS), "nobody" in REPLAYERS, "torch" in sys.modules)
"""


@pytest.mark.sampled(5)
@pytest.mark.parametrize("first", [(), ("in",), ("list",), ("other", "list"), ("ours", "get")])
def test_who_is_a_member_does_not_depend_on_what_was_asked_before(first: tuple[str, ...]) -> None:
    """A process for each, because modules that were imported must not count either."""
    done = subprocess.run([sys.executable, "-c", MEMBERS, *first], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "True True False False\n"


def test_a_changed_call_leaves_the_first_as_it_was() -> None:
    call = Call(Described("Double-op0", "Double", attributes={"by": 2, "kind": "x"}), {0: np.float32(3)})
    other = call.changed({0: np.float32(5)}, {"by": 3, "kind": ...})
    assert Doubling().replay(call).outputs == (6,)
    assert Doubling().replay(other).outputs == (15,)
    assert other.operator.attributes == {"by": 3}
    assert call.operator.attributes == {"by": 2, "kind": "x"}
