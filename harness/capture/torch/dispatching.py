"""The dispatch mode that hands operators to a recorder."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from harness.capture.torch.recorder import StepRecorder

_mode_of = torch._C._get_dispatch_mode
_FAKE, _FUNCTIONAL = torch._C._TorchDispatchModeKey.FAKE, torch._C._TorchDispatchModeKey.FUNCTIONAL


class Mode(TorchDispatchMode):  # type: ignore[misc, unused-ignore]
    """Hands each operator that is dispatched to a recorder."""

    supports_higher_order_operators = True

    def __init__(self, recorder: StepRecorder) -> None:
        super().__init__()
        self._recorder = recorder
        #: the next operator goes on to the tensor class that runs it
        self._passes = False
        #: how many tensor classes run an operator
        self._inside = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # otherwise PyTorch loads its compiler for the first operator

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Whether ``torch.compile`` compiles inside the mode as it does outside."""
        return True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if _mode_of(_FAKE) is not None or _mode_of(_FUNCTIONAL) is not None:
            return func(*args, **(kwargs or {}))  # shapes alone, or a trace of what runs later
        if not types:
            return self._recorder.run(func, args, kwargs or {})
        if self._passes:
            self._passes = False
            return NotImplemented
        if self._inside and all(each.__name__ == "FakeTensor" for each in types):
            return func(*args, **(kwargs or {}))  # a tensor class asks for a shape
        return self._recorder.run_inside(func, args, kwargs or {}, self._passed)

    def _passed(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs an operator on a tensor class that runs it itself, and watches the operators inside."""
        super().__enter__()
        self._passes = True
        self._inside += 1
        try:
            return function(*args, **kwargs)
        finally:
            self._passes = False
            self._inside -= 1
            super().__exit__(None, None, None)

    def __exit__(self, *error: Any) -> None:
        # From now on writes are not seen.
        self._recorder.forget()
        super().__exit__(*error)
