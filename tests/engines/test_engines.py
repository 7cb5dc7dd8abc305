"""Engines that nobody wrote for this project, driven through recordings as ``docs/how-to/onnx-and-jax.md`` shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.backends import RecordedBackend
from harness.recording import Described, Observer, Operator, described
from tests.docs.pages import Reader, blocks, matches
from tests.engines import page
from tests.engines.drawn import KINDS, network
from tests.engines.faults import captured, case

page.needed()

import onnx  # noqa: E402

SEEDS = [0, 1, 2]


def test_the_page(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks(page.PAGE):
        for command, shown, printed in reader.follow(block):
            assert matches(shown, printed), f"line {block.line + 1}: {command}\n{printed}"


def test_each_engine_takes_at_most_60_lines() -> None:
    def lines(*names: str) -> int:
        return sum(len((page.programs() / name).read_text().splitlines()) for name in names)

    assert lines("onnx_graph.py", "onnx_reference.py") <= 60
    assert lines("onnx_graph.py", "onnx_runtime.py") <= 60
    assert lines("jax_steps.py") <= 60


def operators_of(engine: str, drawn: Any) -> tuple[Any, list[Described]]:
    """The page's runtime of a network, and its operators as a capture keeps them."""
    made = page.recorded(engine)
    net = made(drawn.function(), drawn.x, drawn.weights) if engine == "jax" else made(drawn.model())
    return net, [described(operator) for operator in net.graph.order]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("engine", ["onnx", "onnxruntime"])
