"""Follows a step along the boundaries of modules: what each takes and gives, no operator of its own or of a library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from harness.capture.torch.hooking import Hooks, attach, compiled, unwatched
from harness.capture.torch.threads import followed
from harness.records import Record

#: one module that runs: the name of its records, and those of what it was given
_Call = tuple[Any, str, list[Record]]


class Boundaries(Hooks):
    """The hooks attached to the modules of a step. No dispatch mode is entered: operators run as they would alone."""

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Attaches the hooks for the duration of a step."""
        with ExitStack() as stack:
            inside = compiled(self._modules)
            for module, scope in self._modules.items():
                if self._has(scope) and module not in inside:
                    self._attach(stack, module, scope)
            stack.callback(register_optimizer_step_pre_hook(self._enter_optimizer).remove)
            stack.callback(register_optimizer_step_post_hook(self._leave).remove)
            stack.enter_context(followed(self._begin))
            stack.callback(self._leave_all)
            yield

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Optimizers enter their scope, and no mode."""
        yield

    def _attach(self, stack: ExitStack, module: Any, scope: str) -> None:
        attach(stack, module, scope, partial(self._called, scope), self._returned, named=True)

    def _called(self, scope: str, module: Any, args: Any, kwargs: Any) -> None:
        self._scopes.push(scope)
        here = self._here
        with unwatched():
            name, given = here.recorder.called(self._scopes.current(), args, kwargs)
        here.open.append((module, None))
        here.calls.append((module, name, given))

    def _returned(self, module: Any, _args: Any, output: Any) -> None:
        here = self._here
        if not any(each is module for each, _ in here.open):
            return
        while self._leave_one() is not module:  # one that failed further inside
            pass
        while here.calls:
            owner, name, given = here.calls.pop()
            if owner is module:
                if output is not None:
                    with unwatched():
                        here.recorder.gave(name, given, output)
                return
