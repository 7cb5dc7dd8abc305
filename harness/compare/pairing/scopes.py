"""Reads an operator's place in the network from its name, in any notation."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

#: Cells that wrap a network for training or evaluation: MindSpore's names of their classes.
WRAPPERS = frozenset(
    {"WithLossCell", "WithEvalCell", "WithGradCell", "TrainOneStepCell", "TrainOneStepWithLossScaleCell",
     "_WithLossCell", "_OutputTo32", "_OutputTo16", "PipelineCell"}
)  # fmt: skip
_BACKBONE = "_backbone"
#: Endings of parameters' names with the same use in other frameworks.
_SAME_USE = {
    "gamma": "weight", "beta": "bias", "embedding_table": "weight",
    "moving_mean": "running_mean", "moving_variance": "running_var",
}  # fmt: skip
#: msprobe: ``Cell.network._backbone.conv1.Conv2d.forward.0``, ``Module.conv1.Conv2d.backward.1``.
_MODULE = re.compile(r"(?:Cell|Module)\.(.+)\.\w+\.(forward|backward)\.\d+")
#: msprobe: ``Functional.conv2d.0.forward``.
_API = re.compile(r"[A-Za-z]+\.(.+)\.\d+\.(forward|backward)")
_NUMBER = re.compile(r"-op\d+\Z")
#: ``conv1-Conv2d_`` in a name whose slashes became underscores.
_MANGLED = re.compile(r"([^-]+)-(_?[A-Za-z0-9]+)(?:_|\Z)")
_GRADIENT = re.compile(r"(?:\A|_)Grad_\w*\Z")
_FORWARD, _BACKWARD = "Default", "Gradients"
_SEPARATORS = ("/", "--")


class ScopePath(NamedTuple):
    """An operator's place in the network.

    Attributes:
        path: attribute names from the network down, without cells that only wrap it; None if the name says nothing.
        backward: whether it belongs to a gradient.
    """

    path: tuple[str, ...] | None
    backward: bool


def place_of(operator: str, op_type: str) -> ScopePath:
    """Parses an operator's name: MindSpore's (also mangled or short), those of PyTorch captures, msprobe's."""
    if operator.startswith(("Cell.", "Module.")) and (module := _MODULE.fullmatch(operator)) is not None:
        return ScopePath(_without_wrappers([(name, "") for name in module[1].split(".")]), module[2] == "backward")
    if operator.endswith("ward") and (api := _API.fullmatch(operator)) is not None:
        return ScopePath(None, api[2] == "backward")
    for separator in _SEPARATORS:
        scope, found, _ = operator.rpartition(separator)
        if found:
            return _of_scope(scope, separator)
    return _of_mangled(operator, op_type)


def type_of(operator: str) -> str:
    """The type that a full name ends with: ``Conv2D`` of ``Default/conv1-Conv2d/Conv2D-op0``."""
    return _NUMBER.sub("", operator.rpartition("/")[2])


@lru_cache(maxsize=1 << 14)
def _of_scope(scope: str, separator: str) -> ScopePath:
    components = scope.split(separator)
    backward = _BACKWARD in components[:2]
    if "recompute_" in scope:
        backward = backward or any(each.startswith("recompute_") for each in components[:2])
    pairs = []
    for each in components:
        if each != _FORWARD and each != _BACKWARD and not each.startswith("Grad_"):
            name, _, cls = each.rpartition("-")
            pairs.append((name or each, cls))
    return ScopePath(_without_wrappers(pairs), backward)


def _of_mangled(operator: str, op_type: str) -> ScopePath:
    rest = _NUMBER.sub("", operator)
    backward = rest.startswith(_BACKWARD + "_")
    rest = rest.removeprefix(_BACKWARD + "_")
    if not rest.startswith(_FORWARD + "_"):
        return ScopePath(None, backward)
    rest = rest.removeprefix(_FORWARD + "_")
    rest = "" if rest == op_type else rest.removesuffix("_" + op_type)
    rest = _GRADIENT.sub("", rest)
    return ScopePath(_without_wrappers([(match[1], match[2]) for match in _MANGLED.finditer(rest)]), backward)


def _without_wrappers(components: list[tuple[str, str]]) -> tuple[str, ...]:
    """The attribute names of (attribute, class) pairs, without wrappers in front."""
    first = 0
    for at, (name, cls) in enumerate(components):
        if name != _BACKBONE and cls not in WRAPPERS:
            following = components[at + 1][0] if name == "network" and at + 1 < len(components) else ""
            if following not in (_BACKBONE, "_loss_fn"):
                break
        first = at + 1
    return tuple([name for name, _ in components[first:]])


def parameter_name(name: str) -> str:
    """A common name for parameters of the same use: ``conv1.gamma``, ``conv1_gamma`` and ``conv1.weight`` are one."""
    plain = name.replace(".", "_").replace("/", "_").removeprefix("_backbone_")
    for ending, same in _SAME_USE.items():
        if plain == ending or plain.endswith("_" + ending):
            return plain[: len(plain) - len(ending)] + same
    return plain
