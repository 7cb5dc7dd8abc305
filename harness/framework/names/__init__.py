"""Every name of MindSpore 2.10.0: its kind, its module, and the stand-in for an unsupported one.

``names.json`` (made by ``tests/interop/public_names.py`` from the real package) is read at the first request for a name
that our module lacks, ``inner.json.gz`` (``tests/interop/inner_names.py``: all other modules and names) for one
that is no public name. Such a name resolves anyway, so that a script may import names it does not use; using one raises
``UnsupportedNameError``. A name that MindSpore lacks raises it at once (an ``AttributeError``).
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from harness.errors import UnsupportedNameError
from harness.framework.names.absent import Absent, absent_class, absent_value, refuse_member
from harness.framework.names.suggestions import reason, suggested_names

REAL = "mindspore"
OURS = "harness.framework"


class Name(NamedTuple):
    """A public name: its kind (``class``, ``function``, ``value``, ``module``), the module (without ``mindspore.``)
    and the name under which the same object is at home."""

    kind: str
    module: str
    name: str


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    """For each module, and each class (``Tensor:``), its rows: what names are, and the names."""
    text = (Path(__file__).parent / "names.json").read_text(encoding="utf-8")
    table: dict[str, dict[str, str]] = json.loads(text)["modules"]
    return table


@functools.cache
def _inner() -> dict[str, dict[str, str]]:
    """The same of all other modules and names."""
    import gzip

    text = gzip.decompress((Path(__file__).parent / "inner.json.gz").read_bytes())
    table: dict[str, dict[str, str]] = json.loads(text)["modules"]
    return table


def _name(module: str, row: str, member: str) -> Name:
    if row.startswith("module "):
        return Name("module", row.removeprefix("module "), "")
    kind, colon, own = row.partition(":")
    if kind.startswith("@"):
        return Name("other", kind[1:], (own or member) if colon else "")
    if kind.startswith("="):
        return Name("alias", kind[1:], own or member)
    return Name(kind, module, member)


_HELPERS, _MACHINE = f"{OURS}.common.helpers", f"{OURS}.common.machine"
_FLAGS = f"{OURS}.ops.primitives.composition"
#: names at home in modules that we lack: what stands for them here
_ELSEWHERE = {
    "nn.optim.ada_grad:opt_init_args_register": f"{_HELPERS}:opt_init_args_register",
    "common.initializer:_calculate_correct_fan": f"{_HELPERS}:calculate_correct_fan",
    "common.initializer:_calculate_fan_in_and_fan_out": f"{_HELPERS}:calculate_fans",
    "common.initializer:_calculate_gain": f"{_HELPERS}:calculate_gain",
    "common.parameter:_is_parameter_generated": f"{_HELPERS}:is_parameter_generated",
    "graph.api:_pynative_executor": f"{_HELPERS}:pynative_executor",
    "ops:vm_impl_registry": f"{_HELPERS}:vm_impl_registry",
    "ops.vm_impl_registry:VmImplRegistry": f"{_HELPERS}:VmImplRegistry",
    "ops._register_for_op:Registry": f"{_HELPERS}:Registry",
    "graph.api:_cell_graph_executor": f"{_HELPERS}:cell_graph_executor",
    "dataset.engine.iterators:_cleanup": f"{OURS}.dataset.iterators:release_all",
    "dataset.engine.iterators:_set_iterator_cleanup": f"{_HELPERS}:nothing",
    "dataset.engine.iterators:_unset_iterator_cleanup": f"{_HELPERS}:nothing",
    "dataset:TupleIterator": f"{OURS}.dataset.iterators:TupleIterator",
    "dataset:DictIterator": f"{OURS}.dataset.iterators:DictIterator",
    "dataset:Iterator": f"{OURS}.dataset.iterators:RowIterator",
    "device_context.cpu:is_available": f"{_MACHINE}:cpu_is_available",
    "device_context.cpu:device_count": f"{_MACHINE}:device_count",
    "device_context.ascend:is_available": f"{_MACHINE}:no_device",
    "device_context.gpu:is_available": f"{_MACHINE}:no_device",
    "hal:is_available": f"{_MACHINE}:is_available",
    **{f"device_context.ascend:{name}": f"{_MACHINE}:{name}"
       for name in ("precision_mode", "conv_allow_hf32", "matmul_allow_hf32")},
    **{place: f"{_MACHINE}:{place.partition(':')[2]}"
       for place in (":set_deterministic", ":set_recursion_limit", "device_context.cpu:threads_num")},
    "graph.api:_no_recursive": f"{_HELPERS}:no_recursive",
    **{place: f"{_FLAGS}:{place.rpartition(':')[2].lstrip('_')}"
       for place in ("graph.api:_core", "graph.api:_add_flags", "ops.composite.base:core")},
    **{f"{place}:{name}": f"{OURS}.common.execution_order:{name}"
       for place in ("", "utils.runtime_execution_order_check")
       for name in ("CommExecOrderCheck", "ExecuteOrder", "RankFolderParser", "comm_exec_order_check",
                    "detect_cycle_in_graph", "determine_all_rank", "modify_execute_orders", "output_cycle_results",
                    "parse_and_validate", "runtime_execution_order_check")},
    **{f":{name}": f"{_MACHINE}:nothing_used"
       for name in ("memory_reserved", "memory_allocated", "max_memory_reserved", "max_memory_allocated")},
    **{f":{name}": f"{_MACHINE}:nothing"
       for name in ("launch_blocking", "synchronize", "empty_cache", "reset_peak_memory_stats",
                    "reset_max_memory_reserved", "reset_max_memory_allocated")},
}  # fmt: skip
#: the modules whose ``find`` gives primitives that MindSpore generates, or keeps to itself
_PRIMITIVES = (f"{OURS}.ops.primitives.generated", f"{OURS}.ops.primitives.inner")
#: internal modules of MindSpore that scripts import all the same
_INTERNAL = ("_c_expression",)


def is_module(module: str) -> bool:
    """Whether MindSpore has a module of this name (without ``mindspore.``)."""
    return not module.endswith(":") and (module in _table() or module in _inner())


@functools.cache
def members(owner: str) -> dict[str, Name]:
    """The public names of a module, or of a class (``Tensor:``)."""
    rows = _table().get(owner, {})
    return {name: _name(owner, row, name) for row, names in rows.items() for name in names.split()}


@functools.cache
def _inner_members(owner: str) -> dict[str, Name]:
    """The other names of a module."""
    rows = _inner().get(owner, {})
    return {name: _name(owner, row, name) for row, names in rows.items() for name in names.split()}


def modules() -> list[str]:
    """The modules with public names, without ``mindspore.``."""
    return [module for module in _table() if not module.endswith(":")]


def public_name(module: str, name: str = "") -> str:
    """``mindspore.nn.Dense``."""
    return ".".join(part for part in (REAL, module, name) if part)


def lookup(module: str, name: str) -> Any:
    """Resolves ``name`` of MindSpore's ``module`` if our module (if there is one) lacks it.

    Returns:
        Our object for which it is an alias, a module, or a stand-in that raises ``UnsupportedNameError`` when used.

    Raises:
        UnsupportedNameError: MindSpore 2.10.0 has no such name there.
    """
    if name.startswith("__"):
        raise AttributeError(f"module {public_name(module)!r} has no attribute {name!r}")
    # ``from harness.framework.nn import cell`` asks here before it imports the module.
    if has_module(ours := f"{OURS}.{module}.{name}".replace("..", ".")):
        return importlib.import_module(ours)
    found = members(module).get(name) or _inner_members(module).get(name)
    if found is None:
        if is_module(child := f"{module}.{name}".lstrip(".")):
            return load(child)
        raise unknown(module, name)
    if found.kind == "module":
        return (
            load(found.module)
            if is_module(found.module)
            else absent_value(name, "module", functools.partial(refusal, module, name))
        )
    if found.kind == "other":
        other = importlib.import_module(found.module)
        return getattr(other, found.name) if found.name else other
    if found.module != module or found.name != name:
        return getattr(load(found.module), found.name)
    if (place := _ELSEWHERE.get(f"{module}:{name}")) is not None:
        where, _, own = place.partition(":")
        return getattr(importlib.import_module(where), own)
    if found.kind == "class" and module.startswith("ops."):
        for place in _PRIMITIVES:
            if (made := importlib.import_module(place).find(name)) is not None:
                return made
    return stand_in(module, name, found.kind)


@functools.cache
def stand_in(module: str, name: str, kind: str) -> Any:
    """The stand-in for an unsupported name; the same object each time."""
    why = functools.partial(refusal, module, name)
    return absent_class(name, why) if kind == "class" else absent_value(name, kind, why)


def refusal(module: str, name: str) -> str:
    """The message for using an unsupported MindSpore name, in one line."""
    told = reason(module, name)
    near = "" if told else suggested_names(module, name, supported, members)
    return f"{public_name(module, name)} is a name of MindSpore's that is not supported here" + (
        f": {told}" if told else f"; near it: {near}" if near else ""
    )


def unknown(module: str, name: str) -> UnsupportedNameError:
    """The error for a name that MindSpore does not have."""
    import difflib

    known = [n for n in members(module) if not n.startswith("_")]
    close = difflib.get_close_matches(name, known, n=9, cutoff=0.75)
    ours = sorted(close, key=lambda n: not supported(module, n))[:3]
    hint = f"; did you mean {', '.join(ours)}?" if ours else ""
    return UnsupportedNameError(
        f"module {public_name(module)!r} has no attribute {name!r}, here or in MindSpore 2.10.0{hint}"
    )


def is_absent(value: Any) -> bool:
    """Whether ``value`` stands in for a name that is not supported."""
    return isinstance(value, Absent) or (isinstance(type(value), type) and issubclass(type(value), Absent))


@functools.cache
def supported(module: str, name: str) -> bool:
    """Whether ``name`` of MindSpore's ``module`` works here."""
    try:
        return not is_absent(getattr(load(module), name))
    except (AttributeError, ImportError):
        return False