def test_edges_and_attributes_are_those_of_the_models_graph(engine: str, seed: int) -> None:
    drawn = network(seed)
    model = drawn.model()
    _, found = operators_of(engine, drawn)
    makers = {name: (node.name, slot) for node in model.graph.node for slot, name in enumerate(node.output)}
    assert [each.scope for each in found] == [f"Default/{node.name}" for node in model.graph.node]
    for each, node in zip(found, model.graph.node, strict=True):
        assert each.type == node.op_type
        assert each.attributes == {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        for name, edge in zip(node.input, each.inputs, strict=True):
            if name in makers:
                maker, slot = makers[name]
                assert (edge.kind, edge.name.split("/")[1], edge.slot) == ("result", maker, slot)
            else:
                assert (edge.kind, edge.name) == ("argument" if name == "x" else "parameter", name)


@pytest.mark.parametrize("seed", SEEDS)
def test_edges_of_a_jaxpr(seed: int) -> None:
    """Flattened by a rule of its own: each variable is what the equation made that gave it."""
    import jax

    drawn = network(seed)
    jaxpr = jax.make_jaxpr(drawn.function())(drawn.x, drawn.weights)
    leaves = jax.tree_util.tree_leaves_with_path((drawn.x, drawn.weights))
    names = [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in leaves]
    expected: list[list[Any]] = []

    def flatten(inner: Any, given: list[Any]) -> list[Any]:
        made = dict(zip(inner.jaxpr.invars, given, strict=True))
        made |= dict.fromkeys(inner.jaxpr.constvars, "constant")
        for equation in inner.jaxpr.eqns:
            reads = ["constant" if type(v).__name__ == "Literal" else made[v] for v in equation.invars]
            body = equation.params.get("jaxpr") or equation.params.get("call_jaxpr")
            if body is None:
                expected.append(reads)
                results: list[Any] = [(len(expected) - 1, slot) for slot in range(len(equation.outvars))]
            else:
                results = flatten(body, reads)
            made |= dict(zip(equation.outvars, results, strict=True))
        return ["constant" if type(v).__name__ == "Literal" else made[v] for v in inner.jaxpr.outvars]

    flatten(jaxpr, [f"arg {name}" for name in names])
    _, found = operators_of("jax", drawn)
    place = {each.name: at for at, each in enumerate(found)}

    def shown(edge: Any) -> Any:
        if edge.kind == "result":
            return place[edge.name], edge.slot
        return "constant" if edge.kind == "constant" else f"arg {edge.name}"

    assert [[shown(edge) for edge in each.inputs] for each in found] == expected


@pytest.mark.parametrize("engine", page.ENGINES)
def test_what_an_operator_reads_is_what_its_edge_gave(engine: str) -> None:
    drawn = network(7)
    _, operators = operators_of(engine, drawn)
    records = {(r.key.operator, r.key.io, r.key.slot): r.load() for r in captured(engine, drawn).records()}
    compared = 0
    for each in operators:
        for slot, edge in enumerate(each.inputs):
            if edge.kind == "result":
                read, gave = records[each.name, "input", slot], records[edge.name, "output", edge.slot]
                assert np.array_equal(read, gave, equal_nan=True)
                compared += 1
    assert compared > 8


@pytest.mark.parametrize("engine", page.ENGINES)
@pytest.mark.parametrize("kind", KINDS)
def test_faults(engine: str, kind: str) -> None:
    page.module("onnx_replayer")
    found = [made for seed in range(40, 80) if (made := case(engine, seed, kind)) is not None][:2]
    assert len(found) == 2
    for each in found:
        assert each.right(each.said)
        assert not each.false(each.said)
        assert each.right(each.alone) or each.cannot_tell()
        if engine == "onnx" and kind in ("attribute", "edge"):
            assert each.said is not None
            assert each.said.cause is not None
            assert each.said.cause.certainty.proven


# --- what the reference evaluator has beside tensors ------------------------------------------------------------------

CONTROL = """<ir_version: 10, opset_import: ["": 21]>
net (float[3] x, int64 n) => (float[3] y, seq(float[3]) parts) {
    total = ReduceSum<keepdims = 0>(x)
    zero = Constant<value = float {0}>()
    positive = Greater(total, zero)
    chosen = If(positive) <
        then_branch = yes () => (float[3] a) { a = Neg(x) },
        else_branch = no () => (float[3] b) { b = Abs(x) }
    >
    true = Constant<value = bool {1}>()
    y = Loop(n, true, chosen) <
        body = turn (int64 i, bool going, float[3] state) => (bool on, float[3] next) {
            on = Identity(going)
            next = Add(state, x)
        }
    >
    parts = SequenceConstruct(x, y)
    back = SequenceAt(parts, n)
}"""


def test_control_flow_sequences_and_holes() -> None:
    model = onnx.parser.parse_model(CONTROL)
    net = page.recorded("onnx")(model)
    x = np.array([1, 2, 3], np.float32)
    capture = RecordedBackend("onnx").run(lambda: net.run({"x": x, "n": np.int64(1)}), network="Net")
    found = {(r.op_type, r.key.slot_name): r.load() for r in capture.records()}
    assert np.array_equal(found["If", "output.0"], -x)
    assert np.array_equal(found["Loop", "output.0"], 0 * x)
    gaps = {problem.path.split("/")[2]: problem.why for problem in capture.problems if problem.kind == "gap"}
    assert gaps == {
        "SequenceConstruct-op0 output.0": "a value of type list, no array",
        "SequenceAt-op0 input.0": "a value of type list, no array",
    }
    inner = {each.type: each.attributes for each in map(described, net.graph.order)}
    assert "Neg" in inner["If"]["then_branch"]
    assert "Add" in inner["Loop"]["body"]


def test_a_kernel_that_fails_leaves_its_inputs_and_the_next_run_goes_on() -> None:
    heard: list[Any] = []

    class Heard(Observer):
        def launch_failed(self, launch: Any, error: BaseException) -> None:
            heard.append((launch.operator.type, [value.array.shape for value in launch.inputs]))

    drawn = network(3)
    net = page.recorded("onnx")(drawn.model())
    net.recording.add(Heard())
    with pytest.raises(Exception):  # noqa: B017 - whichever kernel is first says it in its own words
        net.run({"x": np.ones((2, 3, 5), np.float32)})
    assert len(heard) == 1
    assert net.run({"x": drawn.x})


def test_an_operator_of_a_foreign_domain_is_no_operator_that_the_replayer_runs() -> None:
    replayer = page.module("onnx_replayer").OnnxReplayer()
    assert replayer.facts(described(Operator("NoSuchThing"))) is None
    facts = replayer.facts(described(Operator("Transpose")))
    assert (facts.moves, facts.random) == (True, False)
