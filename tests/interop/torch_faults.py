"""Faults of real kinds in models of torchvision and transformers: is each seen, found at its place, told, proven?

A program, run by hand in an environment of its own (torch, torchvision, transformers)::

    python -m tests.interop.torch_faults --seed 7 --count 60

Each fault changes one call of a function of PyTorch's, one weight, or the training of a small random model. The first
place is right if it is the first operator at which both runs part, in the order they ran; causes are held against what
was planted; what is told as proven is applied again by this program, with PyTorch alone.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from harness.capture.torch import TorchCapture
from harness.compare.policy import Party, judge
from harness.explain import Evidence, Subject, explained, settle
from harness.records import Record
from tests.interop.torch_models import MODELS, loss_of

HERE = {"torch": "here"}
Wrong = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


@dataclass(frozen=True)
class Kind:
    """A kind of fault in one call.

    Attributes:
        name: of the kind.
        functions: names of the functions it can be planted in.
        wrong: makes the wrong call; ``NotImplemented`` if it would be the right one.
        words: what the cause has to say, any of these.
    """

    name: str
    functions: tuple[str, ...]
    wrong: Wrong
    words: tuple[str, ...]


def argument(name: str, at: int, change: Callable[[Any], Any], default: Any = None) -> Wrong:
    """A call with another argument."""

    def wrong(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = list(args)
        if len(given) > at:
            given[at] = change(given[at])
            return function(*given, **kwargs)
        return function(*given, **{**kwargs, name: change(kwargs.get(name, default))})

    return wrong


def after(change: Callable[[Any], Any]) -> Wrong:
    """A result that is changed afterwards."""

    def wrong(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        made = function(*args, **kwargs)
        if not isinstance(made, torch.Tensor) or not made.is_floating_point() or made.dim() < 2:
            return NotImplemented
        return change(made)

    return wrong


def instead(other: Callable[..., Any]) -> Wrong:
    """Another function of the same tensors."""

    def wrong(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not all(isinstance(each, torch.Tensor) and each.is_floating_point() for each in args[:1]):
            return NotImplemented
        return other(*args)

    return wrong


def removed(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    made = function(*args, **kwargs)
    fits = isinstance(args[0], torch.Tensor) and args[0].shape == made.shape and args[0].dtype == made.dtype
    return args[0] if fits else NotImplemented


def swapped(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    one, other = args[:2]
    if not isinstance(other, torch.Tensor) or not isinstance(one, torch.Tensor) or one.shape != other.shape:
        return NotImplemented
    return function(other, one, *args[2:], **kwargs)


KINDS = (
    Kind("eps", ("layer_norm",), argument("eps", 4, lambda e: e * 10), ("eps ",)),
    Kind("eps of a batch norm", ("batch_norm",), argument("eps", 7, lambda e: e * 100), ("eps ",)),
    Kind("momentum", ("batch_norm",), argument("momentum", 6, lambda m: m / 10), ("momentum ",)),
    Kind("tanh for erf", ("gelu",), argument("approximate", 9, lambda a: "tanh" if a in (None, "none") else "none"),
         ("approximate",)),
    Kind("causal", ("scaled_dot_product_attention",), argument("is_causal", 9, lambda c: not c),
         ("is_causal", "attn_mask", "inserted", "replaced", "removed")),
    Kind("scale", ("scaled_dot_product_attention",), argument("scale", 9, lambda s: 0.5 if s is None else s * 2),
         ("scale",)),
    Kind("number", ("mul", "__mul__", "add", "__add__", "__rmul__"), lambda f, a, k: (
        f(a[0], a[1] * 2, **k) if len(a) > 1 and isinstance(a[1], float) else NotImplemented), ("'s other", "'s self")),
    Kind("rope base", ("pow", "__pow__", "__rpow__"), lambda f, a, k: (
        f(a[0], a[1] * 1.5, **k) if len(a) > 1 and isinstance(a[1], (int, float)) else NotImplemented),
        ("'s exponent", "'s self")),
    Kind("another axis", ("softmax", "mean", "sum"), lambda f, a, k: (
        f(*a, **{**k, "dim": -2}) if k.get("dim") in (-1, (-1,)) and a[0].dim() > 2 and f is not torch.Tensor.mean
        else NotImplemented), ("dim ",)),
    Kind("half precision", ("linear", "matmul", "conv2d", "layer_norm", "relu", "gelu"),
         after(lambda y: y.bfloat16().float()), ("inserted", "narrower", "rounded")),
    Kind("removed", ("relu", "gelu", "dropout", "layer_norm", "softmax", "mul", "__mul__", "tanh", "silu"), removed,
         ("removed",)),
    Kind("inserted", ("linear", "matmul", "conv2d", "layer_norm"), after(lambda y: y * 1.01), ("inserted",)),
    Kind("flipped", ("linear", "layer_norm", "conv2d"), after(lambda y: y.flip(-1)), ("inserted",)),
    Kind("another activation", ("relu", "gelu", "silu", "tanh"), instead(F.elu), ("replaced", "another operator")),
    Kind("operands swapped", ("sub", "__sub__", "matmul", "__matmul__", "div"), swapped, ("takes", "place of")),
    Kind("subtracted", ("add", "__add__"), lambda f, a, k: (
        torch.sub(*a, **k) if isinstance(a[1], torch.Tensor) and a[1].is_floating_point() else NotImplemented),
        ("replaced", "another operator", "alpha")),
    Kind("transposed", ("transpose", "permute"), lambda f, a, k: (
        f(*a, **k).flip(1) if a[0].dim() > 2 else NotImplemented), ("inserted",)),
    Kind("slice", ("__getitem__",), lambda f, a, k: (
        f(a[0], (*a[1][:-1], slice(1, None))) if isinstance(a[1], tuple) and a[1] and a[1][-1] == slice(0, -1)
        else NotImplemented), ("start", "end")),
)  # fmt: skip


def _lr(factor: float) -> Callable[[Any], None]:
    def change(optimizer: Any) -> None:
        for group in optimizer.param_groups:
            group["lr"] *= factor

    return change


def _set(name: str, value: Any) -> Callable[[Any], None]:
    return lambda optimizer: optimizer.param_groups[0].__setitem__(name, value)


TRAININGS: dict[str, tuple[Callable[[Any], None], tuple[str, ...]]] = {
    "learning rate": (_lr(2.0), ("lr ",)), "small learning rate": (_lr(1.001), ("lr ",)),
    "weight decay": (_set("weight_decay", 0.1), ("weight_decay ",)),
    "betas": (_set("betas", (0.8, 0.999)), ("betas ",)),
    "eps of Adam": (_set("eps", 1e-4), ("eps ",)), "amsgrad": (_set("amsgrad", True), ("amsgrad ",)),
}  # fmt: skip


class Planted(TorchFunctionMode):
    """Makes one call wrong; counts the calls that could be."""

    def __init__(self, kind: Kind, target: int) -> None:
        super().__init__()
        self.kind, self.target, self.seen, self.done = kind, target, 0, False

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.done or getattr(function, "__name__", "") not in self.kind.functions:
            return function(*args, **(kwargs or {}))
        self.seen += 1
        if self.seen - 1 < self.target:
            return function(*args, **(kwargs or {}))
        made = self.kind.wrong(function, args, kwargs or {})
        if made is NotImplemented:
            return function(*args, **(kwargs or {}))
        self.done = True
        return made


def captured(name: str, train: bool, plant: Any = None, weight: Any = None, optimize: Any = None) -> list[Record]:
    """The records of one evaluation or two training steps of a model."""
    from contextlib import nullcontext

    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    model.train(train)
    if weight is not None:
        with torch.no_grad():
            weight(model)
    torch.use_deterministic_algorithms(True, warn_only=True)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2) if train else None
    if optimize is not None:
        optimize(optimizer)
    watch = TorchCapture(model, network=name)
    torch.manual_seed(1)
    for _ in range(2 if train else 1):
        with plant or nullcontext(), watch.step():
            if optimizer is None:
                with torch.no_grad():
                    model(*inputs)
                continue
            optimizer.zero_grad()
            loss_of(model(*inputs)).backward()
            optimizer.step()
    return list(watch.capture().records())


def first_apart(one: list[Record], other: list[Record]) -> set[str]:
    """The operators at which both runs part, in the order they ran."""
    for a, b in zip(one, other, strict=False):
        same = (a.op_type, a.key.io, a.dtype, a.shape, a.digest) == (b.op_type, b.key.io, b.dtype, b.shape, b.digest)
        if not same:
            return {a.key.operator, b.key.operator}
    return set()


def plant(rng: random.Random, name: str) -> Iterator[tuple[str, tuple[str, ...], list[Record], list[Record]]]:
    """Faults in a model: the kind, the words, and both runs."""
    goldens: dict[bool, list[Record]] = {}

    def golden(train: bool) -> list[Record]:
        if train not in goldens:
            # Under a function mode, modules take no other paths than where a fault is planted.
            goldens[train] = captured(name, train, Planted(KINDS[0], 10**9))
        return goldens[train]

    kinds = [*KINDS]
    rng.shuffle(kinds)
    for kind in kinds:
        train = rng.random() < 0.5 and kind.name not in ("momentum",)
        train = train or kind.name == "momentum"
        probe = Planted(kind, 10**9)
        captured(name, train, probe)
        if not probe.seen:
            continue
        mode = Planted(kind, rng.randrange(max(1, probe.seen // (2 if train else 1))))
        try:
            run = captured(name, train, mode)
        except (RuntimeError, TypeError, ValueError, IndexError):
            continue
        if mode.done:
            yield kind.name, kind.words, golden(train), run
    for label, (change, words) in rng.sample(sorted(TRAININGS.items()), 2):
        yield label, words, golden(True), captured(name, True, Planted(KINDS[0], 10**9), optimize=change)
    for label, change in rng.sample(sorted(WEIGHTS.items()), 1):
        yield (
            label,
            ("parameter", "differs", "->", "at ["),
            golden(False),
            captured(name, False, Planted(KINDS[0], 10**9), change(rng)),
        )


def _of_a_weight(change: Callable[[Any, random.Random], None]) -> Callable[[random.Random], Callable[[Any], None]]:
    def made(rng: random.Random) -> Callable[[Any], None]:
        def weight(model: Any) -> None:
            every = [each for each in model.parameters() if each.dim() >= 2]
            change(every[rng.randrange(len(every))], rng)

        return weight

    return made


WEIGHTS = {
    "weight scaled": _of_a_weight(lambda w, _: w.mul_(1.01)),
    "one weight": _of_a_weight(lambda w, rng: w.view(-1)[rng.randrange(w.numel())].add_(0.5)),
    "weight rounded": _of_a_weight(lambda w, _: w.copy_(w.bfloat16().float())),
    "weight flipped": _of_a_weight(lambda w, _: w.copy_(w.flip(0))),
}


def reapplied(cause: Any, origin: Any, one: list[Record], other: list[Record]) -> bool | None:
    """Whether a proven replay, done by PyTorch alone, gives the run's bits; None if it is not one of arguments."""
    check = cause.check
    if check is None or check.transformation != "replay" or not cause.changes or cause.kind != "attribute":
        return None
    where = origin.key[:5]
    golden = {r.key.slot: r for r in one if r.key[:5] == where and r.key.io == "input"}
    names = [each.name.rpartition("'s ")[2] for each in cause.changes]
    found_as = origin.found_as or where[3]
    run = [r for r in other if (*r.key[:3], r.key.operator) == (*where[:3], found_as)]
    tensors = [torch.from_numpy(np.array(r.load())) for r in golden.values() if r.format != "argument"]
    given = [r for r in run if r.format == "argument" and r.extra.named not in (None, "settings")]
    plain = {r.extra.named: r.load().item() for r in given if np.ndim(r.load()) == 0}
    wanted = [r.load() for r in run if r.key.io == "output"]
    packet = getattr(torch.ops.aten, next(iter(golden.values())).op_type, None)
    if packet is None or not set(names) <= set(plain) or len(wanted) != 1:
        return None
    try:
        made = packet(*tensors, **plain)
    except (RuntimeError, TypeError):
        return None
    return bool(isinstance(made, torch.Tensor) and made.numpy().tobytes() == wanted[0].tobytes())


