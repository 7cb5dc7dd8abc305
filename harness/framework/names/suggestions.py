"""Alternatives for an unsupported name: the same name in another module, or another name for the same thing."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

#: modules to search for the same name, best first
_OTHER_MODULES = ("ops", "nn", "", "train", "dataset", "dataset.vision", "dataset.transforms", "mint", "numpy", "amp")

#: advice to the user, if no name helps
_REASONS = {
    "export": "it writes a model for another program to run; save_checkpoint keeps the weights",
    "load": "it reads a MINDIR model; load_checkpoint reads weights",
    "load_distributed_checkpoint": "a run here is one process; load_checkpoint reads its weights",
    "einsum": "write it with ops.matmul, ops.transpose, ops.mul and ops.sum",
    "Custom": "an operator of your own: subclass harness.framework.ops.Operator, or write it with operators",
    "CustomBase": "an operator of your own: subclass harness.framework.ops.Operator, or write it with operators",
    "CustomRegOp": "an operator of your own: subclass harness.framework.ops.Operator, or write it with operators",
    "set_ps_context": "a run here is one process, without parameter servers",
    "run_check": "there is no installed MindSpore that it could check",
    "shard": "a run here is one process",
    "Send": "a run here is one process",
    "Receive": "a run here is one process",
    "lazy_inline": "each cell is traced where it is called; leave the decorator out",
}
#: other names that do nearly the same
_KIN = {
    "dense": ("Dense",), "linear": ("Dense",), "Linear": ("Dense",), "SyncBatchNorm": ("BatchNorm2d",),
    "thor": ("Momentum",), "LARS": ("Momentum",), "FTRL": ("SGD",), "LazyAdam": ("Adam",), "AdaFactor": ("Adam",),
    "DynamicRNN": ("LSTM",), "DynamicGRUV2": ("GRU",),
}  # fmt: skip


@functools.cache
def _plain(name: str) -> str:
    """A name without capitals, underscores, and the endings that tell releases and places apart."""
    small = name.replace("_", "").lower()
    for ending in ("ext", "v2", "v3", "op"):
        small = small.removesuffix(ending)
    return small


def suggested_names(
    module: str, name: str, supported: Callable[[str, str], bool], members: Callable[[str], Iterable[str]]
) -> str:
    """Supported names with the same effect as ``name``, in the form scripts use; empty if none is known.

    Args:
        module: module the name was asked of, without ``mindspore.``.
        name: the name.
        supported: whether a name of a module works here.
        members: the names of a module.
    """
    wanted = {_plain(name), *(_plain(kin) for kin in _KIN.get(name, ()))}
    places = dict.fromkeys((module, *_OTHER_MODULES))
    kin = ((place, other) for place in places for other in _public(members, place) if _plain(other) in wanted)
    found = [_shown(*each) for each in kin if each != (module, name) and supported(*each)]
    if not found:
        others = (other for other in _public(members, module) if other != name and _alike(name, other))
        found = [_shown(module, other) for other in others if supported(module, other)]
    return ", ".join(found[:3])


@functools.cache
def _public(members: Callable[[str], Iterable[str]], module: str) -> tuple[str, ...]:
    """The names of a module that do not begin with an underscore."""
    return tuple(name for name in members(module) if not name.startswith("_"))


def _shown(place: str, name: str) -> str:
    return f"{place or 'mindspore'}.{name}"


def _alike(name: str, other: str) -> bool:
    """Whether two names differ in a letter or a number of dimensions only (``Conv3d`` and ``Conv2d``)."""
    if name[:1].islower() != other[:1].islower() or abs(len(name) - len(other)) > 2:
        return False
    import difflib

    match = difflib.SequenceMatcher(None, _plain(name), _plain(other))
    return match.real_quick_ratio() >= 0.8 and match.quick_ratio() >= 0.8 and match.ratio() >= 0.8


def reason(module: str, name: str) -> str:
    """Advice on what to do instead of ``name``; empty if there is none."""
    return _REASONS.get(name, "")
