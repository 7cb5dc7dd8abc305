"""Regions that ``torch.compile`` made, inside a watched step: they run as they would alone.

A region whose operators PyTorch runs one by one (``aot_eager``) is recorded operator by operator. One that inductor
turned into code of its own is recorded as a whole: what it reads and gives.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from importlib import import_module
from typing import Any

import torch

#: records a region: how it is run, and its arguments
Record = Callable[[Callable[[], Any], list[Any]], Any]
_WRAPPERS = "torch._functorch._aot_autograd.runtime_wrappers"
#: what runs a compiled graph, whatever compiled it
_RUNS = "call_func_at_runtime_with_args"
_CODE = "torch._inductor.output_code"


@contextmanager
def recorded(watching: Callable[[], bool], record: Record) -> Iterator[None]:
    """Inside the block ``record`` runs regions of compiled code while ``watching``."""
    with ExitStack() as stack:
        if "torch._dynamo" in sys.modules:
            _begin(stack, watching, record)
        else:
            before = torch.compile

            def compiled(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
                made = original(*args, **kwargs)  # PyTorch's compiler is loaded when it is first needed
                if torch.compile is not before:
                    torch.compile = before
                    _begin(stack, watching, record)
                return made

            _replace(stack, torch, "compile", compiled)
        yield


def _begin(stack: ExitStack, watching: Callable[[], bool], record: Record) -> None:
    """Has regions recorded from now on, until ``stack`` ends."""
    wrappers = import_module(_WRAPPERS)
    if hasattr(wrappers, _RUNS):
        replace = partial(_replace_code, stack, set(), watching, record)
        replace()

        def run(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            replace()  # inductor is loaded when it is first needed
            return original(*args, **kwargs)

        _replace(stack, wrappers, _RUNS, run)


def _replace(stack: ExitStack, owner: Any, name: str, by: Callable[..., Any]) -> None:
    original = getattr(owner, name)

    @wraps(original)
    def run(*args: Any, **kwargs: Any) -> Any:
        return by(original, *args, **kwargs)

    setattr(owner, name, run)
    stack.callback(setattr, owner, name, original)


def _replace_code(stack: ExitStack, replaced: set[Any], watching: Callable[[], bool], record: Record) -> None:
    """Has the code of inductor recorded, if it is loaded and not yet."""
    code = sys.modules.get(_CODE)
    base = getattr(code, "OutputCode", None)
    for kind in base.__subclasses__() if base is not None else ():
        if kind not in replaced and "__call__" in vars(kind):
            replaced.add(kind)
            _replace(stack, kind, "__call__", partial(_called, watching, record))


def _called(
    watching: Callable[[], bool], record: Record, original: Callable[..., Any], code: Any, *args: Any, **kwargs: Any
) -> Any:
    run = partial(original, code, *args, **kwargs)
    if not watching():
        return run()
    given = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    return record(run, list(given))  # a list may be emptied on the way