class _Parent(ModuleType):
    """A module that keeps what MindSpore has under the name of a module below it: ``ops.vm_impl_registry``."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and _shadows(self.__name__.removeprefix(OURS).lstrip("."), name):
            return
        super().__setattr__(name, value)


@functools.cache
def _shadows(module: str, name: str) -> bool:
    """Whether ``name`` of MindSpore's ``module`` is something else than the module of that name below it."""
    found = members(module).get(name) or _inner_members(module).get(name)
    return found is not None and found.kind not in ("module", "other") and is_module(f"{module}.{name}".lstrip("."))


class _Space(_Parent):
    """A MindSpore module that we lack: its names are looked up in their home modules."""

    def __init__(self, module: str) -> None:
        super().__init__(f"{OURS}.{module}", f"``{public_name(module)}``: names of other modules.")
        self.__dict__["_place"] = module
        self.__dict__["__path__"] = []

    def __getattr__(self, name: str) -> Any:
        return lookup(self.__dict__["_place"], name)

    def __dir__(self) -> list[str]:
        place = self.__dict__["_place"]
        return sorted({**members(place), **_inner_members(place)})

    @property
    def __all__(self) -> list[str]:
        place = self.__dict__["_place"]
        return [name for name in members(place) or _inner_members(place) if not name.startswith("_")]


