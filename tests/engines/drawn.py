"""Networks drawn from a seed, each as an ONNX model and as a function of JAX's, and faults in them.

A network is a list of nodes over tensors of one shape. A fault changes a weight, an attribute, an operator, an edge, or
the order in which two nodes stand that do not need one another.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

SHAPE = (4, 8)
WIDTH = 8
#: numbers of inputs that are results, shapes of weights, and drawn attributes of each type
TYPES: dict[str, tuple[int, tuple[tuple[int, ...], ...], dict[str, tuple[Any, ...]]]] = {
    **{name: (1, (), {}) for name in ("Relu", "Tanh", "Sigmoid", "Neg", "Softplus", "Erf", "Abs")},
    **{name: (2, (), {}) for name in ("Add", "Sub", "Mul", "Max", "Min")},
    "LeakyRelu": (1, (), {"alpha": (0.1, 0.2, 0.5)}),
    "Elu": (1, (), {"alpha": (0.5, 1.0, 2.0)}),
    "Softmax": (1, (), {"axis": (0, 1)}),
    "LogSoftmax": (1, (), {"axis": (0, 1)}),
    "MatMul": (1, ((WIDTH, WIDTH),), {}),
    "Gemm": (1, ((WIDTH, WIDTH), (WIDTH,)), {"alpha": (0.5, 1.0, 1.5), "beta": (0.5, 1.0), "transB": (0, 1)}),
    "LayerNormalization": (1, ((WIDTH,), (WIDTH,)), {"epsilon": (1e-5, 1e-1, 0.5)}),
}
KINDS = ("weight", "attribute", "operator", "edge", "order")


@dataclass(frozen=True)
class Node:
    """One node: its results' inputs are other nodes' names (``x``: the input), its weights parameters' names."""

    name: str
    type: str
    inputs: tuple[str, ...]
    weights: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Network:
    """A drawn network, its weights, its input."""

    nodes: tuple[Node, ...]
    weights: Mapping[str, Any]
    x: Any

    def model(self) -> Any:
        """As an ONNX model; what nobody reads is an output."""
        from onnx import TensorProto, helper, numpy_helper

        read = {name for node in self.nodes for name in node.inputs}
        outputs = [node.name for node in self.nodes if node.name not in read]
        made = [
            helper.make_node(node.type, [*node.inputs, *node.weights], [node.name], node.name, **node.attributes)
            for node in self.nodes
        ]
        graph = helper.make_graph(
            made, "drawn",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE) for name in outputs],
            [numpy_helper.from_array(value, name) for name, value in self.weights.items()],
        )  # fmt: skip
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)

    def function(self) -> Callable[[Any, Mapping[str, Any]], Any]:
        """As a function of JAX's, each node a function of its own name."""
        import jax

        def function(x: Any, weights: Mapping[str, Any]) -> Any:
            values, read = {"x": x}, set()
            for node in self.nodes:
                inside = _computing(node)
                inside.__name__ = node.name
                given = [values[name] for name in node.inputs] + [weights[name] for name in node.weights]
                values[node.name] = jax.jit(inside)(*given)
                read |= {*node.inputs}
            return [values[node.name] for node in self.nodes if node.name not in read]

        return function


def _computing(node: Node) -> Callable[..., Any]:
    import jax
    from jax import numpy as jnp

    attributes = node.attributes

    def gemm(x: Any, weight: Any, bias: Any) -> Any:
        return attributes["alpha"] * (x @ (weight.T if attributes["transB"] else weight)) + attributes["beta"] * bias

    def normal(x: Any, scale: Any, shift: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) / jnp.sqrt(variance + attributes["epsilon"]) * scale + shift

    known: dict[str, Callable[..., Any]] = {
        "Relu": lambda x: jnp.maximum(x, 0), "Tanh": jnp.tanh, "Sigmoid": jax.nn.sigmoid, "Neg": lambda x: -x,
        "Softplus": lambda x: jnp.log1p(jnp.exp(x)), "Erf": jax.lax.erf, "Abs": jnp.abs,
        "Add": lambda x, y: x + y, "Sub": lambda x, y: x - y, "Mul": lambda x, y: x * y, "Max": jnp.maximum,
        "Min": jnp.minimum, "MatMul": lambda x, w: x @ w, "Gemm": gemm, "LayerNormalization": normal,
        "LeakyRelu": lambda x: jnp.where(x > 0, x, attributes["alpha"] * x),
        "Elu": lambda x: jnp.where(x > 0, x, attributes["alpha"] * (jnp.exp(x) - 1)),
        "Softmax": lambda x: jax.nn.softmax(x, attributes["axis"]),
        "LogSoftmax": lambda x: jax.nn.log_softmax(x, attributes["axis"]),
    }  # fmt: skip
    return known[node.type]


