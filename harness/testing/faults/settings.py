"""Faults in a network's description: a setting, a layer, a parameter or the data differs; graphs may show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from harness.graph.ir_parse import parse
from harness.testing.faults.cells import ACTIVATIONS
from harness.testing.faults.networks import Network, filled

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator

OPTIMIZERS = r"(ApplyMomentum|SGD|Adam|AdamWeightDecay|FusedAdam\w*|FusedWeightScaleApplyMomentum|Mul|Assign\w*)-op"
_NORMS = r"(BatchNorm|BatchNormGrad)-op"
_LOSSES = r"(_loss_fn|MSELoss|L1Loss|SmoothL1|CrossEntropy|BCE|NLL|Loss)"


@dataclass(frozen=True)
class Truth:
    """What a correct explanation must say.

    Attributes:
        operator: regular expression of the origin's name (of either side).
        says: one of these words is in the cause; none of them: any cause that names a kind of ``kinds``.
        kinds: kinds of right causes.
        structural: the graph is another one; ``kinds`` are then those of a change that leaves the types of operators.
        setting: a cause that names a change of the setting of that name is right, too, whatever follows from it.
    """

    operator: str
    says: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    structural: bool = False
    setting: str = ""

    def settled(self, expected: Mapping[str, bytes], found: Mapping[str, bytes]) -> Truth:
        """The truth with the one correct kind for a change of the graph, from the operator types of both graphs.

        Args:
            expected, found: texts of both runs.
        """
        if not self.structural:
            return self
        kind = _changed_types(expected, found, False)
        if kind:
            return replace(self, kinds=frozenset({kind}))
        gradients = _changed_types(expected, found, True)
        return replace(self, kinds=self.kinds | {gradients}) if gradients else self


@dataclass(frozen=True)
class SettingKind:
    """One kind of change to a description.

    Attributes:
        name: name of the kind.
        change: gives the changed network and the truth about it; None if it does not fit.
    """

    name: str
    change: Callable[[Random, Network], tuple[Network, Truth] | None]


def _changed_types(expected: Mapping[str, bytes], found: Mapping[str, bytes], gradients: bool) -> str:
    """``replaced``, ``removed`` or ``inserted``, by how many operators of each type both graphs have; or nothing."""
    before, after = (_types(each, gradients) for each in (expected, found))
    gone, new = before - after, after - before
    return "replaced" if gone and new else "removed" if gone else "inserted" if new else ""


def _types(texts: Mapping[str, bytes], gradients: bool) -> Counter[str]:
    """How many operators of each type the graphs have, in the gradients or before them."""
    graphs = [parse(text.decode(), name) for name, text in texts.items() if name.endswith(".ir")]
    nodes = (node for graph in graphs for node in graph.nodes if node.kernel)
    return Counter(node.op for node in nodes if node.name.startswith("Gradients/") is gradients)


_GIVEN = frozenset({"attribute", "constant", "parameter", "data"})
_VALUES = frozenset({"attribute", "constant"})


def _set(name: str, value: Any, operator: str, *says: str, when: Callable[[Mapping[str, Any]], bool] | None = None,
         kinds: frozenset[str] = _GIVEN, structural: bool = False) -> SettingKind:  # fmt: skip
    """Sets one setting to ``value`` (or to a function of the old value)."""

    def change(_random: Random, network: Network) -> tuple[Network, Truth] | None:
        s = network.settings
        if name not in s or (when is not None and not when(s)):
            return None
        new = value(s[name]) if callable(value) else value
        truth = Truth(operator, says, kinds, structural, name)
        return None if new == s[name] else (network.having(**{name: new}), truth)

    return SettingKind(name, change)


def _adam(s: Mapping[str, Any]) -> bool:
    return s["optimizer"] in ("adam", "adamw")


def _blocks(s: Mapping[str, Any]) -> bool:
    return "vocabulary" not in s and s["norm"]


def _replaced(network: Network, truth: Truth, **settings: Any) -> tuple[Network, Truth]:
    return network.having(**settings), replace(truth, kinds=frozenset({"replaced"}), structural=not truth.kinds)


def _activation(random: Random, network: Network) -> tuple[Network, Truth] | None:
    now = network.settings["act"]
    other = str(random.choice([name for name in ACTIVATIONS if name not in (now, "none")]))
    return _replaced(network, Truth(r"/act-"), act=other)


def _loss(random: Random, network: Network) -> tuple[Network, Truth] | None:
    now = network.settings["loss"]
    group = (
        ("mse", "l1", "smooth")
        if now in ("mse", "l1", "smooth")
        else ("cross", "sparse")
        if now in ("cross", "sparse")
        else ()
    )
    others = [name for name in group if name != now]
    if not others:
        return None
    return _replaced(network, Truth(_LOSSES), loss=str(random.choice(others)))


def _optimizer(random: Random, network: Network) -> tuple[Network, Truth] | None:
    other = {"momentum": "sgd", "sgd": "momentum", "adam": "adamw", "adamw": "adam"}[network.settings["optimizer"]]
    return _replaced(network, Truth(r"(optimizer|Momentum|SGD|Adam)"), optimizer=other)


def _order(random: Random, network: Network) -> tuple[Network, Truth] | None:
    """Two neighbouring steps behind a layer exchanged."""
    s = network.settings
    if "order" not in s or network.family != "mlp":
        return None
    there = [each for each in s["order"] if each == "act" or s[each]]
    if len(there) < 2:
        return None
    at = int(random.integers(len(there) - 1))
    there[at : at + 2] = there[at + 1], there[at]
    truth = Truth(r"(BatchNorm|Dropout|/act-)", (), frozenset({"moved"}), True, "order")
    return network.having(order=tuple(there)), truth


def _frozen(random: Random, network: Network) -> tuple[Network, Truth] | None:
    """A parameter that is not trained."""
    name = str(random.choice(list(network.parameters())))
    truth = Truth(r"(optimizer-|Gradients/)", (), frozenset({"removed"}), True, "frozen")
    return network.having(frozen=name), truth


def _reseeded(random: Random, network: Network) -> tuple[Network, Truth] | None:
    """Every weight drawn again."""
    seed, shapes = int(random.integers(1 << 30)), network.parameters()

    def drawn(name: str) -> Callable[[Array], Array]:
        return lambda _: filled(seed, name, shapes[name])

    truth = Truth("", tuple(shapes), frozenset({"parameter"}))
    return replace(network, weights={name: drawn(name) for name in shapes}), truth


# -- parameters and data -----------------------------------------------------------------------------------------------
def _weight(name: str, alter: Callable[[Random, Array], Array | None]) -> SettingKind:
    def change(random: Random, network: Network) -> tuple[Network, Truth] | None:
        names = list(network.parameters())
        chosen = str(random.choice(names))
        shape = network.parameters()[chosen]
        seed = int(random.integers(1 << 30))

        def changed(values: Array) -> Array:
            made = alter(np.random.default_rng(seed), values.astype(np.float32))
            return values if made is None else made

        probe = filled(network.seed, chosen, shape).astype(np.float32)
        if np.array_equal(changed(probe).astype(np.float32), probe):
            return None
        return replace(network, weights={chosen: changed}), Truth("", (chosen,), frozenset({"parameter"}))

    return SettingKind(name, change)


def _swap(random: Random, network: Network) -> tuple[Network, Truth] | None:
    shapes = network.parameters()
    pairs = [(a, b) for a in shapes for b in shapes if a < b and shapes[a] == shapes[b] and len(shapes[a]) > 1]
    if not pairs:
        return None
    a, b = pairs[int(random.integers(len(pairs)))]
    seed = network.seed
    weights = {a: lambda _: filled(seed, b, shapes[b]), b: lambda _: filled(seed, a, shapes[a])}
    return replace(network, weights=weights), Truth("", (a, b), frozenset({"parameter"}))


def _rows(_random: Random, w: Array) -> Array | None:
    return w[[2, 0, 1, *range(3, len(w))]] if w.ndim and len(w) > 3 else None


def _element(random: Random, w: Array) -> Array:
    made = w.copy()
    made.reshape(-1)[int(random.integers(w.size))] += 1
    return made


def _data(name: str, alter: Callable[[list[Array]], list[Array]]) -> SettingKind:
    def change(_random: Random, network: Network) -> tuple[Network, Truth] | None:
        return replace(network, data=alter), Truth("", ("input", "data", "label"), frozenset({"data"}))

    return SettingKind(name, change)


def _first(alter: Callable[[Array], Array]) -> Callable[[list[Array]], list[Array]]:
    return lambda batch: [alter(batch[0]).astype(batch[0].dtype), *batch[1:]]


SETTINGS: Sequence[SettingKind] = (
    _set("rate", lambda rate: rate / 2, OPTIMIZERS, "learning_rate"),
    _set("momentum", 0.5, OPTIMIZERS, "momentum", when=lambda s: s["optimizer"] in ("momentum", "sgd")),
    _set("beta1", 0.8, OPTIMIZERS, "beta1", "0.9 -> 0.8", when=_adam),
    _set("beta2", 0.9, OPTIMIZERS, "beta2", "0.999 -> 0.9", when=_adam),
    _set("eps", 1e-2, OPTIMIZERS, "epsilon", when=_adam),
    _set("decay", 0.5, OPTIMIZERS, "weight_decay", when=lambda s: s["optimizer"] == "adamw"),
    _set("bn_eps", 1e-2, _NORMS, "epsilon", when=_blocks),
    _set("ln_eps", 1e-2, r"LayerNorm-op", "epsilon"),
    _set("axis", -2, r"Softmax-op", "axis"),
    _set("scale", lambda old: old * 1.25, r"Mul-op", "->"),
    _set("mean_axis", 2, r"ReduceMean-op", "axis", when=lambda s: s["width"] == s["length"]),
    _set("at", 0, r"(StridedSlice|Slice|Select|Gather)\w*-op", "begin", "->"),
    _set("drop", lambda p: 0.4 if p else p, r"Dropout-op", "keep_prob", when=lambda s: bool(s["drop"])),
    _set("sens", 2.0, r"^(Gradients|Expand)/", structural=True),
    _set(
        "pool",
        lambda p: "avg" if p == "max" else "max",
        r"(MaxPool|AvgPool)-op",
        kinds=_VALUES,
        structural=True,
        when=lambda s: "loss" in s,
    ),
    _set(
        "reduction",
        lambda r: "sum" if r == "mean" else "mean",
        r"(Reduce|Loss|CrossEntropy|NLL|BCE|Mul|Div)",
        kinds=_VALUES,
        structural=True,
    ),
    _set("skip", False, r"(Add|Dense|Mean|LayerNorm|Conv)", kinds=_VALUES, structural=True),
    _set("bias", False, r"BiasAdd", kinds=_VALUES, structural=True),
    _set("norm", lambda n: not n, r"(BatchNorm)", kinds=_VALUES, structural=True, when=lambda s: "vocabulary" not in s),
    _set(
        "norm_first",
        False,
        r"(BatchNorm|ReLU|Tanh|Sigmoid|GeLU|Elu|act)",
        kinds=frozenset({"moved"}),
        structural=True,
        when=_blocks,
    ),
    _set("extra", "scale", r"(Mul)-op", kinds=_VALUES, structural=True),
    _set("extra", "clip", r"(Clamp|Clip|Maximum|Minimum)", kinds=_VALUES, structural=True),
    _set("extra", "detach", r"^(Gradients|Expand)/", structural=True, kinds=frozenset({"removed"})),
    _set("masked", lambda m: not m, r"(Add)-op", kinds=_VALUES, structural=True),
    _set("swapped", True, r"(Concat)-op", kinds=frozenset({"rewired"}), structural=True),
    _set("half", False, r"Cast-op", kinds=_VALUES, structural=True),
    _set(
        "label_smoothing",
        0.1,
        _LOSSES + "|^Expand/",
        kinds=_VALUES,
        structural=True,
        when=lambda s: s["loss"] == "cross",
    ),
    _set("act", "none", r"/act-", structural=True, when=lambda s: s["act"] != "none"),
    _set(
        "end",
        "softmax",
        r"(Softmax)-op",
        kinds=_VALUES,
        structural=True,
        when=lambda s: s["loss"] in ("cross", "sparse"),
    ),
    _set("pooled", "max", r"(ReduceM)\w*-op", kinds=_VALUES, structural=True),
    _set("post", True, r"(LayerNorm)-op", kinds=frozenset({"moved"})),
    _set("tied", lambda t: not t, r"(Dense|MatMul)", kinds=frozenset({"replaced", "inserted", "removed", "rewired"})),
    _set("mask_from", 2, r"Add-op", "->", "differs", when=lambda s: s.get("masked", False)),
    _set("at", -2, r"(StridedSlice|Slice|Select|Gather)\w*-op", "begin", "->"),
    _set("drop", 0.0, r"Dropout", kinds=_VALUES, structural=True, when=lambda s: s["drop"]),
    _set("nesterov", True, OPTIMIZERS, "use_nesterov", when=lambda s: s["optimizer"] == "momentum"),
    _set("last_rate", 0.5, OPTIMIZERS, "learning_rate", "weight_decay", kinds=_GIVEN | {"rewired"}),
    _set("depth", lambda d: d + 1, r"(layers|blocks|Dense|Block)", kinds=_VALUES, structural=True),
    _set("kernel", 5, r"Conv2D-op", "kernel_size", "shape"),
    _set("width", lambda w: w + 2, r"-op", "shape", when=lambda s: "vocabulary" not in s),
    _set("batch", lambda n: n + 1, r"-op", "shape"),
    SettingKind("order", _order),
    SettingKind("frozen", _frozen),
    SettingKind("another seed", _reseeded),
    SettingKind("activation", _activation),
    SettingKind("loss", _loss),
    SettingKind("optimizer", _optimizer),
    _weight("weight drawn again", lambda random, w: np.asarray(random.normal(size=w.shape), np.float32)),
    _weight("weight times two", lambda _, w: w * 2),
    _weight("weight of other sign", lambda _, w: -w),
    _weight("weight of zeros", lambda _, w: np.zeros_like(w)),
    _weight("weight with rows exchanged", _rows),
    _weight("weight transposed", lambda _, w: w.T.reshape(w.shape) if w.ndim == 2 else None),
    _weight("weight in bfloat16", lambda _, w: w.astype(ml_dtypes.bfloat16).astype(np.float32)),
    _weight("one element of a weight", _element),
    SettingKind("weights exchanged", _swap),
    _data("data times two", _first(lambda x: x * 2 if x.dtype.kind == "f" else np.flip(x, 0))),
    _data("rows of data exchanged", _first(lambda x: np.roll(x, 1, 0))),
    _data("data shifted", _first(lambda x: np.roll(x, 1, -1))),
    _data("labels of other rows", lambda batch: [batch[0], np.roll(batch[1], 1, 0)]),
)