_space = functools.cache(_Space)


def load(module: str) -> ModuleType:
    """Our module for MindSpore's ``module`` (without ``mindspore.``), or a space of its names.

    Our module then gives MindSpore's other names of that module too.

    Raises:
        ModuleNotFoundError: MindSpore 2.10.0 has no such module either.
    """
    if not is_module(module) and module not in _INTERNAL:
        raise ModuleNotFoundError(
            f"No module named {public_name(module)!r}: MindSpore 2.10.0 has no such module either",
            name=public_name(module),
        )
    ours = f"{OURS}.{module}".rstrip(".")
    if not has_module(ours):
        return _space(module)
    found = importlib.import_module(ours)
    found.__dict__.setdefault("__getattr__", fallback(ours))
    found.__dict__.setdefault("__path__", [])
    if type(found) is ModuleType:
        found.__class__ = _Parent
    return found


def fallback(ours: str) -> Callable[[str], Any]:
    """``__getattr__`` of the module ``harness.framework.nn``: MindSpore's names that it does not have."""
    return functools.partial(lookup, ours.removeprefix(OURS).lstrip("."))


def has_module(name: str) -> bool:
    """Whether there is a module of this whole name; its parents are imported."""
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def complete(cls: type) -> None:
    """Adds MindSpore's other public methods and properties to our class (``Tensor``); they refuse when used."""
    for name, found in members(f"{cls.__name__}:").items():
        if not hasattr(cls, name):
            refuse_member(cls, name, found.kind, functools.partial(_member_refusal, cls.__name__, name))


def _member_refusal(owner: str, name: str) -> str:
    near = suggested_names("ops", name, supported, members)
    why = f"{public_name('', owner)}.{name} is a name of MindSpore's that is not supported here"
    return f"{why}; near it: {near}" if near else why
