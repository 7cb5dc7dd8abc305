"""The session for gradients outside a graph.

In PyNative mode MindSpore differentiates operator by operator, and only functions under ``jit`` make graphs (measured:
nothing else is dumped). Here gradients are added to a graph in both modes; in PyNative mode that graph belongs to a
session without observers and numbers of its own, so that no dump shows it. There the function runs at every call, as in
Python: what it prints, counts and decides belongs to this call. Only the compiled program is kept, as long as the next
call describes the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.devices import Kernels
from harness.framework import context
from harness.framework.compile.program import compile_trace, data_inputs, trace_function
from harness.framework.compile.signature import signature
from harness.framework.nn.watching import gradient_of
from harness.framework.ops.random import alone
from harness.framework.runtime.execute import Executor
from harness.framework.runtime.session import Session, current
from harness.framework.tensor import eager_rules, mutable


class _Hidden(Session):
    """The session of PyNative mode; that mode's rules for a cell's own gradient hold in it."""

    def __init__(self) -> None:
        super().__init__(hooked=False)
        #: the signature that each program was compiled from, and the objects that keep its key alive
        self._written: dict[Any, tuple[Any, Any]] = {}

    def run(
        self,
        key: Any,
        function: Callable[..., Any],
        values: Sequence[Any],
        names: Sequence[str],
        keep: Any = None,
        dynamic: Sequence[Any] = (),
        runs: bool = True,
    ) -> Any:
        """Traces ``function`` and runs it; see ``Session.run``. No graph holds constants here."""
        values = [mutable(value) for value in values]
        with eager_rules(), alone(), gradient_of(function) as (watched, told):
            trace = trace_function(watched, values, names)
            written = signature(trace)
            known = self.programs.get(key)
            if known is None or written is None or self._written[key][0] != written:
                known = self._compiled(trace)
                self.programs[key], self._written[key] = known, (written, keep)
            return known if not runs else told(known.run([t.asnumpy() for t in data_inputs(values)]))

    def _compiled(self, trace: Any) -> Executor:
        device = self.configured_device()
        # Each operator gives its result in its own dtype, as operators called one by one do: in a graph a float16
        # result of a kernel that computes in float32 stays so for the next one, here it is rounded (measured).
        program = compile_trace(trace, self._next_graph, self.numbering, Kernels(), device.fuses)
        return Executor(program, device, self.engine)


_hidden = _Hidden()


def session() -> Session:
    """The session in force in graph mode; the hidden one in PyNative mode."""
    return current() if context.get_context("mode") == context.GRAPH_MODE else _hidden
