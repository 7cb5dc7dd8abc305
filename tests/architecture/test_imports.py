"""Imports point down and never form a cycle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

import pytest

from harness import framework
from tests.architecture.source import MODULES, Import, computed_imports, imports, imports_of, parsed, table

ROWS = {name.strip(): int(row) for row, names, _ in table("rows") for name in names.split(",")}
FRAMEWORK_ROWS = {
    f"framework.{name.strip()}": int(row) for row, names, _ in table("framework rows") for name in names.split(",")
}
SURFACE = tuple(f"harness.{name.strip()}" for names, _ in table("surface") for name in names.split(","))
BELOW_THE_WING = {name.strip() for names, _ in table("below the wing") for name in names.split(",")}
COMPUTED = {name.strip("`") for name, _ in table("computed")}
EXCEPTIONS = {(source.strip("`"), target.strip("`")) for source, target, _ in table("exceptions")}
#: modules that only list names, and look them up when they are used
DOORS = ("harness", "harness.framework", "harness.framework.common")
SAME_ROW = {(source, target) for source, target, _ in table("same row")}


def package(module: str) -> str:
    """``graph`` of ``harness.graph.node``; empty for the facade ``harness`` itself."""
    return [*module.split("."), ""][1]


def room(module: str) -> str:
    """``framework.nn`` of ``harness.framework.nn.cell``; empty for what is not in the wing."""
    parts = module.split(".")
    return ".".join(parts[1:3]) if parts[1:2] == ["framework"] and len(parts) > 2 else ""


def test_every_package_has_a_row() -> None:
    inside = {package(name) for name in MODULES if name.startswith("harness.")}
    assert inside == ROWS.keys(), f"docs/architecture.md and harness/ differ in {sorted(inside ^ ROWS.keys())}"
    rooms = {room(name) for name in MODULES} - {""}
    assert rooms == FRAMEWORK_ROWS.keys(), sorted(rooms ^ FRAMEWORK_ROWS.keys())


def test_imports_point_down() -> None:
    wrong = []
    for found in imports():
        if not (found.source.startswith("harness.") and found.target.startswith("harness.")):
            continue
        source, target = package(found.source), package(found.target)
        if source == target or (source, target) in SAME_ROW or excepted(found):
            continue
        if ROWS[source] <= ROWS[target]:
            wrong.append(f"{found} (row {ROWS[source]} to row {ROWS[target]})")
    assert not wrong, "\n".join(wrong)


def test_imports_inside_the_framework_point_down() -> None:
    wrong = []
    for found in imports():
        source, target = room(found.source), room(found.target)
        up = source and target and source != target and FRAMEWORK_ROWS[source] <= FRAMEWORK_ROWS[target]
        if up and not excepted(found):
            wrong.append(str(found))
    assert not wrong, "\n".join(wrong)


def test_the_framework_is_entered_by_its_surface() -> None:
    wrong = []
    for found in imports():
        inside = found.target.startswith("harness.framework")
        from_outside = not found.source.startswith("harness.framework") and found.source != "harness"
        if inside and from_outside and not (excepted(found) or entered_by(found.target)):
            wrong.append(str(found))
    assert not wrong, "\n".join(wrong)


def entered_by(module: str) -> list[str]:
    """Rows of the surface that give a module: its own name, or that of a package with its modules (``name.*``)."""
    whole = [f"{name}." for name in (module, *(module[: at.start()] for at in re.finditer(r"\.", module)))]
    return [row for row in SURFACE if row == module or (row.endswith(".*") and row[:-1] in whole)]


def test_the_surface_is_needed_and_named_by_the_framework() -> None:
    entered = {
        name
        for found in imports()
        if not found.source.startswith("harness.framework") and found.source != "harness"
        for name in entered_by(found.target)
    }
    assert entered == set(SURFACE)
    used = {package(each.target) for each in imports() if each.source.startswith("harness.framework")}
    assert used - {"framework"} >= BELOW_THE_WING
    told = (framework.__doc__ or "").partition("surface:")[2].partition(".\n")[0]
    assert {f"harness.framework.{name}" for name in re.findall(r"``([\w.*]+)``", told)} == set(SURFACE)


def test_the_framework_imports_nothing_that_dumps_keeps_or_compares() -> None:
    wrong = [
        str(found)
        for found in imports()
        if found.source.startswith("harness.framework")
        and not found.target.startswith("harness.framework")
        and package(found.target) not in BELOW_THE_WING
    ]
    assert not wrong, "\n".join(wrong)


def test_who_records_watches_and_reads_knows_no_framework() -> None:
    rooms = {
        "recording", "graph", "stats", "memory", "devices", "dump", "rdr", "capture", "instruments", "store", "compare",
        "explain",
    }  # fmt: skip
    wrong = [
        str(found)
        for found in imports()
        if package(found.source) in rooms and found.target.startswith("harness.framework")
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
def test_imports_by_a_computed_name_are_listed() -> None:
    there = {name for name, path in MODULES.items() if any(computed_imports(parsed(path)))}
    assert there == COMPUTED, f"docs/architecture.md and the code differ in {sorted(there ^ COMPUTED)}"


def test_same_row_directions_are_one_way_and_in_one_row() -> None:
    for source, target in SAME_ROW:
        assert (target, source) not in SAME_ROW
        assert ROWS[source] == ROWS[target]


def test_harness_knows_no_plugin_and_not_its_own_facade() -> None:
    wrong = [
        str(found)
        for found in imports()
        if found.source.startswith("harness.")
        and (found.target == "harness" or found.target.startswith("pytest_msdump"))
        and not excepted(found)
    ]
    assert not wrong, "\n".join(wrong)


def test_plugin_loads_no_harness() -> None:
    eager: dict[str, set[str]] = {name: set() for name in MODULES}
    for found in imports():
        if not (found.lazy or found.typing_only or found.by_string):
            eager[found.source].add(found.target)
    loaded, waiting = set(), ["pytest_msdump.plugin"]
    while waiting:
        name = waiting.pop()
        if name not in loaded:
            loaded.add(name)
            waiting.extend(eager[name])
    assert not [name for name in loaded if name.startswith("harness")]


def excepted(found: Import) -> bool:
    return (found.source, found.target) in EXCEPTIONS


def test_exceptions_are_needed() -> None:
    there = {(found.source, found.target) for found in imports()}
    assert not EXCEPTIONS - there, "docs/architecture.md excepts imports that are gone"


def circle(found: Iterable[Import]) -> list[str] | None:
    """The first circle of these imports, or None."""
    edges: dict[str, set[str]] = {name: set() for name in MODULES}
    for each in found:
        # A package's __init__ may gather its own modules, which in turn import their package's siblings. The front
        # doors hold every name, as texts; what they are made of may ask for a part of them.
        own = each.source.startswith(each.target + ".")
        if not (own or excepted(each) or (each.by_string and each.source in DOORS)):
            edges[each.source].add(each.target)
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return None


def test_no_circle_of_modules() -> None:
    assert circle(imports()) is None, " <- ".join(circle(imports()) or ())


#: a way to import a module, and whether ``imports`` should call it lazy, for types, by a text
WAYS = (
    ("import {target}", (False, False, False)),
    ("from {package} import {name}", (False, False, False)),
    ("def later():\n    from {package} import {name}", (True, False, False)),
    ("class Kept:\n    async def later(self):\n        import {target} as it", (True, False, False)),
    ("if TYPE_CHECKING:\n    from {package} import {name}", (False, True, False)),
    ("if typing.TYPE_CHECKING:\n    import {target}", (False, True, False)),
    ("def later():\n    return importlib.import_module('{target}')", (True, False, True)),
    ("NAMES = {{'Name': '{target}:Name'}}", (False, False, True)),
)
#: circles that were there once; each is put back
OPENED = [
    *(("harness.framework.dataset.base", f"harness.framework.dataset.{name}")
      for name in ("batches", "iterators", "mapping", "operations", "sources", "splitting")),
    *((f"pytest_msdump.{name}", "pytest_msdump.session")
      for name in ("gate_test", "judge", "learning", "pages", "report", "xdist")),
    ("pytest_msdump.judge", "pytest_msdump.gate"),
    ("pytest_msdump.pages", "pytest_msdump.gate"),
    ("pytest_msdump.gate_test", "pytest_msdump.judge"),
    ("harness.dump.rules", "harness.dump.draft"),
    ("harness.framework.tensor.dispatch", "harness.framework.ops"),
]  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("source", "target"), OPENED)
def test_a_circle_that_was_opened_would_be_seen(source: str, target: str) -> None:
    for written, flags in WAYS:
        found = put_back(written, source, target)
        assert (found.lazy, found.typing_only, found.by_string) == flags, written
        assert circle([*imports(), found]) is not None


def put_back(written: str, source: str, target: str) -> Import:
    """The import of ``target`` that a statement in ``source`` makes."""
    named, _, name = target.rpartition(".")
    statement = ast.parse(written.format(target=target, package=named, name=name))
    (found,) = (each for each in imports_of(source, statement) if each.target == target)
    return found


@pytest.mark.parametrize(
    "target", ["dump", "rdr", "capture", "store", "compare", "report", "backends", "cli", "testing"]
)
@pytest.mark.parametrize("source", ["runtime.recorded", "train.recording", "dataset.base"])
def test_the_wing_would_be_seen_to_import_its_users(source: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for written, _ in WAYS:
        found = put_back(written, f"harness.framework.{source}", f"harness.{target}")
        monkeypatch.setattr(f"{__name__}.imports", lambda found=found: [found])
        with pytest.raises(AssertionError, match=f"imports harness.{target}"):
            test_the_framework_imports_nothing_that_dumps_keeps_or_compares()


@pytest.mark.parametrize(
    ("source", "target"),
    [("ops", "nn.transforms"), ("tensor.dispatch", "ops"), ("ops.base", "compile"), ("tensor.tensor", "nn.cell")],
)
def test_a_room_of_the_wing_would_be_seen_to_import_a_higher_one(
    source: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for written, _ in WAYS:
        found = put_back(written, f"harness.framework.{source}", f"harness.framework.{target}")
        monkeypatch.setattr(f"{__name__}.imports", lambda found=found: [found])
        with pytest.raises(AssertionError):
            test_imports_inside_the_framework_point_down()


@pytest.mark.parametrize(
    "call",
    [
        "importlib.import_module(name)", "_importlib.import_module('.judge', __package__)", "__import__('harness')",
        "import_module(f'harness.{name}')", "import_module('harness' + '.store')",
    ],
)  # fmt: skip
def test_an_import_by_a_computed_name_would_be_seen(call: str) -> None:
    assert list(computed_imports(ast.parse(f"def later(name):\n    return {call}"))) == [2]
    assert not list(computed_imports(ast.parse("import_module('distributed.protocol')")))
