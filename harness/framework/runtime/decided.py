"""Functions whose graph is decided by values: gradients through ``if`` and ``while`` on tensors, ``break`` and
``continue`` under a tensor's condition.

Such a function is traced at every call with its arguments at hand, as one of PyNative mode: a condition takes the way
its value says, and the graph is that of this way. What was compiled is kept while the next call takes the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.framework.compile.program import Trace, trace_function
from harness.framework.compile.signature import signature
from harness.framework.runtime.execute import Executor
from harness.framework.tensor import eager_rules


@dataclass
class Decided:
    """What was compiled of one function so far.

    Attributes:
        executor: that of the way taken last; None before the first.
        written: what tells one way from another; None where nothing does.
    """

    executor: Executor | None = None
    written: Any = field(default=None, repr=False)

    def take(
        self, function: Callable[..., Any], values: Sequence[Any], names: Sequence[str],
        compiled: Callable[[Trace], Executor],
    ) -> Executor:  # fmt: skip
        """The executor of the way that ``function(*values)`` takes now; ``compiled`` makes a new one."""
        with eager_rules(graph=True):
            trace = trace_function(function, values, names)
            written = signature(trace)
            if self.executor is None or written is None or written != self.written:
                before = self.executor
                self.executor = compiled(trace)
                self.written = written
                if before is not None:
                    self.executor.go_on_from(before)
        return self.executor
