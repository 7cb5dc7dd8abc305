"""Reproducibility harness (pytest-msdump): describe, compile and run small networks, capture their dumps, check them.

``from harness import Tensor, nn, ops, float32`` reaches the names of ``harness.framework``, which speaks MindSpore's
API. Each name is looked up at its first use, so that importing a part that needs none of them stays light.
"""

import atexit as _atexit
import os as _os
import sys as _sys
from typing import Any as _Any

from harness import exit_status as _exit_status  # noqa: F401 - registers what runs last at exit
from harness import hooks as _hooks
from harness import log as _log  # noqa: F401 - notes the log's environment, which counts as it is now

#: Modules beside this one. ``from harness import atomic`` asks ``__getattr__`` before it imports one, and MindSpore's
#: thousands of names are not to be read for that.
_ROOMS = frozenset(_each.partition(".")[0] for _each in _os.listdir(_os.path.dirname(__file__)))


#: what judges and keeps values outside of pytest
_WITHOUT_PYTEST = ("check", "write", "DiffersError")


def _framework() -> _Any:
    """The emulator, which is imported when one of its names is asked for."""
    from harness import framework

    return framework


class _SameNames:
    """Finds MindSpore's modules below this package: ``import harness.nn`` gives what ``mindspore.nn`` is here. Modules
    of our own come first. In front of other finders: a package found by its other name knows where its modules lie, and
    they would be loaded a second time."""

    @staticmethod
    def find_spec(fullname: str, path: _Any = None, target: _Any = None) -> _Any:
        lead, _, rest = fullname.partition(".")
        if lead != __name__ or not rest or rest.partition(".")[0] in _ROOMS:
            return None
        from harness.framework.names.aliases import spec_of

        return spec_of(fullname, rest)


if not any(type(_each).__name__ == _SameNames.__name__ for _each in _sys.meta_path):
    _sys.meta_path.insert(0, _SameNames())


def __getattr__(name: str) -> _Any:
    if name == "inspect":  # a room that can be called: ``harness.inspect(capture)``
        from importlib import import_module

        return import_module("harness.inspect")
    if name in _WITHOUT_PYTEST:
        from harness.gate import checking

        return getattr(checking, name)
    if name in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    if name == "__version__":
        from importlib.metadata import version

        return version("pytest-msdump")
    return getattr(_framework(), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WITHOUT_PYTEST, "__version__", *dir(_framework())})


def _dump_from_environment(session: _Any) -> None:
    """Lets ``MINDSPORE_DUMP_CONFIG`` apply to a session, as it does to a MindSpore process."""
    from harness.dump import environment
    from harness.framework.context import PYNATIVE_MODE, get_context

    observer = environment.install(
        device=session.device, device_id=get_context("device_id"), pynative=get_context("mode") == PYNATIVE_MODE
    )
    if observer is not None and observer not in session.observers:
        session.recording.add(observer)


_hooks.first_compile.append(_dump_from_environment)


def _dump_of_the_process() -> _Any:
    from harness.dump.environment import PROCESS

    return PROCESS


_hooks.provide("dump", _dump_of_the_process)


def _recorder_from_environment(session: _Any) -> None:
    """Lets ``MS_RDR_*`` and ``env_config_path`` apply to a session, as they do to a MindSpore process."""
    from harness.dump import DumpObserver
    from harness.framework.context import get_context
    from harness.rdr import environment

    dumps = [observer.config for observer in session.observers if isinstance(observer, DumpObserver)]
    observer = environment.PROCESS.install(
        session.device,
        env_config_path=get_context("env_config_path"),
        synchronous_dump=any(config.synchronous and config.dump_mode == 0 for config in dumps),
    )
    if observer is not None and observer not in session.observers:
        session.recording.add(observer)


def _recorder_at_exit() -> None:
    """Mode 2 exports when a process ends, even if it compiled nothing."""
    context = _sys.modules.get("harness.framework.context")
    given = "harness.framework.tensor" in _sys.modules and (
        any(_os.environ.get(name) for name in ("MS_RDR_ENABLE", "MS_RDR_MODE", "MS_RDR_PATH"))
        or (context is not None and context.get_context("env_config_path"))
    )
    if given or "harness.rdr.environment" in _sys.modules:
        from harness.devices import DEVICES
        from harness.framework.context import get_context
        from harness.rdr import environment

        environment.PROCESS.at_exit(DEVICES.get("cpu"), env_config_path=get_context("env_config_path"))


_hooks.first_compile.append(_recorder_from_environment)
_atexit.register(_recorder_at_exit)
