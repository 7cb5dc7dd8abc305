"""Follows a step through modules, optimizers and backward, and watches operators only inside the selection."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial, wraps
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from harness.capture.torch.scopes import GRADIENTS, ROOT, Scopes, gradient_of
from harness.capture.torch.selection import Selection
from harness.errors import UnsupportedError


def _uncompiled() -> AbstractContextManager[object]:
    """What ``torch.compile`` wrapped runs as it was written: its operators are to be seen one by one, and compiling it
    while somebody watches would take minutes and be thrown away.

    Only where PyTorch's compiler is loaded: without it nothing is compiled, and loading it takes seconds.
    """
    stance = getattr(torch.compiler, "set_stance", None)
    return stance("force_eager") if stance is not None and "torch._dynamo" in sys.modules else nullcontext()


class Hooks:
    """The hooks attached to PyTorch for one step; all are removed again, whatever happens.

    Args:
        scopes: the scopes that follow the modules.
        selection: the selected scopes.
        mode: the dispatch mode that watches; entered only where something selected may run.
        modules: the modules and their scopes.
    """

    def __init__(self, scopes: Scopes, selection: Selection, mode: Any, modules: dict[Any, str]) -> None:
        self._scopes = scopes
        self._has = selection.has
        self._mode = mode
        self._modules = modules
        self._watching = False
        #: entered scopes, and the calls that leave them
        self._open: list[tuple[Any, ExitStack]] = []

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
            if self._has(ROOT):
                stack.enter_context(self._watched())
            elif backward:
                self._wrap_backward(stack)
            stack.callback(self._leave_all)
            stack.enter_context(_uncompiled())
            yield

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Sends operators through the mode."""
        if self._watching:
            yield
            return
        with self._mode:
            self._watching = True
            try:
                yield
            finally:
                self._watching = False

    def _enter(self, owner: Any, scope: str, *_: Any) -> None:
        self._scopes.push(scope)
        inside = ExitStack()
        inside.callback(self._scopes.pop)
        if self._has(scope):
            inside.enter_context(self._watched())
        self._open.append((owner, inside))

    def _leave(self, owner: Any, *_: Any) -> None:
        # A scope that failed further inside may still be entered.
        if any(each is owner for each, _ in self._open):
            while self._leave_one() is not owner:
                pass

    def _leave_one(self) -> Any:
        owner, inside = self._open.pop()
        inside.close()
        return owner

    def _leave_all(self) -> None:
        while self._open:
            self._leave_one()

    def _enter_optimizer(self, optimizer: Any, *_: Any) -> None:
        self._enter(optimizer, f"{ROOT}/optimizer-{type(optimizer).__name__}")

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
