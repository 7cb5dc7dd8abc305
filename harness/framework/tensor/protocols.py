"""What a tensor is to Python: ``in``, ``round``, and attributes that say nothing new here."""

from __future__ import annotations

from typing import Any

from harness.framework import frames
from harness.framework.tensor.dispatch import is_tracing

_OURS = __name__.partition(".")[0] + "."


class Protocols:
    """Mixed into ``Tensor``."""

    init: Any
    shape: Any
    #: made by a user's function that is traced
    in_graph = False

    def _note_maker(self) -> None:
        """Notes who makes the tensor: called by its ``__init__``."""
        if is_tracing():
            self.in_graph = not (frames.module_of(frames.caller(1)) or "").startswith(_OURS)

    def dim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def data(self) -> Any:
        """The tensor itself."""
        return self

    @property
    def has_init(self) -> bool:
        """Whether an initializer is still to fill it."""
        return self.init is not None

    def __contains__(self, value: Any) -> bool:
        """Whether an element (or, beside a tensor, what broadcasts) equals ``value``."""
        found: Any = self == value
        return found if isinstance(found, bool) else bool(found.asnumpy().any())

    def __round__(self) -> Any:
        return self.round()  # type: ignore[attr-defined]
