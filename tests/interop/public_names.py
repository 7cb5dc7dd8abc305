"""The public names of MindSpore, written as data: ``python tests/interop/public_names.py`` under the real MindSpore.

Writes ``names.json`` of ``harness/framework/names``, which reads it: facts about which names there are,
of which kind, and which names of two modules are one object. Nothing else of MindSpore is in it.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sys
import types
from pathlib import Path

TARGET = Path(__file__).resolve().parents[2] / "harness" / "framework" / "names" / "names.json"

#: modules no script imports from: generators of source, the profiler's and rewriter's inner parts
LEFT_OUT = ("ops_generate", "profiler.analysis", "profiler.common", "profiler.platform", "rewrite.parsers",
            "rewrite.common", "rewrite.node", "rewrite.ast_helpers", "rewrite.sparsify", "rewrite.symbol_tree",
            "ops.auto_generate", "ops.tensor_method", "dataset.engine.validators", "dataset.vision.validators",
            "dataset.audio.validators", "dataset.text.validators", "dataset.transforms.validators", "graph.custom_pass",
            "ops.operations.manually_defined", "default_config", "multiprocessing", "parallel.cluster",
            "ops.composite.multitype_ops", "parallel.transform_safetensors")  # fmt: skip
#: modules with a leading underscore that users' scripts import from all the same
INNER = ("_checkparam", "_extends", "nn.layer", "ops._primitive_cache", "parallel._auto_parallel_context",
         "parallel._ps_context", "parallel._tensor", "parallel._utils", "train._utils", "train.callback._callback",
         "parallel._cost_model_context", "parallel._cell_wrapper")  # fmt: skip
#: where scripts import names with a leading underscore from
WITH_INNER_NAMES = ("common.initializer", "nn.loss", "nn.wrap", "nn.layer", "parallel", "train", "_extends")
#: where a name is at home, best first: the shorter place is what users write
HOMES = ("", "nn", "ops", "mint", "mint.nn", "mint.nn.functional", "train", "dataset", "dataset.vision",
         "dataset.transforms", "dataset.text", "dataset.audio", "amp", "communication", "numpy", "common",
         "common.initializer", "mindrecord", "profiler", "parallel")  # fmt: skip


def modules() -> dict[str, types.ModuleType]:
    """Every module worth a place, by its name without ``mindspore.``.

    A name of a package that hides the module of that name does so until that module is imported; it is kept as the
    package has it first.
    """
    root = importlib.import_module("mindspore")
    first = {module: dict(vars(module)) for name, module in sys.modules.items() if name.startswith("mindspore")}
    found = {"": root}
    names = [info.name.partition(".")[2] for info in pkgutil.walk_packages(root.__path__, "mindspore.")]
    for name in [*names, *INNER]:
        hidden = any(part.startswith("_") for part in name.split("."))
        left = any(name == out or name.startswith(out + ".") for out in LEFT_OUT)
        if left or (hidden and name not in INNER):
            continue
        try:
            found[name] = importlib.import_module(f"mindspore.{name}")
        except Exception as error:
            print(f"left out: {name}: {type(error).__name__}: {error}", file=sys.stderr)
    for module, had in first.items():
        for name, value in had.items():
            if not isinstance(value, types.ModuleType) and isinstance(vars(module).get(name), types.ModuleType):
                setattr(module, name, value)
    return found


def kind(value: object) -> str:
    """What a name stands for: a module, a class, a function (or another callable), a value."""
    if isinstance(value, types.ModuleType):
        return "module"
    return "class" if isinstance(value, type) else "function" if callable(value) else "value"


def is_public(module: types.ModuleType, name: str, value: object) -> bool:
    """Whether a user can mean MindSpore by this name of ``module``."""
    if name.startswith("__"):
        return False
    listed = name in getattr(module, "__all__", ())
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] == "mindspore"
    home = str(getattr(value, "__module__", "") or "")
    ours = home.partition(".")[0] == "mindspore" or type(value).__module__.partition(".")[0] == "mindspore"
    if name.startswith("_"):
        place = module.__name__.partition(".")[2]
        inner = any(place == top or place.startswith(top + ".") for top in WITH_INNER_NAMES)
        return inner and ours and home == module.__name__ and callable(value)
    return listed or ours


def table() -> dict[str, dict[str, str]]:
    """For each module: names by kind, or by the module (``=ops``) where the same object is at home."""
    found = modules()
    home: dict[int, str] = {}
    result: dict[str, dict[str, list[str]]] = {}
    order = [name for name in HOMES if name in found] + sorted(set(found) - set(HOMES), key=lambda n: (n.count("."), n))
    for name in order:
        module, rows = found[name], {}
        for member in sorted(vars(module)):
            value = vars(module)[member]
            if not is_public(module, member, value):
                continue
            if isinstance(value, types.ModuleType):
                row = f"module {value.__name__.partition('.')[2]}"
            else:
                simple = isinstance(value, (int, float, str, bool, tuple, type(None)))
                place = None if simple else home.setdefault(id(value), f"{name}:{member}")
                where, _, own = (place or f"{name}:{member}").partition(":")
                row = kind(value) if where == name else f"={where}"
                if own != member:
                    row = kind(value) if where == name else f"={where}:{own}"
            rows.setdefault(row, []).append(member)
        result[name] = rows
    nn, train = found["nn"], found["train"]
    members = {"Tensor": found[""].Tensor, "Parameter": found[""].Parameter, "Cell": nn.Cell,
               "Optimizer": nn.Optimizer, "Model": train.Model, "Dataset": found["dataset"].Dataset}  # fmt: skip
    for owner, cls in members.items():
        rows = {}
        for member in dir(cls):
            if not member.startswith("_") and not hasattr(object, member):
                value = getattr(cls, member, None)
                rows.setdefault("function" if callable(value) else "value", []).append(member)
        result[f"{owner}:"] = rows
    return {name: {row: " ".join(members) for row, members in rows.items()} for name, rows in result.items()}


if __name__ == "__main__":
    os.environ.setdefault("GLOG_v", "4")
    import mindspore

    data = {"version": mindspore.__version__, "modules": table()}
    TARGET.write_text(json.dumps(data, indent=0, sort_keys=True, ensure_ascii=True) + "\n", encoding="utf-8")
