"""Primitives that change rows of a parameter."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingTypeError
from harness.framework.ops.primitive import Primitive

__all__ = [
    "IndexAdd", "ScatterAdd", "ScatterDiv", "ScatterMax", "ScatterMin", "ScatterMul", "ScatterNdAdd", "ScatterNdDiv",
    "ScatterNdMax", "ScatterNdMin", "ScatterNdMul", "ScatterNdSub", "ScatterNdUpdate", "ScatterSub", "ScatterUpdate",
]  # fmt: skip


def _scatter(name: str, first: str, last: str, locking: bool) -> Any:
    def init(self: Primitive, use_locking: bool = locking) -> None:
        if not isinstance(use_locking, bool):
            raise SettingTypeError(f"{name}: use_locking must be a bool, got {use_locking!r}")
        names = {"output_names": ["y"], "side_effect_mem": True, "input_names": [first, "indices", last]}
        Primitive.__init__(self, attrs={**names, "use_locking": use_locking})

    return type(name, (Primitive,), {"__init__": init, "__doc__": f"Primitive ``{name}``.", "__module__": __name__})


ScatterUpdate = _scatter("ScatterUpdate", "x", "updates", True)
ScatterAdd = _scatter("ScatterAdd", "x", "updates", False)
ScatterSub = _scatter("ScatterSub", "input_x", "updates", False)
ScatterMul = _scatter("ScatterMul", "x", "updates", False)
ScatterDiv = _scatter("ScatterDiv", "x", "updates", False)
ScatterMax = _scatter("ScatterMax", "x", "updates", False)
ScatterMin = _scatter("ScatterMin", "x", "updates", False)
ScatterNdUpdate = _scatter("ScatterNdUpdate", "input_x", "value", True)
ScatterNdAdd = _scatter("ScatterNdAdd", "x", "updates", False)
ScatterNdDiv = _scatter("ScatterNdDiv", "x", "updates", False)
ScatterNdMax = _scatter("ScatterNdMax", "x", "updates", False)
ScatterNdMin = _scatter("ScatterNdMin", "x", "updates", False)
ScatterNdMul = _scatter("ScatterNdMul", "x", "updates", False)
ScatterNdSub = _scatter("ScatterNdSub", "x", "updates", False)


class IndexAdd(Primitive):
    """Slices of a parameter along an axis, added to."""

    def __init__(self, axis: int, use_lock: bool = True, check_index_bound: bool = True) -> None:
        if isinstance(axis, bool) or not isinstance(axis, int):
            raise SettingTypeError(f"IndexAdd: axis must be an int, got {axis!r}")
        super().__init__(attrs={
            "side_effect_mem": True, "check_index_bound": check_index_bound,
            "input_names": ["input_x", "indices", "input_y"], "axis": axis, "output_names": ["output"],
            "use_lock": use_lock,
        })  # fmt: skip
