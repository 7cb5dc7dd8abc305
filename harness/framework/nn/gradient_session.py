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
from harness.framework.compile.order import Numbering
from harness.framework.compile.program import compile_trace, data_inputs, trace_function
from harness.framework.compile.signature import signature
from harness.framework.nn.watching import gradient_of
from harness.framework.ops.random import alone
from harness.framework.runtime.execute import Executor
from harness.framework.runtime.session import Session, current
from harness.framework.tensor import eager_rules, mutable
from harness.framework.tensor.watching import CallObserver, call_observer


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
            heard = call_observer()
            written = signature(trace)
            known = self.programs.get(key)
            if known is None or written is None or self._written[key][0] != written:
                known = self._compiled(trace, heard, names)
                self.programs[key], self._written[key] = known, (written, keep)
            if not runs:
                return known
            arrays = [t.asnumpy() for t in data_inputs(values)]
            return told(known.run(arrays) if heard is None else heard.run(known, arrays))

    def _compiled(self, trace: Any, heard: CallObserver | None, names: Sequence[str]) -> Executor:
        device = self.configured_device()
        # Each operator gives its result in its own dtype, as operators called one by one do: in a graph a float16
        # result of a kernel that computes in float32 stays so for the next one, here it is rounded (measured).
        if heard is None:
            return Executor(compile_trace(trace, 0, self.numbering, Kernels(), device.fuses), device, self.engine)
        # Each gradient counts its operators from 0: what ran before in the process changes no name.
        program = compile_trace(trace, heard.next_graph(), Numbering(), Kernels(), device.fuses)
        return Executor(program, device, self.engine, heard.recorded(program, "gradient", names))


def session() -> Session:
    """The session in force in graph mode; in PyNative mode the hidden one that belongs to it."""
    active = current()
    if context.get_context("mode") == context.GRAPH_MODE:
        return active
    if active.hidden is None:
        active.hidden = _Hidden()
    return active.hidden
