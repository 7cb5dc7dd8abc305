"""Follows a step through modules, optimizers and backward, and watches operators only inside the selection."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial, wraps
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils._python_dispatch import _disable_current_modes, _get_current_dispatch_mode_stack

from harness.capture.torch.leaving import noted
from harness.capture.torch.recorder import Mode, StepRecorder
from harness.capture.torch.scalars import settings_of
from harness.capture.torch.scopes import GRADIENTS, ROOT, Scopes, gradient_of
from harness.capture.torch.selection import Selection
from harness.capture.torch.threads import followed
from harness.capture.torch_names import OPTIMIZER
from harness.errors import UnsupportedError


def _uncompiled() -> AbstractContextManager[object]:
    """What ``torch.compile`` wrapped runs as it was written: its operators are to be seen one by one, and compiling it
    while somebody watches would take minutes and be thrown away.

    Only where PyTorch's compiler is loaded: without it nothing is compiled, and loading it takes seconds.
    """
    stance = getattr(torch.compiler, "set_stance", None)
    return stance("force_eager") if stance is not None and "torch._dynamo" in sys.modules else nullcontext()


class _Thread:
    """One thread of a step.

    Attributes:
        recorder: records its operators.
        mode: the dispatch mode that hands them to it.
        watching: whether the mode is entered.
        open: entered scopes, and the calls that leave them.
        calls: the modules that run, for whoever follows these.
    """

    def __init__(self, recorder: StepRecorder) -> None:
        self.recorder, self.mode = recorder, Mode(recorder)
        self.watching = False
        self.open: list[tuple[Any, ExitStack]] = []
        self.calls: list[Any] = []


class Hooks:
    """The hooks attached to PyTorch for one step; all are removed again, whatever happens.

    Args:
        scopes: the scopes that follow the modules.
        selection: the selected scopes.
        recorder: records the operators; its dispatch mode is entered only where something selected may run.
        modules: the modules and their scopes.
    """

    def __init__(self, scopes: Scopes, selection: Selection, recorder: StepRecorder, modules: dict[Any, str]) -> None:
        self._scopes = scopes
        self._has = selection.has
        self._recorder = recorder
        self._modules = modules
        self._threads = threading.local()
        self._threads.here = _Thread(recorder)

    @property
    def _here(self) -> _Thread:
        """What the calling thread has entered; a thread that nobody followed is met here first."""
        found: _Thread | None = getattr(self._threads, "here", None)
        if found is None:
            found = self._threads.here = _Thread(self._recorder.branch())
        return found

    @property
    def recorder(self) -> StepRecorder:
        """The calling thread's recorder."""
        return self._here.recorder

    def _note_leaving(self) -> None:
        if self._here.watching:
            self.recorder.left()

    def _begin(self) -> Callable[[], AbstractContextManager[None]]:
        """See ``threads.followed``."""
        here = self._here
        scope, watching, branch = self._scopes.current(), here.watching, here.recorder.branch()

        @contextmanager
        def watched() -> Iterator[None]:
            before = getattr(self._threads, "here", None)
            self._threads.here = _Thread(branch)
            self._scopes.begin_in(scope)
            try:
                with self._watched() if watching else nullcontext():
                    yield
            finally:
                self._leave_all()
                self._threads.here = before

        return watched

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Attaches the hooks for the duration of a step."""
        backward = self._has(GRADIENTS)
        with ExitStack() as stack:
            for module, scope in self._modules.items():
                # To watch a backward, we must know which nodes the forward made.
                gradient = self._has(gradient_of(scope))
                backward = backward or gradient
                if gradient or self._has(scope):
                    enter, leave = partial(self._enter, module, scope), partial(self._leave, module)
                    try:
                        stack.callback(module.register_forward_pre_hook(enter, prepend=True).remove)
                        stack.callback(module.register_forward_hook(leave, always_call=True).remove)
                    except RuntimeError:  # TorchScript's, which run no Python
                        raise UnsupportedError(
                            f"{scope}: a {type(module).__name__} has no hooks, so nothing can be seen of it; "
                            "give the module that torch.jit.script was given"
                        ) from None
            stack.callback(register_optimizer_step_pre_hook(self._enter_optimizer).remove)
            stack.callback(register_optimizer_step_post_hook(self._leave).remove)
            stack.enter_context(followed(self._begin))
            stack.enter_context(noted(self._note_leaving))
            if self._has(ROOT):
                stack.enter_context(self._watched())
            elif backward:
                self._wrap_backward(stack)
            stack.callback(self._leave_all)
            stack.enter_context(_uncompiled())
            yield

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Sends the calling thread's operators through its mode."""
        here = self._here
        # A backward on a device runs in PyTorch's own threads, inside the modes of the thread that asked for it.
        if here.watching or any(isinstance(each, Mode) for each in _get_current_dispatch_mode_stack()):
            yield
            return
        with here.mode:
            here.watching = True
            try:
                yield
            finally:
                here.watching = False

    def _enter(self, owner: Any, scope: str, *_: Any) -> None:
        self._scopes.push(scope)
        inside = ExitStack()
        inside.callback(self._scopes.pop)
        if self._has(scope):
            inside.enter_context(self._watched())
        self._here.open.append((owner, inside))

    def _leave(self, owner: Any, *_: Any) -> None:
        # A scope that failed further inside may still be entered.
        if any(each is owner for each, _ in self._here.open):
            while self._leave_one() is not owner:
                pass

    def _leave_one(self) -> Any:
        owner, inside = self._here.open.pop()
        inside.close()
        return owner

    def _leave_all(self) -> None:
        while self._here.open:
            self._leave_one()

    def _enter_optimizer(self, optimizer: Any, *_: Any) -> None:
        scope = f"{ROOT}/{OPTIMIZER}{type(optimizer).__name__}"
        self._enter(optimizer, scope)
        if self._has(scope):
            with _disable_current_modes():  # a learning rate may be a tensor
                self.recorder.optimizer(scope, settings_of(optimizer))

    def _wrap_backward(self, stack: ExitStack) -> None:
        for name in ("backward", "grad"):
            original = getattr(torch.autograd, name)
            setattr(torch.autograd, name, self._wrapped(original))
            stack.callback(setattr, torch.autograd, name, original)

    def _wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with self._watched():
                return function(*args, **kwargs)

        return run
