"""Finds the scope of a running operator: that of a module's forward, of its gradient, or of an optimizer.

Autograd numbers its nodes as the forward makes them. A scope owns the numbers made while it was on top, so that a
backward node's number tells which forward it belongs to.
"""

from __future__ import annotations

import inspect
import sys
import threading
from bisect import bisect_right
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch

from harness.capture.torch_names import GRADIENTS as GRADIENTS
from harness.capture.torch_names import OPTIMIZER
from harness.capture.torch_names import ROOT as ROOT

_OPTIMIZERS = f"{ROOT}/{OPTIMIZER}"
_ACCUMULATE = "torch::autograd::AccumulateGrad"
_FORWARD = -1
#: frames between an operator and the ``forward`` that asks for it
_NEAR = 16

_sequence = torch._C._autograd._get_sequence_nr
_task = torch._C._current_graph_task_id
_node = torch._C._current_autograd_node


def scopes_of(module: Any, paths: bool = False) -> dict[Any, str]:
    """Each module below ``module`` with its scope: ``Default/layers-ModuleList/0-Linear``, or its path ``layers.0``;
    the module itself is ``Default``. A module that occurs twice has its first place."""
    if paths:
        # The first name of a module counts: ``named_modules`` gives each once.
        return {each: path or ROOT for path, each in module.named_modules()}
    found: dict[Any, str] = {}
    by_path = {"": ROOT}
    for path, each in module.named_modules():
        above, _, name = path.rpartition(".")
        if path:
            by_path[path] = f"{by_path[above]}/{name}-{type(each).__name__}"
        found[each] = by_path[path]
    return found


def gradient_of(scope: str) -> str:
    """The scope of the gradient of ``scope``; a gradient's scope stays the same."""
    return scope if scope.split("/", 1)[0] == GRADIENTS else f"{GRADIENTS}/{scope}"


class Forwards:
    """Finds modules whose ``forward`` runs without the call of the module, which hooks would see.

    Args:
        modules: the modules and their scopes.
    """

    def __init__(self, modules: Mapping[Any, str]) -> None:
        self._of: dict[CodeType, list[tuple[Any, str]]] = {}
        self._codes: dict[str, CodeType] = {}
        for module, scope in modules.items():
            code = getattr(inspect.unwrap(getattr(type(module), "forward", None)), "__code__", None)  # type: ignore[arg-type]
            if code is not None:
                self._of.setdefault(code, []).append((module, scope))
                self._codes[scope] = code

    def running(self, frames: list[_Frame]) -> str | None:
        """The scope of the innermost module whose ``forward`` runs, where no hook has entered it; ``frames`` are those
        that hooks have entered."""
        frame: FrameType | None = sys._getframe(2)
        for _ in range(_NEAR):
            if frame is None:
                return None
            known = self._of.get(frame.f_code)
            if known is not None:
                return self._scope(frame, known, frames)
            frame = frame.f_back
        return None

    def _scope(self, frame: FrameType, known: list[tuple[Any, str]], frames: list[_Frame]) -> str | None:
        code = frame.f_code
        if any(self._codes.get(each.scope) is code for each in frames):
            return None
        scope = known[0][1]
        if len(known) > 1:  # the locals of a frame, once read, live as long as the frame
            owner = frame.f_locals.get(code.co_varnames[0])
            scope = next((named for module, named in known if module is owner), "")
        return None if not scope or scope == frames[-1].outside else scope


class _Frame(NamedTuple):
    """An entered scope, the backward it was entered in (``_FORWARD`` for none), and the scope it was entered from."""

    scope: str
    task: int
    outside: str = ""


class _Frames(threading.local):
    """The scopes that one thread has entered."""

    def __init__(self) -> None:
        self.entered = [_Frame(ROOT, _FORWARD)]


class Scopes:
    """The scopes of one step. Each thread enters and leaves its own; nodes are those of the thread that makes the step.

    Args:
        owners: scope of each parameter's module, by the parameter's ``id``.
        modules: the modules and their scopes, as far as their ``forward`` may run without hooks.
    """

    def __init__(self, owners: dict[int, str], modules: Mapping[Any, str] | None = None) -> None:
        self._owners = owners
        self._forwards = Forwards(modules or {})
        self._frames = _Frames()
        self._thread = threading.get_ident()
        self._seen: int = _sequence()
        # Nodes made before the step belong to no scope.
        self._starts: list[int] = []
        self._made_in: list[str] = []

    @property
    def in_backward(self) -> bool:
        """Whether a backward runs."""
        return bool(_task() != _FORWARD)

    def begin_in(self, scope: str) -> None:
        """The calling thread begins in ``scope``."""
        self._frames.entered[:] = [_Frame(scope, _FORWARD)]

    def push(self, scope: str) -> None:
        """Enters ``scope``; a forward that is recomputed in a backward enters its gradient's scope."""
        task = _task()
        outside = self.current()
        self._frames.entered.append(_Frame(gradient_of(scope) if task != _FORWARD else scope, task, outside))

    def pop(self) -> None:
        """Leaves the scope entered last."""
        frames = self._frames.entered
        self._note(frames[-1].scope)
        if len(frames) > 1:
            frames.pop()

    def current(self) -> str:
        """The scope of an operator that runs now."""
        task, frame = _task(), self._frames.entered[-1]
        if task != frame.task:
            scope = gradient_of(self._of_node()) if task != _FORWARD else ROOT
        else:
            scope = frame.scope
            if task == _FORWARD and not scope.startswith(_OPTIMIZERS):
                scope = self._forwards.running(self._frames.entered) or scope
        self._note(scope)
        return scope

    def _note(self, scope: str) -> None:
        """Assigns the nodes made since the last call to ``scope``."""
        if threading.get_ident() != self._thread:
            return  # another thread counts for itself
        now = _sequence()
        if now != self._seen:
            if not self._made_in or self._made_in[-1] != scope:
                self._starts.append(self._seen)
                self._made_in.append(scope)
            self._seen = now

    def _of_node(self) -> str:
        node = _node()
        if node is None:
            return GRADIENTS
        if node.name() == _ACCUMULATE:
            return self._owners.get(id(node.variable), ROOT)
        at = bisect_right(self._starts, node._sequence_nr()) - 1
        return self._made_in[at] if at >= 0 else GRADIENTS
