"""Every other name of MindSpore: ``REAL tests/interop/inner_names.py`` under the real MindSpore.

Writes ``inner.json.gz`` of ``harness/framework/names``: the modules that ``names.json`` lacks, with what each name
there is, and the names that it lacks of its own modules. ``=ops:Add`` is an object at home in ``ops``, ``@numpy`` and
``@typing:List`` one of another package. Nothing else of MindSpore is in it.
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import pkgutil
import sys
import types
from pathlib import Path

NAMES = Path(__file__).resolve().parents[2] / "harness" / "framework" / "names"
TARGET = NAMES / "inner.json.gz"


def modules() -> dict[str, types.ModuleType]:
    """Every module, by its name without ``mindspore.``; those that cannot be imported are told."""
    root = importlib.import_module("mindspore")
    found = {"": root}
    walked = pkgutil.walk_packages(root.__path__, "mindspore.", onerror=lambda _name: None)
    for name in sorted(info.name for info in walked):
        try:
            importlib.import_module(name)
        except BaseException as error:
            print(f"left out: {name}: {type(error).__name__}", file=sys.stderr)
    for name, module in sorted(sys.modules.items()):
        if name.startswith("mindspore.") and isinstance(module, types.ModuleType):
            found[name.removeprefix("mindspore.")] = module
    return found


def kind(value: object) -> str:
    """What a name stands for: a class, a function (or another callable), a value."""
    return "class" if isinstance(value, type) else "function" if callable(value) else "value"


def row_of(place: str, member: str, value: object, homes: dict[int, str]) -> str:
    """What the table says of a name."""
    if isinstance(value, types.ModuleType):
        top, _, rest = value.__name__.partition(".")
        return f"module {rest}" if top == "mindspore" else f"@{value.__name__}"
    if isinstance(value, (int, float, str, bool, tuple, list, dict, set, type(None))):
        return "value"
    home = str(getattr(value, "__module__", "") or "")
    name = str(getattr(value, "__name__", member))
    if home.partition(".")[0] != "mindspore" and getattr(sys.modules.get(home), name, None) is value:
        return f"@{home}" + (f":{name}" if name != member else ":")
    where, _, own = homes.setdefault(id(value), f"{place}:{member}").partition(":")
    if (where, own) == (place, member):
        return kind(value)
    return f"={where}" + (f":{own}" if own != member else "")


def table(known: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """For each module the names that ``known`` lacks, by what they are."""
    found, homes = modules(), dict[int, str]()
    for place, rows in known.items():  # what is at home in the table of public names stays so
        for row, names in rows.items():
            if not row.startswith(("=", "module")) and place in found:
                for name in names.split():
                    homes.setdefault(id(vars(found[place]).get(name)), f"{place}:{name}")
    at_home = sorted(found, key=lambda place: (any(part.startswith("_") for part in place.split(".")), place))
    for place in at_home:
        for member, value in vars(found[place]).items():
            if str(getattr(value, "__module__", "")) == f"mindspore.{place}" and not member.startswith("__"):
                homes.setdefault(id(value), f"{place}:{member}")
    result: dict[str, dict[str, str]] = {}
    for place in sorted(found):
        have = {name for names in known.get(place, {}).values() for name in names.split()}
        rows: dict[str, list[str]] = {}
        for member in sorted(set(vars(found[place])) - have):
            if not member.startswith("__") and member.isidentifier():
                rows.setdefault(row_of(place, member, vars(found[place])[member], homes), []).append(member)
        if rows or place not in known:
            result[place] = {row: " ".join(names) for row, names in rows.items()}
    return result


if __name__ == "__main__":
    os.environ.setdefault("GLOG_v", "4")
    import mindspore

    public = json.loads((NAMES / "names.json").read_text(encoding="utf-8"))["modules"]
    data = {"version": mindspore.__version__, "modules": table(public)}
    text = json.dumps(data, separators=(",", ":"), sort_keys=True, ensure_ascii=True)
    TARGET.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
