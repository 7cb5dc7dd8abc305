"""One rule for all entry points: a class or an instance, checked when loaded; a broken one is left out with one line
that names its distribution; a taken name is an error; membership does not depend on what was asked before."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from importlib.metadata import DistributionFinder, entry_points
from pathlib import Path

import pytest

from harness.errors import RegistrationError, UnknownNameError
from harness.registry import Registry, class_of, instance_of, named_somewhere

GROUP = "harness.test_registry"
MODULE = """
class Base:
    required = ("act",)
    name = ""
    def act(self): raise NotImplementedError

class Good(Base):
    name = "good"
    def act(self): return 1

class Unnamed(Base):
    def __init__(self): self.name = "unnamed"
    def act(self): return 2

class Lacking(Base):
    name = "lacking"

class Picky(Base):
    name = "picky"
    def __init__(self, needed): pass
    def act(self): return 3

class Exits(Base):
    name = "exits"
    def __init__(self): raise SystemExit("bye")

GOOD, OTHER, NUMBER = Good(), object(), 3
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of distributions, whose module holds classes of a kind."""
    (tmp_path / "registry_things.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("registry_things", None)


def add(site: Path, name: str, **entries: str) -> None:
    folder = site / f"{name}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"{entry} = {value}" for entry, value in entries.items()]
    (folder / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, ""]))


def registry(of_classes: bool = False) -> Registry:
    import registry_things

    accept = (class_of if of_classes else instance_of)(registry_things.Base)
    made: Registry = Registry("thing", GROUP, lambda: made.register("built-in", registry_things.Good()), accept)
    return made


@pytest.mark.parametrize("entry", ["registry_things:Good", "registry_things:GOOD"])
@pytest.mark.parametrize("of_classes", [False, True])
def test_a_class_or_an_instance_is_accepted(site: Path, entry: str, of_classes: bool) -> None:
    add(site, "ext", good=entry)
    found = registry(of_classes).get("good")
    made = found() if of_classes else found
    assert isinstance(found, type) is of_classes
    assert made.act() == 1


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("nothing_at_all:X", "No module named 'nothing_at_all'"),
        ("registry_things:Nothing", "'registry_things' has no attribute 'Nothing'"),
        ("registry_things:NUMBER", "it is an object of int; a subclass of registry_things.Base is accepted"),
        ("registry_things:OTHER", "it is an object of object"),
        ("registry_things:Lacking", "an object of registry_things.Lacking lacks act"),
        ("registry_things:Picky", "missing 1 required positional argument: 'needed'"),
        ("registry_things:Exits", "SystemExit: bye"),
        ("registry_things:Unnamed", "the entry point is called 'x', and the thing 'unnamed'"),
    ],
)
def test_a_broken_one_is_left_out_with_a_line(
    site: Path, value: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    add(site, "broken", x=value)
    add(site, "ext", good="registry_things:Good")
    things = registry()
    assert list(things) == ["built-in", "good"], "the others stay"
    assert "x" not in things
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("msdump: thing 'x' of distribution broken 1.0 is left out: ")
    assert why in line
    assert things.left_out() == {"x": line.removeprefix("msdump: ")}
    with pytest.raises(UnknownNameError, match=r"no thing is called 'x'; thing 'x' of distribution broken 1\.0"):
        things.get("x")


@pytest.mark.parametrize(
    ("entries", "owner"),
    [
        ({"one": {"built-in": "registry_things:OTHER2"}}, "this project"),
        ({"a": {"good": ""}, "b": {"good": ""}}, "a 1"),
    ],
)
def test_a_taken_name_is_an_error_each_time(site: Path, entries: dict[str, dict[str, str]], owner: str) -> None:
    (site / "registry_things.py").write_text(
        MODULE
        + "\nclass Second(Good): name = ''\nclass Again(Good): pass\nOTHER2 = Second()\nOTHER2.name = 'built-in'\n"
    )
    values = iter(["registry_things:Good", "registry_things:Again"])
    for name, found in entries.items():
        add(site, name, **{entry: value or next(values) for entry, value in found.items()})
    things = registry()
    assert things.get("built-in").act() == 1, "what is built in needs no entry points"
    for act in (lambda: list(things), lambda: "absent" in things, lambda: things.get("absent")):
        with pytest.raises(RegistrationError, match=f"has the name of one of .*{owner}"):
            act()


def test_what_a_decorator_registered_is_not_taken_by_itself(site: Path) -> None:
    add(site, "ext", good="registry_things:Good")
    things = registry()
    import registry_things

    things.register("good", registry_things.Good())
    assert list(things) == ["built-in", "good"]
    assert things.distribution("good") == "ext 1.0"


def test_membership_does_not_depend_on_what_was_asked_before(site: Path) -> None:
    add(site, "ext", good="registry_things:Good")
    acts = {
        "get": lambda things: things.get("good"),
        "list": list,
        "miss": lambda things: "absent" in things,
        "built in": lambda things: things.get("built-in"),
        "in": lambda things: "good" in things,
        "from": lambda things: things.distribution("good"),
    }
    for order in itertools.permutations(acts, 3):
        things = registry()
        for act in order:
            acts[act](things)
            answers = ["good" in things, "built-in" in things, "absent" in things, 3 in things, list(things)]
            assert answers == [True, True, False, False, ["built-in", "good"]], order


def test_threads_find_it_whole(site: Path) -> None:
    add(site, "ext", good="registry_things:Good")
    for _ in range(20):
        things, start, found = registry(), threading.Barrier(6), []

        def ask(things: Registry = things, start: threading.Barrier = start, found: list[bool] = found) -> None:
            start.wait()
            found.append("built-in" in things and things.get("good").act() == 1)

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert found == [True] * 6


def test_what_fails_while_it_is_filled_fails_again(site: Path) -> None:
    """Half of the built-in things would be worse than the error."""
    add(site, "ext")
    things: Registry = Registry("thing", None, lambda: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            list(things)


@pytest.mark.parametrize("folder", ["ext-1.0.dist-info", "ext-1.0.EGG-INFO", "ext.egg/EGG-INFO", "ext-1.0.egg-info"])
@pytest.mark.parametrize("section", ["[{}]", "  [{}]  ", "[other]\na = b:c\n[{}]"])
def test_who_adds_to_a_group_is_seen_before_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, section: str
) -> None:
    place = tmp_path / folder
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: ext\nVersion: 1.0\n")
    (place / "entry_points.txt").write_text(f"{section.format(GROUP)}\ngood = somewhere:Good\n")
    monkeypatch.syspath_prepend(place.parent)
    found = bool(entry_points(group=GROUP))
    assert found or folder == "ext-1.0.EGG-INFO", "the case is one"
    assert named_somewhere(GROUP)
    assert not named_somewhere(f"{GROUP}.of_nobody")


def test_archives_and_other_finders_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "ext-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("ext-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: ext\nVersion: 1.0\n")
        archive.writestr("ext-1.0.dist-info/entry_points.txt", f"[{GROUP}]\ngood = somewhere:Good\n")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(tmp_path / "ext-1.0-py3-none-any.whl")
        assert entry_points(group=GROUP)
        assert named_somewhere(GROUP)
    assert not named_somewhere(GROUP)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, DistributionFinder])
    assert named_somewhere(GROUP)


def test_where_nobody_adds_nothing_slow_is_loaded(tmp_path: Path) -> None:
    code = "import sys; from harness.registry import Registry; found = list(Registry('x', 'harness.of_nobody'))"
    look = f"{code}; sys.exit(found != [] or 'importlib.metadata' in sys.modules)"
    root = str(Path(__file__).parents[1])
    assert subprocess.run([sys.executable, "-S", "-c", look], cwd=tmp_path, env={"PYTHONPATH": root}).returncode == 0
