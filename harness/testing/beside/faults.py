"""Faults on PyTorch's side of a drawn pair: one thing differs from the other framework."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from harness.testing.beside import modules
from harness.testing.beside.twins import Array, Twin

Random = np.random.Generator


@dataclass(frozen=True)
class Fault:
    """What is wrong.

    Attributes:
        where: regular expression for the origin's name on either side, or for the name of the changed parameter.
        change: changes network, loss and optimizer before they train.
        batches: wrong batches instead of the right ones.
        shape: shape of a slot of the origin, axes in any order; None if the shape tells nothing.
    """

    where: str
    change: Callable[[Any, Any, Any], None] | None = None
    batches: list[list[Array]] | None = None
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Kind:
    """One kind of fault.

    Attributes:
        name: name of the kind.
        make: puts the fault into a pair; gives None if it does not fit.
    """

    name: str
    make: Callable[[Random, Twin], Fault | None]


def _modules(twin: Twin, *kinds: Any) -> list[str]:
    """Paths of the network's modules of some classes."""
    found = modules.BUILD[twin.family](twin.settings).named_modules()
    return [path for path, each in found if isinstance(each, kinds)]


def _parameters(twin: Twin) -> list[tuple[str, tuple[int, ...]]]:
    """Names and shapes of what is trained."""
    found = modules.BUILD[twin.family](twin.settings).named_parameters()
    return [(name, tuple(each.shape)) for name, each in found]


def _pick(random: Random, choices: Sequence[Any]) -> Any:
    return choices[int(random.integers(len(choices)))]


def _place(path: str) -> str:
    """A module's place in names of operators: ``blocks.0.conv1`` is ``blocks-ModuleList/0-Block/conv1-Conv2d``."""
    return "/".join(rf"{name}-\w+" for name in path.split(".")) + "/"


# -- settings ----------------------------------------------------------------------------------------------------------
def _attribute(name: str, value: Callable[[Any], Any], *kinds: Any) -> Callable[[Random, Twin], Fault | None]:
    """Changes a setting of a module."""

    def make(random: Random, twin: Twin) -> Fault | None:
        paths = _modules(twin, *kinds)
        if not paths:
            return None
        path = _pick(random, paths)

        def change(network: Any, _loss: Any, _optimizer: Any) -> None:
            module = network.get_submodule(path)
            setattr(module, name, value(getattr(module, name)))

        return Fault(f"{_place(path)}|{re.escape(path)}[.]", change)

    return make


def _scale(_random: Random, twin: Twin) -> Fault | None:
    def change(network: Any, _loss: Any, _optimizer: Any) -> None:
        network.layers[0].scale *= 1.25

    return Fault(r"layers-\w+/0-Layer/Mul-op|layers-\w+/0-Layer/mul-op", change) if twin.family == "gpt" else None


def _activation(random: Random, twin: Twin) -> Fault | None:
    other = _pick(random, [name for name in modules.ACTIVATIONS if name != twin.settings["act"]])
    paths = [path for path in dict(modules.BUILD[twin.family](twin.settings).named_modules()) if path.endswith("act")]
    path = _pick(random, paths)

    def change(network: Any, _loss: Any, _optimizer: Any) -> None:
        owner, _, name = path.rpartition(".")
        setattr(network.get_submodule(owner), name, modules.ACTIVATIONS[other]())

    return Fault(_place(path), change)


def _reduction(_random: Random, twin: Twin) -> Fault | None:
    def change(_network: Any, loss: Any, _optimizer: Any) -> None:
        loss.reduction = "sum" if loss.reduction == "mean" else "mean"

    return Fault(r"loss", change)


def _smoothing(_random: Random, twin: Twin) -> Fault | None:
    def change(_network: Any, loss: Any, _optimizer: Any) -> None:
        loss.label_smoothing = 0.1

    return Fault(r"loss|softmax", change) if twin.settings["loss"] == "cross" else None


def _group(name: str, value: Callable[[Any], Any], *optimizers: str) -> Callable[[Random, Twin], Fault | None]:
    """Changes a setting of the optimizer."""

    def make(_random: Random, twin: Twin) -> Fault | None:
        def change(_network: Any, _loss: Any, optimizer: Any) -> None:
            for group in optimizer.param_groups:
                group[name] = value(group[name])

        return Fault(r"optimizer-", change) if twin.settings["optimizer"] in optimizers else None

    return make


def _frozen(random: Random, twin: Twin) -> Fault | None:
    """Freezes a parameter."""
    name, shape = _pick(random, _parameters(twin))

    def change(network: Any, _loss: Any, _optimizer: Any) -> None:
        network.get_parameter(name).requires_grad_(False)

    # MindSpore names the gradients of all layers of a kind by one of them.
    return Fault(rf"optimizer-|{_ours(name)}|Gradients/", change, None, shape)


# -- parameters and data -----------------------------------------------------------------------------------------------
def _ours(name: str) -> str:
    """A parameter's name in either framework."""
    stem, _, last = name.rpartition(".")
    return rf"{stem.replace('.', '[.]')}[.]({last}|gamma|beta|embedding_table)"


