"""Where gradients run outside a graph.

In PyNative mode MindSpore differentiates operator by operator, and only functions under ``jit`` make graphs (measured:
nothing else is dumped). Here gradients are added to a graph in both modes; in PyNative mode that graph belongs to a
session without observers and numbers of its own, so that no dump shows it.
"""

from __future__ import annotations

from typing import Any

from harness.framework import context
from harness.framework.runtime.session import Session, current
from harness.framework.tensor import eager_rules


class _Hidden(Session):
    """The session of PyNative mode, whose rules for gradients of cells' own hold in it."""

    def run(self, *args: Any, **kwargs: Any) -> Any:
        with eager_rules():
            return super().run(*args, **kwargs)


_hidden = _Hidden(hooked=False)


def session() -> Session:
    """The session in force in graph mode; the hidden one in PyNative mode."""
    return current() if context.get_context("mode") == context.GRAPH_MODE else _hidden
