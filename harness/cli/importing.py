"""Lets an unchanged MindSpore script import ``mindspore`` and get ``harness.framework``, in this process only."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from harness.framework import names
from harness.framework.names.aliases import AliasLoader

REAL = "mindspore"
OURS = "harness.framework"

#: modules of releases before 2.10 that many scripts still import, and the modules that have their names today
_OLD = {
    f"{REAL}.dataset.transforms.c_transforms": "dataset.transforms",
    f"{REAL}.dataset.transforms.py_transforms": "dataset.transforms",
    f"{REAL}.dataset.vision.c_transforms": "dataset.vision",
    f"{REAL}.dataset.vision.py_transforms": "dataset.vision",
}


def place(name: str) -> str:
    """The module of 2.10.0 that ``mindspore.nn`` names, without ``mindspore.``."""
    return _OLD.get(name) or name.removeprefix(REAL).lstrip(".")


#: modules of msprobe from which scripts import ``PrecisionDebugger``
_PROBE = ("msprobe", "msprobe.mindspore")


def _probe(name: str) -> ModuleType:
    from harness.debugger.debugger import PrecisionDebugger

    module = ModuleType(name, "``PrecisionDebugger`` on an emulated backend.")
    module.__dict__["__path__"] = []
    if name != _PROBE[0]:
        module.__dict__["PrecisionDebugger"] = PrecisionDebugger
    return module


class AliasFinder(MetaPathFinder):
    """Resolves ``mindspore`` and ``mindspore.*`` to ``harness.framework`` and its modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The alias of ``fullname``; None for names that are not MindSpore's.

        Raises:
            ModuleNotFoundError: MindSpore 2.10.0 has no such module.
        """
        if fullname in _PROBE:
            return ModuleSpec(fullname, AliasLoader(_probe(fullname)), is_package=True)
        if fullname != REAL and not fullname.startswith(REAL + "."):
            return None
        module = names.load(place(fullname))
        return ModuleSpec(fullname, AliasLoader(module), is_package=hasattr(module, "__path__"))


def install() -> AliasFinder:
    """Puts the finder first, before an installed MindSpore; returns the finder in place if there is one.

    Raises:
        RuntimeError: the real MindSpore is imported already; its modules would stay in use.
    """
    for finder in sys.meta_path:
        if isinstance(finder, AliasFinder):
            return finder
    loaded = sys.modules.get(REAL)
    if loaded is not None and loaded is not sys.modules.get(OURS):
        raise RuntimeError(f"{REAL} is loaded already, from {getattr(loaded, '__file__', '?')}; start a new process")
    finder = AliasFinder()
    sys.meta_path.insert(0, finder)
    return finder