def _weight(alter: Callable[[Random, Array], Array | None]) -> Callable[[Random, Twin], Fault | None]:
    """Changes the first value of a parameter."""

    def make(random: Random, twin: Twin) -> Fault | None:
        weights = {n: w for n, w in twin.weights().items() if n.rpartition(".")[2].startswith(("weight", "bias"))}
        name = _pick(random, list(weights))
        made = alter(random, weights[name].copy())
        if made is None or np.array_equal(made, weights[name]):
            return None
        values = torch.from_numpy(np.ascontiguousarray(made, np.float32))

        def change(network: Any, _loss: Any, _optimizer: Any) -> None:
            network.get_parameter(name).data.copy_(values)

        return Fault(f"{_ours(name)}|{_place(name.rpartition('.')[0])}", change)

    return make


def _one_element(random: Random, weight: Array) -> Array:
    weight.reshape(-1)[int(random.integers(weight.size))] += 0.5
    return weight


def _data(alter: Callable[[Array], Array]) -> Callable[[Random, Twin], Fault | None]:
    def make(_random: Random, twin: Twin) -> Fault | None:
        if twin.family == "gpt":
            return None
        batches = [[alter(x).astype(x.dtype), *rest] for x, *rest in twin.batches()]
        first = {"mlp": r"dense-\w+/0-", "resnet": r"0-Block/(conv1|down)", "lstm": "lstm-", "vae": "encode-"}
        return Fault(f"inputs0|{first[twin.family]}", None, batches)

    return make


def _label(_random: Random, twin: Twin) -> Fault | None:
    batches = [[*rest, np.ascontiguousarray(y[::-1])] for *rest, y in twin.batches()]
    if any(np.array_equal(one[-1], other[-1]) for one, other in zip(batches, twin.batches(), strict=True)):
        return None
    return Fault(r"loss|inputs", None, batches)


# -- what a module gives -----------------------------------------------------------------------------------------------
def _gives(alter: Callable[[Any], Any]) -> Callable[[Random, Twin], Fault | None]:
    """Changes a module's result, as a wrong kernel would."""

    def make(random: Random, twin: Twin) -> Fault | None:
        paths = _modules(twin, nn.Linear, nn.Conv2d, nn.LayerNorm, nn.BatchNorm2d, nn.ReLU, nn.Tanh, nn.Sigmoid)
        path = _pick(random, paths)

        def change(network: Any, _loss: Any, _optimizer: Any) -> None:
            network.get_submodule(path).register_forward_hook(lambda _module, _given, made: alter(made))

        return Fault(_place(path), change)

    return make


def _gradient(alter: Callable[[Any], Any]) -> Callable[[Random, Twin], Fault | None]:
    """Changes a parameter's gradient before the optimizer reads it."""

    def make(random: Random, twin: Twin) -> Fault | None:
        name, shape = _pick(random, _parameters(twin))

        def change(network: Any, _loss: Any, _optimizer: Any) -> None:
            network.get_parameter(name).register_hook(alter)

        return Fault(rf"Gradients/|optimizer-|{_ours(name)}", change, None, shape)

    return make


def _accumulates(_random: Random, _twin: Twin) -> Fault | None:
    """Leaves out setting gradients to zero between steps."""

    def change(_network: Any, _loss: Any, optimizer: Any) -> None:
        optimizer.zero_grad = lambda: None

    return Fault(r"Gradients/|optimizer-", change)


KINDS: Sequence[Kind] = (
    Kind("epsilon of a normalisation", _attribute("eps", lambda _: 0.1, nn.LayerNorm, nn.BatchNorm1d, nn.BatchNorm2d)),
    Kind("momentum of a normalisation", _attribute("momentum", lambda _: 0.5, nn.BatchNorm1d, nn.BatchNorm2d)),
    Kind("axis of a softmax", _attribute("dim", lambda _: -2, nn.Softmax)),
    Kind("dilation and padding", _attribute("padding_mode", lambda _: "circular", nn.Conv2d)),
    Kind("a bias left out", _attribute("bias", lambda _: None, nn.Linear)),
    Kind("scale of attention", _scale),
    Kind("another activation", _activation),
    Kind("reduction of a loss", _reduction),
    Kind("label smoothing", _smoothing),
    Kind("learning rate", _group("lr", lambda rate: rate / 2, "sgd", "momentum", "adam")),
    Kind("momentum", _group("momentum", lambda _: 0.5, "momentum")),
    Kind("betas", _group("betas", lambda _: (0.8, 0.999), "adam")),
    Kind("weight decay", _group("weight_decay", lambda _: 0.05, "sgd", "momentum", "adam")),
    Kind("a parameter that is not trained", _frozen),
    Kind("weight scaled", _weight(lambda _, w: w * 1.01)),
    Kind("weight of other sign", _weight(lambda _, w: -w)),
    Kind("rows exchanged", _weight(lambda _, w: w[::-1] if w.ndim > 1 else None)),
    Kind("one element", _weight(_one_element)),
    Kind("data scaled", _data(lambda x: x * 1.1)),
    Kind("data in another order", _data(lambda x: x[::-1].copy())),
    Kind("labels in another order", _label),
    Kind("result scaled", _gives(lambda y: y * 1.01)),
    Kind("result of other sign", _gives(lambda y: -y)),
    Kind("result in half precision", _gives(lambda y: y.half().float())),
    Kind("result reversed", _gives(lambda y: y.flip(0))),
    Kind("gradient scaled", _gradient(lambda g: g * 2)),
    Kind("gradient of zero", _gradient(torch.zeros_like)),
    Kind("gradients not set to zero", _accumulates),
)
