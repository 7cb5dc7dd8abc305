"""``Primitive``: an operator with its settings, callable, as ``mindspore.ops.Primitive``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from harness.framework.ops import random
from harness.framework.tensor import call


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
        self.attrs: dict[str, Any] = dict(attrs or {})
        self.trailing = tuple(trailing)
        self.marks: dict[str, Any] = {}
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

    def __call__(self, *args: Any) -> Any:
        if self.name in random.CONTINUING:
            with random.keeping(self.kept):
                return call(self.name, *args, *self.trailing, **self.attrs, **self.marks)
        return call(self.name, *args, *self.trailing, **self.attrs, **self.marks)

    def __repr__(self) -> str:
        return f"Prim[{self.name}]<{', '.join(f'{k}={v}' for k, v in self.attrs.items())}>"


def plain(*names: str) -> dict[str, type[Primitive]]:
    """Primitive classes without settings, one for each operator name."""

    def init(self: Primitive) -> None:
        Primitive.__init__(self)

    return {
        name: type(name, (Primitive,), {"__init__": init, "__doc__": f"Primitive ``{name}``.", "__module__": __name__})
        for name in names
    }
