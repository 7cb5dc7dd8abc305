"""A shell in a project with odd names, in which commands that messages suggest are typed exactly as they are printed.

Each process of it notes which function of ours made which command (``WATCH``). A test names the functions it covers;
what these made, was printed and was not typed fails it.
"""

from __future__ import annotations

import json
import os
import random
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.ci import VARIABLES as CI_VARIABLES
from tests.subprocesses import INSTALLED, PLUGIN

ROOT = Path(__file__).parents[2]
#: What a name may hold. A dot would be one of a module's; pytest itself splits at two colons, and does not start in a
#: directory with a bracket. A directory of tests with one is entered by the command: what that prints holds there.
ODD = "-@ '\"$`;&|<>(){}*?!#~^%=+,\\äßé日€"
UNSEEN = "\t\x1b\x07\u202e"

#: Runs at the start of every process: notes who asks for a command, and hides packages that ``HIDDEN`` names.
WATCH = """
import json, os, sys

hidden = set(filter(None, os.environ.get("HIDDEN", "").split(",")))

class Hides:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def watch():
    import harness.suggest as suggest

    homes = ("harness.suggest", "pytest_msdump.commands")
    made = suggest.command

    def command(*words, **named):
        typed = made(*words, **named)
        frame, builder = sys._getframe(1), "command"
        while frame is not None and frame.f_globals.get("__name__") in homes:
            frame, builder = frame.f_back, frame.f_code.co_name
        place = frame.f_code.co_qualname.partition(".<locals>")[0]
        with open(os.environ["SUGGESTED"], "a", encoding="utf-8") as file:
            file.write(json.dumps([f"{frame.f_globals['__name__']}:{place} {builder}", typed]) + "\\n")
        return typed

    suggest.command = command

if hidden:
    sys.meta_path.insert(0, Hides())
    import importlib.util

    find = importlib.util.find_spec
    importlib.util.find_spec = lambda name, *more: None if name.partition(".")[0] in hidden else find(name, *more)
if os.environ.get("SUGGESTED"):
    watch()
"""
#: In the place of pip: takes what pip takes, and of this project only extras that there are.
PIP = """
import sys
import tomllib
from packaging.requirements import Requirement

program, command, *given = sys.argv
assert command == "install" and given, sys.argv
with open({project!r}, "rb") as file:
    extras = tomllib.load(file)["project"]["optional-dependencies"]
for each in map(Requirement, given):
    assert each.name != "pytest-msdump" or each.extras <= set(extras), each
"""

Test = Callable[..., None]


def covers(*sites: str) -> Callable[[Test], Test]:
    """Marks a test that types what these functions suggest, each as ``MODULE:FUNCTION BUILDER``."""

    def marked(test: Test) -> Test:
        test.covers = sites  # type: ignore[attr-defined]
        return test

    return marked


def odd(key: str, number: int, *, unseen: bool = False) -> list[str]:
    """Names with odd characters, the same for each ``key``; the first begins with a ``-``, the second with a ``@``."""
    drawn = random.Random(key)
    names = []
    for at in range(number):
        letters = drawn.sample(ODD, 9) + drawn.sample(UNSEEN, 2) * unseen
        drawn.shuffle(letters)
        names.append("-@"[at : at + 1] + "".join(letters).strip() + "x")
    return names


class Shell:
    """A shell, and what was typed and printed in it.

    Attributes:
        project: the project's directory; it has a configuration of pytest.
        tests: its directory of tests.
        below: another directory of it, to start in.
    """

    def __init__(self, home: Path, key: str, environment: dict[str, str]) -> None:
        project, tests, below = odd(key, 3)
        self.project = home / project
        bracket = "[1]" * ("missing_golden" in key)
        self.tests, self.below = self.project / f"{tests}{bracket}", self.project / below
        for folder in (self.tests, self.below):
            folder.mkdir(parents=True)
        (self.project / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        self.environment, self._log = environment, home / "suggested"
        self._typed, self._seen, self._suggested = set[str](), list[str](), list[tuple[str, str]]()

    def type(self, command: str, folder: Path, code: int | None = None, **named: str) -> str:
        """Types ``command`` in ``folder``; gives all it printed.

        Args:
            code: the exit code it must end with; None for any.
            named: what stands in the place of a word in capitals; ``env_X`` sets the variable ``X``.
        """
        self._typed.add(command)
        changed = {name[4:]: value for name, value in named.items() if name.startswith("env_")}
        for name, value in named.items():
            command = command.replace(name, shlex.quote(value)) if name not in changed else command
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=folder, env={**self.environment, "SUGGESTED": str(self._log), **changed},
            capture_output=True, timeout=600, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        printed = (done.stdout + done.stderr).decode(errors="replace")
        made = self._log.read_text(encoding="utf-8").splitlines()[len(self._seen) :] if self._log.exists() else []
        self._seen += made
        found = dict.fromkeys((site, text) for site, text in map(json.loads, made) if text in printed)
        self._suggested += found
        assert code is None or done.returncode == code, f"{command}\n{done.returncode}\n{printed}"
        self.last = printed
        return printed

    def made(self, site: str) -> list[str]:
        """The commands that a function made and that were printed and not typed yet."""
        return list(dict.fromkeys(text for place, text in self._suggested if place == site and text not in self._typed))

    def settle(self, sites: tuple[str, ...]) -> None:
        """Fails unless each of ``sites`` made a command that was printed, and each of those was typed."""
        for site in sites:
            assert any(place == site for place, _ in self._suggested), f"{site} suggested nothing here"
            assert not self.made(site), f"{site} suggested what was not typed: {self.made(site)}"


@pytest.fixture
def typed(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Shell]:
    """A shell outside CI with ``msdump``, ``pytest`` and ``pip`` on its path; settled at the end."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "sitecustomize.py").write_text(WATCH, encoding="utf-8")
    (tools / "stand_in.py").write_text(PIP.format(project=str(ROOT / "pyproject.toml")), encoding="utf-8")
    python = shlex.quote(sys.executable)
    programs = {"msdump": "-m harness.cli", "pytest": "-m pytest", "pip": shlex.quote(f"{tools}/stand_in.py")}
    for name, what in {**programs, "python": ""}.items():
        (tools / name).write_text(f'#!/bin/sh\nexec {python} {what} "$@"\n', encoding="utf-8")
        (tools / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", *CI_VARIABLES))}
    opened = Shell(tmp_path, request.node.name, {
        **kept,
        "PATH": os.pathsep.join((str(tools), kept["PATH"])),
        "PYTHONPATH": os.pathsep.join((str(tools), str(ROOT))),
        # hypothesis' plugin imports, and pytest rewrites, all of hypothesis in every session
        "PYTEST_ADDOPTS": "-p no:hypothesispytest -p no:cacheprovider",
        "PYTEST_PLUGINS": "" if INSTALLED else PLUGIN,
        "PYTHONUTF8": "1",
    })  # fmt: skip
    yield opened
    opened.settle(getattr(request.function, "covers", ()))
