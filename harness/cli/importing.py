"""Lets an unchanged MindSpore script import ``mindspore`` and get ``harness.framework``, in this process only."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

REAL = "mindspore"
OURS = "harness.framework"

#: modules of MindSpore that hold part of what one of ours holds; ``c_transforms`` is that of releases before 2.10
PARTS = {
    "nn": (
        "layer", "layer.activation", "layer.basic", "layer.container", "layer.conv", "layer.embedding",
        "layer.normalization", "layer.pooling", "layer.rnn_cells", "layer.rnns", "loss", "loss.loss", "optim",
        "optim.adam", "optim.momentum", "optim.optimizer", "optim.sgd", "wrap", "wrap.cell_wrapper",
    ),
    "dataset": ("engine", "engine.datasets", "engine.samplers"),
    "dataset.transforms": ("c_transforms", "transforms"),
    "dataset.vision": ("c_transforms", "transforms"),
}  # fmt: skip
_WHOLES = {f"{REAL}.{whole}.{part}": f"{OURS}.{whole}" for whole, parts in PARTS.items() for part in parts}


def our_name(name: str) -> str:
    """``mindspore.nn`` as ``harness.framework.nn``; a module of ``PARTS`` as the one it is part of."""
    return _WHOLES.get(name) or OURS + name.removeprefix(REAL)


class _AliasLoader(Loader):
    """Hands out the module of ours under MindSpore's name: one object, two names."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        # The import system stamps the spec it used onto the module; ours must stay what it was.
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


class AliasFinder(MetaPathFinder):
    """Resolves ``mindspore`` and ``mindspore.*`` to ``harness.framework`` and what is in it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The alias of ``fullname``; None for names that are not MindSpore's.

        Raises:
            ModuleNotFoundError: MindSpore may have this module, the harness has not.
        """
        if fullname != REAL and not fullname.startswith(REAL + "."):
            return None
        ours = our_name(fullname)
        try:
            module = importlib.import_module(ours)
        except ModuleNotFoundError as error:
            # A module missing inside ours is a fault of ours and must show as such.
            if error.name is None or not (ours == error.name or ours.startswith(error.name + ".")):
                raise
            raise ModuleNotFoundError(
                f"No module named {fullname!r} on an emulated backend: the harness has no {ours}", name=fullname
            ) from None
        return ModuleSpec(fullname, _AliasLoader(module), is_package=hasattr(module, "__path__"))


def install() -> AliasFinder:
    """Puts the finder first, before an installed MindSpore; gives the one in place if there is one.

    Raises:
        RuntimeError: the real MindSpore was imported before; its modules would stay in use.
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
