"""``Primitive``: an operator with its settings, callable, as ``mindspore.ops.Primitive``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework.ops import random
from harness.framework.tensor import call

__all__: list[str] = []

#: kinds of devices an operator may be set to
_TARGETS = ("CPU", "GPU", "Ascend", "Davinci")


class _Attributes(dict[str, Any]):
    """Attributes of a primitive; those that were added are found and shown, too."""

    def __init__(self, own: dict[str, Any], added: dict[str, Any]) -> None:
        super().__init__(own)
        self._added = added

    def __missing__(self, name: str) -> Any:
        return self._added[name]

    def __repr__(self) -> str:
        return repr({**self, **self._added})


class Primitive:
    """An operator object (``ops.Add()``, ``ops.Conv2D(8, 3)``).

    Subclasses say in ``__init__`` which settings become attributes of the node (``self.attrs``) and which become
    trailing arguments (``self.trailing``), because the real graphs show yaml-described operators' settings as
    arguments and the older primitives' as attributes.

    Attributes:
        op: name in the operator registry; None means the class's own name.
        attrs: attributes of the node, in the order the ``.ir`` prints them.
        trailing: constant arguments added after the call's own.
        marks: flags a user sets on the primitive (``set_dump`` and ``add_prim_attr``); they travel with the node.
        kept: where a random operator stopped to draw, in PyNative mode (``random.keeping``).
        instance_name: the attribute of the cell that holds it; the ``.ir`` prints it.
    """

    op: ClassVar[str | None] = None

    def __init__(self, *, attrs: dict[str, Any] | None = None, trailing: Sequence[Any] = ()) -> None:
        self.marks: dict[str, Any] = {}
        self.attrs: dict[str, Any] = _Attributes(attrs or {}, self.marks)
        self.trailing = tuple(trailing)
        self.instance_name = ""
        self.kept: dict[Any, dict[str, Any]] = {}

    @property
    def name(self) -> str:
        """The operator's name."""
        return self.op or type(self).__name__

    def add_prim_attr(self, name: str, value: Any) -> Primitive:
        """Adds an attribute; returns self."""
        self.marks[name] = value
        return self

    def del_prim_attr(self, name: str) -> Primitive:
        """Takes away an attribute that was added; returns self."""
        self.marks.pop(name, None)
        return self

    def init_prim_io_names(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Names the inputs and outputs, as ``input_names`` and ``output_names`` say afterwards."""
        self.input_names, self.output_names = inputs, outputs

    def set_prim_instance_name(self, name: str) -> Primitive:
        """Sets ``instance_name``; returns self."""
        self.instance_name = name
        return self

    def set_device(self, device_target: str) -> Primitive:
        """Sets ``primitive_target``, the kind of device; returns self."""
        if device_target not in _TARGETS:
            raise RuntimeError(f"{self.name}: the device must be one of {', '.join(_TARGETS)}, got {device_target!r}")
        self.primitive_target = device_target
        return self.add_prim_attr("primitive_target", device_target)

    def recompute(self, mode: bool = True) -> Primitive:
        """Refused: ``UnsupportedError``."""
        raise UnsupportedError(f"{self.name}.recompute is not supported: it rewrites the graph of gradients")

    def set_stage(self, stage: int) -> Primitive:
        """Adds the attribute ``stage`` (of a pipeline), which changes nothing in one process; returns self."""
        return self.add_prim_attr("stage", stage)

    def place(self, role: str, rank_id: int) -> None:
        """Places the operator in a process of a group: there is one here.

        Raises:
            SettingError: another role than ``MS_WORKER``, or a rank below 0.
            SettingTypeError: a rank that is no int.
        """
        if role != "MS_WORKER":
            raise SettingError(f"{self.name}.place: role must be 'MS_WORKER', got {role!r}")
        if isinstance(rank_id, bool) or not isinstance(rank_id, int):
            raise SettingTypeError(f"{self.name}.place: rank_id must be an int, got {rank_id!r}")
        if rank_id < 0:
            raise SettingError(f"{self.name}.place: rank_id must be at least 0, got {rank_id}")

    def __call__(self, *args: Any) -> Any:
        if self.name in random.CONTINUING:
            with random.keeping(self.kept):
                return call(self.name, *args, *self.trailing, **{**self.attrs, **self.marks})
        return call(self.name, *args, *self.trailing, **{**self.attrs, **self.marks})

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in {**self.attrs, **self.marks}.items())
        return f"Prim[{self.name}]<{shown}>" if shown else f"Prim[{self.name}]"


def plain(*names: str) -> dict[str, type[Primitive]]:
    """Primitive classes without settings, one for each operator name."""

    def init(self: Primitive) -> None:
        Primitive.__init__(self)

    return {
        name: type(name, (Primitive,), {"__init__": init, "__doc__": f"Primitive ``{name}``.", "__module__": __name__})
        for name in names
    }


def slot_names(output: str, *inputs: str) -> dict[str, Any]:
    return {"output_names": [output], "input_names": list(inputs)}
