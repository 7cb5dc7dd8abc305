"""Kinds of faults in PyTorch programs, as ``torch_faults`` plants them: those of DeepFD, DEFault++ and TTrace.

A fault in a call says what makes the call wrong; one in a training or a weight, what is changed before the run.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

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


def detached(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    made = function(*args, **kwargs)
    return made.detach() if isinstance(made, torch.Tensor) and made.requires_grad else NotImplemented


def transposed_weight(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) < 2 or args[1].dim() != 2 or args[1].shape[0] != args[1].shape[1]:
        return NotImplemented
    return function(args[0], args[1].t(), *args[2:], **kwargs)


def without_bias(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) > 2 and args[2] is not None:
        return function(*args[:2], None, *args[3:], **kwargs)
    return function(*args, **{**kwargs, "bias": None}) if kwargs.get("bias") is not None else NotImplemented


def in_training(on: bool) -> Wrong:
    """A dropout or a batch norm that is in the other mode."""

    def wrong(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        at = {"dropout": 2, "batch_norm": 5}.get(getattr(function, "__name__", ""), 9)
        given = list(args)
        before = given[at] if len(given) > at else kwargs.get("training", True)
        if bool(before) == on:
            return NotImplemented
        if len(given) > at:
            given[at] = on
            return function(*given, **kwargs)
        return function(*given, **{**kwargs, "training": on})

    return wrong


def other_mask(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    mask = kwargs.get("attn_mask", args[3] if len(args) > 3 else None)
    if mask is None or mask.shape[-1] < 2:
        return NotImplemented
    given = list(args)
    if len(given) > 3:
        given[3] = mask.roll(1, -1)
        return function(*given, **kwargs)
    return function(*given, **{**kwargs, "attn_mask": mask.roll(1, -1)})


_STRUCTURE = ("inserted", "replaced", "removed", "another operator")
MORE_KINDS = (
    Kind("dropout left on", ("dropout",), in_training(True), ("inserted", "replaced", "train")),
    Kind("batch norm left in the other mode", ("batch_norm",), in_training(False), ("training", *_STRUCTURE)),
    Kind("dropout left out", ("dropout",), in_training(False), ("removed", "train", "replaced")),
    Kind("detached", ("linear", "matmul", "layer_norm", "conv2d"), detached, ("removed", "detach", "differs")),
    Kind("transposed weight", ("linear",), transposed_weight,
         (*_STRUCTURE, "transposed", "takes", "permut", "input")),
    Kind("no bias", ("linear", "conv2d"), without_bias, ("bias", *_STRUCTURE, "takes")),
    Kind("wrong mask", ("scaled_dot_product_attention",), other_mask, ("inserted", "rolled", "shifted", "attn")),
    Kind("stride", ("max_pool2d",), argument("ceil_mode", 5, lambda c: not c, False), ("ceil_mode",)),
    Kind("dilation", ("conv2d",), lambda f, a, k: (
        f(*a[:4], 2, 2, *a[6:], **k) if len(a) > 5 and tuple(a[1].shape[2:]) == (3, 3)
        and tuple(a[4]) == tuple(a[5]) == (1, 1) else NotImplemented), ("dilation", "padding")),
    Kind("groups of a norm", ("group_norm",), argument("num_groups", 1, lambda n: n // 2 or 1), ("group",)),
    Kind("negative slope", ("leaky_relu",), argument("negative_slope", 1, lambda n: n * 2, 0.01), ("negative_slope",)),
    Kind("clamped", ("relu6", "hardtanh"), instead(F.relu), ("max_val", *_STRUCTURE)),
    Kind("order of a concatenation", ("cat",), lambda f, a, k: (
        f(list(reversed(a[0])), *a[1:], **k) if len({e.shape for e in a[0]}) == 1 and len(a[0]) > 1
        else NotImplemented), ("takes", "place of", "order", "permut")),
    Kind("diagonal of a mask", ("triu", "tril"), argument("diagonal", 1, lambda d: (d or 0) + 1, 0), ("diagonal",)),
    Kind("filled with another number", ("masked_fill", "masked_fill_", "full"), lambda f, a, k: (
        f(*a[:-1], a[-1] / 2 if abs(a[-1]) < 1e9 else -1.0, **k) if isinstance(a[-1], float) and a[-1]
        else NotImplemented), ("value", "fill_value", "masked_fill", "input")),
    Kind("shifted positions", ("arange",), lambda f, a, k: f(*a, **k) + 1 if not a or a[-1] != 0 else NotImplemented,
         ("inserted",)),
    Kind("sine for cosine", ("cos", "sin"), lambda f, a, k: (torch.sin if f.__name__ == "cos" else torch.cos)(a[0]),
         _STRUCTURE),
    Kind("missing square root", ("rsqrt",), lambda f, a, k: a[0].reciprocal(), _STRUCTURE),
    Kind("doubled residual", ("add", "__add__"), lambda f, a, k: (
        f(a[0], a[1], alpha=2) if f.__name__ == "add" and isinstance(a[1], torch.Tensor) and "alpha" not in k
        else torch.add(a[0], a[1], alpha=2) if isinstance(a[1], torch.Tensor) and a[1].is_floating_point()
        else NotImplemented), ("alpha",)),
)  # fmt: skip

MORE_TRAININGS: dict[str, tuple[Callable[[Any], None], tuple[str, ...]]] = {
    "no weight decay": (_set("weight_decay", 0.0), ("weight_decay ",)),
    "maximize": (_set("maximize", True), ("maximize ",)),
    "beta 2": (_set("betas", (0.9, 0.99)), ("betas ",)),
    "tiny learning rate": (_lr(0.1), ("lr ",)),
    "large eps": (_set("eps", 1e-2), ("eps ",)),
}  # fmt: skip
#: what is wrong with the loop of a training
LOOPS: dict[str, tuple[str, ...]] = {
    "no zero_grad": ("grad", "inserted", "differs", "stale", "takes"),
    "loss summed": ("replaced", "another operator", "removed", "inserted"),
    "clipped": ("inserted",),
    "no step": ("missing", "removed", "iterations", "stale"),
    "order of batches": ("input", "data", "differs", "flipped", "permut", "inserted: Default/flip"),
    "parameter left out": ("does not update",),
    "parameter frozen": ("none reaches",),
    "other seed": ("generator", "seed"),
    "scheduled": ("lr 0.01 -> 0.005",),
}


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
