"""Makes records of the operators of one step, as PyTorch dispatches them."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from harness.capture.capture import Problem
from harness.capture.normalise import source_path
from harness.capture.torch.operators import Operator
from harness.capture.torch.scopes import GRADIENTS, Scopes
from harness.capture.torch.selection import Selection
from harness.capture.torch.values import DTYPES, Keeper, unreadable
from harness.dtypes import TORCH_FORMAT
from harness.records import Record, SlotKey

GRAPH = 0
_HARNESS = Path(__file__).parents[2]
#: packages whose lines are not a network's: PyTorch, and the packages of the harness that run networks
_LIBRARIES = tuple(
    f"{folder}{os.sep}"
    for folder in (os.path.dirname(torch.__file__), *(_HARNESS / name for name in ("backends", "capture", "framework")))
)


class Mode(TorchDispatchMode):  # type: ignore[misc, unused-ignore]
    """Hands each operator that is dispatched to a recorder."""

    supports_higher_order_operators = True

    def __init__(self, recorder: StepRecorder) -> None:
        super().__init__()
        self._recorder = recorder

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # otherwise PyTorch loads its compiler for the first operator

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self._recorder.run(func, args, kwargs or {})

    def __exit__(self, *error: Any) -> None:
        # From now on writes are not seen.
        self._recorder.forget()
        super().__exit__(*error)


class StepRecorder:
    """Records one step.

    Args:
        where: process rank, label of the graph and label of the step.
        scopes: the scopes, which tell where an operator runs.
        selection: the selected scopes; other operators run unwatched.
        keeper: object that fills the records in.
        rootdir: source paths are given relative to it.

    Attributes:
        records: records in the order the operators ran.
        names: names of the operators, in the same order.
        problems: tensors that could not be read.
    """

    def __init__(
        self, where: tuple[int, int, int], scopes: Scopes, selection: Selection, keeper: Keeper, rootdir: str
    ) -> None:
        self._where = where
        self._scopes = scopes
        self._selection = selection
        self._keeper = keeper
        self._rootdir = rootdir
        #: source files as shown; empty for PyTorch's own
        self._paths: dict[str, str] = {}
        self._numbers: Counter[tuple[str, str]] = Counter()
        self.records: list[Record] = []
        self.names: list[str] = []
        self.problems: dict[tuple[str, str], Problem] = {}

    def run(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs an operator and records it: its inputs as they were before, its outputs. A failed operator leaves no
        record."""
        scope = self._scopes.current()
        operator = _known(function)
        if not operator.recorded or not self._selection.has(scope):
            return self._written(operator, function, args, kwargs)
        name = f"{scope}/{operator.name}-op{self._numbers[scope, operator.name]}"
        source = None if scope.startswith(GRADIENTS) else self._source()
        found = self._slots(name, operator.name, "input", operator.inputs(args, kwargs), source)
        result = self._written(operator, function, args, kwargs)
        found += self._slots(name, operator.name, "output", operator.outputs(result, args, kwargs), source)
        if found:
            self._numbers[scope, operator.name] += 1
            self.records += found
            self.names.append(name)
        return result

    def _written(self, operator: Operator, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs an operator and forgets the facts about everything it writes, even if it fails half way."""
        try:
            return function(*args, **kwargs)
        finally:
            for tensor in operator.written(args, kwargs):
                self._keeper.memo.written(tensor)

    def forget(self) -> None:
        """Forgets all facts about memory."""
        self._keeper.memo.clear()

    def parameter(self, name: str, tensor: Any) -> None:
        """Records the current value of a parameter."""
        self.records += self._slots(name, "Parameter", "output", [tensor], None)

    def gradient(self, name: str, tensor: Any) -> None:
        """Records the current gradient of a parameter."""
        self.records += self._slots(f"{name}.grad", "Gradient", "output", [tensor], None)

    def _slots(self, name: str, op: str, io: str, given: list[Any], source: str | None) -> list[Record]:
        found = []
        for slot, tensor in enumerate(given):
            if (why := unreadable(tensor)) is not None:
                where = f"{name} {io}.{slot}"
                self.problems.setdefault((where, why), Problem(where, "skipped", why))
                continue
            if not tensor.numel():
                continue
            key = SlotKey(*self._where, name, 0, io, slot)
            dtype = DTYPES[tensor.dtype].name
            record = Record(key, op, dtype, tuple(tensor.shape), TORCH_FORMAT, source=source)
            self._keeper.fill(record, tensor)
            found.append(record)
        return found

    def _source(self) -> str | None:
        """``file.py:17``: the innermost running line outside PyTorch."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            path = frame.f_code.co_filename
            shown = self._paths.get(path)
            if shown is None:
                # A module that hides itself from tracebacks is not the user's network.
                inside = path.startswith(_LIBRARIES) or bool(frame.f_globals.get("__tracebackhide__"))
                shown = self._paths[path] = "" if inside else source_path(path, self._rootdir)
            if shown:
                return f"{shown}:{frame.f_lineno}"
            frame = frame.f_back
        return None


_OPERATORS: dict[int, tuple[Any, Operator]] = {}


def _known(function: Any) -> Operator:
    # PyTorch has some thousands of overloads, which live as long as the process; asking one for its hash is slow.
    found = _OPERATORS.get(id(function))
    if found is None:
        found = _OPERATORS[id(function)] = function, Operator(function)
    return found[1]
