"""Other names of our modules for the import system: ``mindspore.nn`` is ``harness.framework.nn``."""

from __future__ import annotations

import importlib
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType

from harness.framework import names


class AliasLoader(Loader):
    """Loads a module under another name: one object with two names."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        # The import system writes the spec it used into the module; our module must keep its own.
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is run again."""
        module.__spec__ = self._spec


def spec_of(fullname: str, module: str) -> ModuleSpec | None:
    """The spec of ``fullname`` as a name of MindSpore's ``module`` (``nn``), or of one of ours that MindSpore does not
    have (``nn.basic``); None if there is neither."""
    if names.is_module(module):
        found = names.load(module)
    elif names.has_module(f"{names.OURS}.{module}"):
        found = importlib.import_module(f"{names.OURS}.{module}")
    else:
        return None
    return ModuleSpec(fullname, AliasLoader(found), is_package=hasattr(found, "__path__"))
