"""Parameter groups of an optimizer: dicts that give some parameters their own rate or weight decay."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harness.errors import CellNameError, SettingError, SettingTypeError
from harness.framework.tensor import Parameter

_KEYS = ("params", "lr", "weight_decay", "grad_centralization", "order_params")


@dataclass(frozen=True, slots=True)
class Member:
    """One parameter with the settings of its group.

    Attributes:
        group: number of the group among all dicts.
        rate, weight_decay: as given; None if the group does not set it.
        centralize: whether the group asks for gradient centralization.
    """

    parameter: Parameter
    group: int = 0
    rate: Any = None
    weight_decay: Any = None
    centralize: bool = False


def read_groups(groups: list[dict[str, Any]], owner: str) -> list[Member]:
    """The members of all groups, in the order of ``order_params`` where given.

    Raises ``CellNameError`` for an unknown key, ``SettingError`` for a parameter given twice or an order that does not
    name the same parameters, ``SettingTypeError`` for members that are not Parameters.
    """
    members: list[Member] = []
    order: list[Parameter] | None = None
    for number, group in enumerate(groups):
        unknown = [key for key in group if key not in _KEYS]
        if unknown:
            raise CellNameError(f"{owner}: a parameter group has the keys {list(_KEYS)}, got {unknown}")
        if "order_params" in group:
            if len(group) > 1:
                raise SettingError(f"{owner}: a group with order_params has no other key, got {sorted(group)}")
            order = list(group["order_params"])
        else:
            members += _members(number, group, owner)
    names = [member.parameter.name for member in members]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SettingError(f"{owner}: parameters {twice} are in more than one group")
    return members if order is None else _ordered(members, order, owner)


def _members(number: int, group: dict[str, Any], owner: str) -> list[Member]:
    given = group.get("params", ())
    if not isinstance(given, Iterable):
        raise SettingTypeError(
            f"For 'Optimizer', the argument group `params` must be Iterable type, but got {type(given)}."
        )
    params = list(given)
    if not params:
        raise SettingError(f"For 'Optimizer', the argument group `params` must not be empty. ({owner}: group {number})")
    for param in params:
        if not isinstance(param, Parameter):
            raise SettingTypeError(f"{owner}: group {number} holds a {type(param).__name__}; it takes Parameters")
    centralize = group.get("grad_centralization", False)
    if not isinstance(centralize, bool):
        raise SettingTypeError(f"{owner}: grad_centralization must be a bool, got {centralize!r}")
    return [Member(param, number, group.get("lr"), group.get("weight_decay"), centralize) for param in params]


def _ordered(members: list[Member], order: list[Parameter], owner: str) -> list[Member]:
    by_name = {member.parameter.name: member for member in members}
    wanted = [param.name for param in order]
    if sorted(wanted) != sorted(by_name):
        raise SettingError(
            f"{owner}: order_params must name the parameters of all groups, each once; given {wanted}, "
            f"groups hold {sorted(by_name)}"
        )
    return [by_name[name] for name in wanted]
