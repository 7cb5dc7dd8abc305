"""Lazy names of the public namespaces: ``import harness`` must stay light, yet offer MindSpore's whole top level."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def imported(module: str) -> Any:
    """Imports a module while the garbage collector pauses: what modules define stays, and to look all of it through
    again and again takes a tenth of the time of a large import."""
    if module in sys.modules or not gc.isenabled():
        return importlib.import_module(module)
    gc.disable()
    try:
        return importlib.import_module(module)
    finally:
        gc.enable()


def lazy(
    module: str, names: Mapping[str, str], otherwise: Callable[[str], Any] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Makes ``__getattr__`` and ``__dir__`` for a module whose names are defined in other modules.

    Args:
        module: name of the module, such as ``harness``.
        names: the place that defines each name: a module (``harness.framework.tensor``: the attribute of that name), a
        module and attribute (``harness.dtypes:float16``), or a module itself (``harness.framework.common.dtype:``).
        otherwise: a function that resolves any other name; with None, other names raise ``AttributeError``.
    """

    def getattr_(name: str) -> Any:
        place = names.get(name)
        if place is None:
            if otherwise is not None:
                return otherwise(name)
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        source, colon, attribute = place.partition(":")
        found = imported(source)
        return found if colon and not attribute else getattr(found, attribute or name)

    def dir_() -> list[str]:
        return sorted({*names, *vars(importlib.import_module(module))})

    return getattr_, dir_


#: every spelling that MindSpore and we have for a dtype
DTYPES = {
    **{
        name: f"harness.dtypes:{name}"
        for name in (
            "bfloat16", "bool_", "complex64", "complex128", "float16", "float32", "float64", "int8", "int16", "int32",
            "int64", "uint8", "uint16", "uint32", "uint64",
        )
    },
    **{
        alias: f"harness.dtypes:{name}"
        for alias, name in {
            "byte": "int8", "short": "int16", "intc": "int32", "long": "int64", "intp": "int64", "ubyte": "uint8",
            "ushort": "uint16", "uintc": "uint32", "uintp": "uint64", "half": "float16", "single": "float32",
            "double": "float64", "cfloat": "complex64", "cdouble": "complex128",
        }.items()
    },
}  # fmt: skip
