"""Imports point down and never form a cycle."""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.architecture.source import MODULES, Import, imports, table

ROWS = {name.strip(): int(row) for row, names, _ in table("rows") for name in names.split(",")}
FRAMEWORK_ROWS = {
    f"framework.{name.strip()}": int(row) for row, names, _ in table("framework rows") for name in names.split(",")
}
SURFACE = tuple(f"harness.{name.strip()}" for names, _ in table("surface") for name in names.split(","))
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
        known = excepted(found) or any(f"{found.target}.".startswith(f"{name}.") for name in SURFACE)
        if inside and from_outside and not known:
            wrong.append(str(found))
    assert not wrong, "\n".join(wrong)


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


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("harness.framework.dataset.base", "harness.framework.dataset.iterators"),
        ("harness.framework.dataset.base", "harness.framework.dataset.operations"),
        ("harness.framework.dataset.base", "harness.framework.dataset.splitting"),
        ("harness.dump.rules", "harness.dump.draft"),
        ("harness.framework.tensor.dispatch", "harness.framework.ops"),
        ("pytest_msdump.gate_test", "pytest_msdump.session"),
        ("pytest_msdump.judge", "pytest_msdump.gate"),
    ],
)
@pytest.mark.parametrize("kind", ["lazy", "typing_only", "by_string"])
def test_a_circle_that_was_opened_would_be_seen(source: str, target: str, kind: str) -> None:
    flags = {"lazy": False, "typing_only": False, "by_string": False} | {kind: True}
    assert circle([*imports(), Import(source, target, 1, **flags)]) is not None
