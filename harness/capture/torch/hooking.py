"""Follows a step through modules, optimizers and backward, and watches operators only inside the selection."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial, wraps
from typing import Any

import torch
from torch._ops import _len_torch_dispatch_stack_pre_dispatch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils._python_dispatch import _disable_current_modes, _get_current_dispatch_mode_stack

from harness.capture.torch.dispatching import Mode
from harness.capture.torch.leaving import noted
from harness.capture.torch.recorder import StepRecorder
from harness.capture.torch.regions import recorded
from harness.capture.torch.scopes import GRADIENTS, ROOT, Scopes, gradient_of
from harness.capture.torch.selection import Selection
from harness.capture.torch.threads import followed
from harness.capture.torch_names import OPTIMIZER
from harness.errors import UnsupportedError


def unwatched() -> AbstractContextManager[Any]:
    """Outside of all modes: what reads tensors computes with operators of its own."""
    if torch._C._len_torch_dispatch_stack() or _len_torch_dispatch_stack_pre_dispatch():
        quiet: AbstractContextManager[Any] = _disable_current_modes()
        return quiet
    return nullcontext()


class Hook:
    """A hook of one step. A copy of the module, pickled or not, has hooks that do nothing; compiled code has none."""

    def __init__(self, call: Callable[..., None]) -> None:
        self.call: Callable[..., None] | None = call

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        if not torch.compiler.is_compiling() and self.call is not None:
            self.call(*args, **kwargs)

    def __reduce__(self) -> Any:
        return Inert, ()


class Inert:
    """What is left of a hook in a copy."""

    def __call__(self, *_: Any, **__: Any) -> None:
        return None


def hook(stack: ExitStack, call: Callable[..., None]) -> Hook:
    """A hook that calls ``call`` until ``stack`` ends."""
    made = Hook(call)
    stack.callback(setattr, made, "call", None)
    return made


def compiled(modules: Iterable[Any]) -> set[Any]:
    """The modules inside what ``torch.compile`` wrapped: they run within one region, not one by one."""
    inside: set[Any] = set()
    for module in modules:
        if hasattr(module, "_orig_mod"):
            inside.update(module._orig_mod.modules())
        elif getattr(module, "_compiled_call_impl", None) is not None:
            inside.update(each for each in module.modules() if each is not module)
    return inside


def attach(stack: ExitStack, module: Any, scope: str, enter: Any, leave: Any, *, named: bool = False) -> None:
    """Calls ``enter`` and ``leave`` around each call of a module, as hooks do, until ``stack`` ends.

    Args:
        named: whether ``enter`` is given arguments by name, too.
    """
    original = getattr(module, "_compiled_call_impl", None)
    if original is not None:  # its hooks would be compiled, too
        module._compiled_call_impl = _around(original, module, enter, leave, named)
        stack.callback(setattr, module, "_compiled_call_impl", original)
        return
    hooks = hook(stack, enter), hook(stack, leave)
    try:
        stack.callback(module.register_forward_pre_hook(hooks[0], prepend=True, with_kwargs=named).remove)
        stack.callback(module.register_forward_hook(hooks[1], always_call=True).remove)
    except RuntimeError:  # TorchScript's, which run no Python: what is inside one belongs to the module around it
        if scope == ROOT:
            raise UnsupportedError(
                f"{scope}: a {type(module).__name__} has no hooks, so nothing can be seen of it; "
                "give the module that torch.jit.script was given"
            ) from None


def _around(call: Callable[..., Any], module: Any, enter: Any, leave: Any, named: bool) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        enter(module, args, kwargs) if named else enter(module, args)
        output = None
        try:
            output = call(*args, **kwargs)
            return output
        finally:
            leave(module, args, output)

    return run


class _Thread:
    """One thread of a step.

    Attributes:
        recorder: records its operators.
        mode: the dispatch mode that hands them to it.
        watching: whether the mode is entered.
        open: what entered scopes, and the modes that end with them.
        calls: the modules that run, for whoever follows these.
    """

    def __init__(self, recorder: StepRecorder) -> None:
        self.recorder, self.mode = recorder, Mode(recorder)
        self.watching = False
        self.open: list[tuple[Any, AbstractContextManager[None] | None]] = []
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
            inside = compiled(self._modules)
            for module, scope in self._modules.items():
                # To watch a backward, we must know which nodes the forward made.
                gradient = self._has(gradient_of(scope))
                backward = backward or gradient
                if (gradient or self._has(scope)) and module not in inside:
                    self._attach(stack, module, scope)
            stack.callback(register_optimizer_step_pre_hook(self._enter_optimizer).remove)
            stack.callback(register_optimizer_step_post_hook(self._leave).remove)
            stack.enter_context(followed(self._begin))
            stack.enter_context(noted(self._note_leaving))
            if self._has(ROOT):
                stack.enter_context(self._watched())
            elif backward:
                self._wrap_backward(stack)
            stack.callback(self._leave_all)
            stack.enter_context(recorded(lambda: self._here.watching, self._region))
            yield

    def _region(self, run: Callable[[], Any], args: list[Any]) -> Any:
        return self.recorder.region(run, args)

    def _attach(self, stack: ExitStack, module: Any, scope: str) -> None:
        enter, leave = partial(self._enter, module, scope), partial(self._leave, module)
        attach(stack, module, scope, enter, leave)

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
        here, watched = self._here, None
        if not here.watching and self._has(scope):
            watched = self._watched()
            watched.__enter__()
        here.open.append((owner, watched))

    def _leave(self, owner: Any, *_: Any) -> None:
        # A scope that failed further inside may still be entered.
        if any(each is owner for each, _ in self._here.open):
            while self._leave_one() is not owner:
                pass

    def _leave_one(self) -> Any:
        owner, watched = self._here.open.pop()
        try:
            if watched is not None:
                watched.__exit__(None, None, None)
        finally:
            self._scopes.pop()
        return owner

    def _leave_all(self) -> None:
        while self._here.open:
            self._leave_one()

    def _enter_optimizer(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        scope = f"{ROOT}/{OPTIMIZER}{type(optimizer).__name__}"
        self._enter(optimizer, scope)
        if self._has(scope):
            with unwatched():  # a learning rate may be a tensor
                self.recorder.optimizer(scope, optimizer)
        # A closure computes a loss: what it runs outside of modules is none of the optimizer's.
        given = [self._outside(each) if callable(each) and each is not optimizer else each for each in args]
        named = {name: self._outside(each) if name == "closure" and each else each for name, each in kwargs.items()}
        return tuple(given), named

    def _outside(self, closure: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(closure)
        def run(*args: Any, **kwargs: Any) -> Any:
            self._scopes.push(ROOT)
            try:
                return closure(*args, **kwargs)
            finally:
                self._scopes.pop()

        return run

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
