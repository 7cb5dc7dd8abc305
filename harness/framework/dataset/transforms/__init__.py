"""``mindspore.dataset.transforms``: transforms of values and types, and of transforms."""

from harness.framework import kinds as _kinds
from harness.framework.dataset.transforms.base import Transform
from harness.framework.dataset.transforms.compound import Compose, RandomApply, RandomChoice, RandomOrder, not_random
from harness.framework.dataset.transforms.values import (
    Concatenate,
    Duplicate,
    Fill,
    Mask,
    OneHot,
    PadEnd,
    Relational,
    Slice,
    TypeCast,
    Unique,
)
from harness.framework.names import fallback as _fallback
from harness.framework.outside import keep_outside as _keep_outside
from harness.framework.outside import make_in_python as _make_in_python

__all__ = [
    "Compose", "Concatenate", "Duplicate", "Fill", "Mask", "OneHot", "PadEnd", "RandomApply", "RandomChoice",
    "RandomOrder", "Relational", "Slice", "TypeCast", "Unique", "not_random",
]  # fmt: skip

_members = {_name: globals()[_name] for _name in __all__}
_kinds.guard_all("transforms", _members)
_make_in_python(_members.values())
for _member in _members.values():
    if isinstance(_member, type):
        _keep_outside(_member, ("__call__",))
# What vision's transforms inherit: they look at their pictures first (measured).
_keep_outside(Transform, ("__call__",), first=Transform.refuse_other_than_pictures)
globals().update(_members)
__getattr__ = _fallback(__name__)