def main() -> int:
    """Draws faults, prints a line for each that is not told as it should be, and the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--models", default="")
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    names = asked.models.split(",") if asked.models else rng.sample(sorted(MODELS), len(MODELS))
    seen: Counter[str] = Counter()
    for name in names:
        for label, words, one, other in plant(rng, name):
            told = explain(one, other)
            truth = first_apart(one, other)
            if not truth:
                continue  # it changed nothing
            seen["faults"] += 1
            if told is None:
                print(f"PASSED  {name}: {label}", flush=True)
                continue
            seen["seen"] += 1
            origin, cause = told.origin, told.cause
            at = {origin.operator, origin.found_as} if origin is not None else set()
            placed = bool(at & truth)
            right = cause is not None and any(word in cause.text for word in words)
            proven = right and cause.certainty.proven
            seen["place"] += placed
            seen["cause"] += right
            seen["proven"] += proven
            if proven and (again := reapplied(cause, origin, one, other)) is not None:
                seen["applied again"] += 1
                seen["false"] += not again
            if not (placed and right and proven):
                text = "no cause" if cause is None else f"{cause.certainty.value}: {cause.text}"
                place = "" if placed else f"; at {sorted(filter(None, at))}, in truth at {sorted(truth)}"
                print(f"{name}: {label}: {text}{place}", flush=True)
            if seen["faults"] >= asked.count:
                break
        if seen["faults"] >= asked.count:
            break
    print(dict(seen))
    return 0


def explain(one: list[Record], other: list[Record]) -> Any:
    """The explanation as the gate gives it; None if the run holds."""
    sides = (
        Party(one, "torch", stored=True, environment=lambda: HERE, repeated=lambda: True),
        Party(other, "torch", stored=True, environment=lambda: HERE),
    )
    judged = judge(*sides, lay=lambda _one, _other: None, settle=settle)
    evidence = Evidence(lambda: one, dict, "torch"), Evidence(lambda: other, dict, "torch")
    return explained(judged, Subject("run", "golden"), *evidence)


if __name__ == "__main__":
    sys.exit(main())