def network(seed: int) -> Network:
    """Draws a network of 8 to 14 nodes."""
    draw, values = random.Random(seed), np.random.default_rng(seed)
    nodes: list[Node] = []
    weights: dict[str, Any] = {}
    for at in range(draw.randint(8, 14)):
        kind = draw.choice([*TYPES])
        count, shapes, attributes = TYPES[kind]
        # Mostly what came last, so that networks are deep.
        before = ["x", *(node.name for node in nodes)]
        inputs = [before[-1] if draw.random() < 0.6 else draw.choice(before) for _ in range(count)]
        names = tuple(f"n{at}.w{slot}" for slot in range(len(shapes)))
        for name, shape in zip(names, shapes, strict=True):
            weights[name] = values.standard_normal(shape).astype(np.float32)
        chosen = {name: draw.choice(options) for name, options in attributes.items()}
        nodes.append(Node(f"n{at}", kind, tuple(inputs), names, chosen))
    return Network(tuple(nodes), weights, values.standard_normal(SHAPE).astype(np.float32))


@dataclass(frozen=True)
class Fault:
    """A fault: what it is, the node that computes something else for it (an order's: those two), and what may be said.

    Attributes:
        words: texts of which a true statement of the cause holds one set.
    """

    kind: str
    nodes: tuple[str, ...]
    network: Network
    words: tuple[tuple[str, ...], ...] = ()


def fault(seed: int, kind: str) -> Fault | None:
    """Draws a network and a fault of a kind in it; None if that network has none."""
    draw, base = random.Random(f"{seed} {kind}"), network(seed)
    return _MAKERS[kind](draw, base)


def _changed(base: Network, node: Node, **changes: Any) -> Network:
    made = replace(node, **changes)
    return replace(base, nodes=tuple(made if each is node else each for each in base.nodes))


def _weight(draw: random.Random, base: Network) -> Fault | None:
    if not base.weights:
        return None
    name = draw.choice([*base.weights])
    value = base.weights[name].copy()
    if draw.random() < 0.5:
        value[tuple(draw.randrange(size) for size in value.shape)] += np.float32(0.75)
    else:
        value *= np.float32(1.25)
    node = next(node for node in base.nodes if name in node.weights)
    slot = len(node.inputs) + node.weights.index(name)
    return Fault(
        "weight", (node.name,), replace(base, weights={**base.weights, name: value}), ((name,), (f"input.{slot}",))
    )


def _attribute(draw: random.Random, base: Network) -> Fault | None:
    having = [node for node in base.nodes if node.attributes]
    if not having:
        return None
    node = draw.choice(having)
    name = draw.choice([*node.attributes])
    was = node.attributes[name]
    now = draw.choice([each for each in TYPES[node.type][2][name] if each != was])
    # JAX has a constant, or an attribute of another name, in its place.
    words = ((name,), (f"{was:g} -> {now:g}",), (f"({was}) -> ({now})",))
    if name == "transB":
        words = (("transB",),)
    return Fault("attribute", (node.name,), _changed(base, node, attributes={**node.attributes, name: now}), words)


def _operator(draw: random.Random, base: Network) -> Fault | None:
    node = draw.choice(base.nodes)
    count, shapes, _ = TYPES[node.type]
    others = [kind for kind, (n, s, a) in TYPES.items() if kind != node.type and (n, s) == (count, shapes)]
    if not others:
        return None
    now = draw.choice(others)
    attributes = {name: draw.choice(options) for name, options in TYPES[now][2].items()}
    return Fault("operator", (node.name,), _changed(base, node, type=now, attributes=attributes), ((node.type, now),))


def _edge(draw: random.Random, base: Network) -> Fault | None:
    at = draw.randrange(1, len(base.nodes))
    node = base.nodes[at]
    slot = draw.randrange(len(node.inputs))
    others = [name for name in ("x", *(each.name for each in base.nodes[:at])) if name != node.inputs[slot]]
    inputs = list(node.inputs)
    inputs[slot] = draw.choice(others)
    if node.type in ("Add", "Mul", "Max", "Min") and sorted(inputs) == sorted(node.inputs):
        return None
    words = ((f"input.{slot}",), (node.inputs[slot], inputs[slot]))
    return Fault("edge", (node.name,), _changed(base, node, inputs=tuple(inputs)), words)


def _order(draw: random.Random, base: Network) -> Fault | None:
    free = [at for at in range(len(base.nodes) - 1) if base.nodes[at].name not in base.nodes[at + 1].inputs]
    if not free:
        return None
    at = draw.choice(free)
    nodes = list(base.nodes)
    nodes[at : at + 2] = nodes[at + 1], nodes[at]
    names = nodes[at].name, nodes[at + 1].name
    return Fault("order", names, replace(base, nodes=tuple(nodes)), tuple((f"moved: {name}/",) for name in names))


_MAKERS: dict[str, Callable[[random.Random, Network], Fault | None]] = {
    "weight": _weight, "attribute": _attribute, "operator": _operator, "edge": _edge, "order": _order
}  # fmt: skip
