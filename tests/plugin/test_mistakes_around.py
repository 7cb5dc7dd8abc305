"""First mistakes around a test's body, by number: how a test asks for the fixture, its marker, its file. One session
makes them all; ``test_mistakes.py`` and ``test_mistakes_outside.py`` have the others."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from tests.plugin.test_mistakes import is_short

pytest_plugins = ["pytester"]
IS_FIXTURE = "take it as an argument, `def test_it(msdump):`"
OVER = "is over, and what it gave was judged when its function returned"


class InFile(NamedTuple):
    """A mistake in a file of its own, and what its message has to say."""

    text: str
    wanted: tuple[str, ...]


def _in_file(text: str, *wanted: str) -> InFile:
    return InFile(text, wanted)


def _marked(arguments: str, *wanted: str) -> InFile:
    body = "def test_it(msdump):\n    msdump.check('a', 1)\n"
    return _in_file(f"@pytest.mark.msdump({arguments})\n{body}", *wanted)


FILES = {
    "74 imported": _in_file("import msdump\n", "No module named 'msdump'", IS_FIXTURE),
    "75 imported from the plugin": _in_file(
        "from pytest_msdump import msdump\n", "cannot import name 'msdump'", IS_FIXTURE),
    "76 used outside of tests": _in_file("msdump.check('a', 1)\n", "name 'msdump' is not defined", IS_FIXTURE),
    "77 not taken": _in_file("def test_it():\n    msdump.check('a', 1)\n", "is not defined", IS_FIXTURE),
    "78 marked alone": _in_file(
        "@pytest.mark.msdump\ndef test_it():\n    pass\n", "called none of msdump.run", IS_FIXTURE),
    "78a marked in a unittest": _in_file(
        "import unittest\n@pytest.mark.msdump\nclass Case(unittest.TestCase):\n    def test_it(self):\n        pass\n",
        "called none of msdump.run", "def take(self, msdump): self.msdump = msdump"),
    "79 asked for at run time": _in_file(
        "def test_it(request):\n    request.getfixturevalue('msdump').check('a', 1)\n",
        "would be compared with nothing", "or mark the test @pytest.mark.msdump"),
    "80 from a fixture at run time": _in_file(
        "@pytest.fixture\ndef gate(request):\n    return request.getfixturevalue('msdump')\n\n"
        "def test_it(gate):\n    gate.check('a', 1)\n", "would be compared with nothing", "take the fixture as an"),
    "81 in a doctest": _in_file(
        '"""\n>>> getfixture("msdump").check("a", 1)\n"""\n', "would be compared with nothing"),
    "82 a method of TestCase": _in_file(
        "class TestA(unittest.TestCase):\n    def test_it(self, msdump):\n        pass\n", "takes no fixture",
        "def take(self, msdump): self.msdump = msdump"),
    "83 after its test": _in_file(
        "@pytest.fixture\ndef late(msdump):\n    yield\n    msdump.check('late', 1)\n\n"
        "def test_it(late):\n    pass\n", OVER, "msdump.check('late', 1)"),
    "84 a tolerance in words": _marked("tolerance='big'", "msdump(tolerance=...): ", "'big'", "accepted are 'exact'"),
    "85 a negative tolerance": _marked("tolerance=-1", "rtol is a finite number of at least 0; given was -1"),
    "86 a slip in a backend": _marked("backends='gpuu'", "no backend is called 'gpuu'; did you mean gpu?"),
    "87 a bare number": _marked("1e-3", "marker msdump takes backends=", "got 0.001"),
    "88 a backend in singular": _marked("backend='gpu'", "marker msdump takes backends=", "got backend"),
    "89 two tolerances of others": _marked(
        "against={'gpu': 'loose'}", "msdump(tolerance=...): ", "'loose'", "accepted are 'exact'"),
}  # fmt: skip


def _module(name: str) -> str:
    return "test_" + name.replace(" ", "_")


def _text(name: str) -> str:
    """The file; the test in it has its name, which heads what pytest says of it."""
    text = FILES[name].text.replace("test_it(", f"{_module(name)}(")
    return text if text.startswith('"') else f"import unittest\nimport pytest\n{text}"


@pytest.fixture(scope="module")
def once() -> dict[str, list[str]]:
    """What the session of ``answers`` says, by module; the first that asks runs it."""
    return {}


@pytest.fixture
def answers(gate: pytest.Pytester, once: dict[str, list[str]]) -> dict[str, list[str]]:
    """The lines pytest prints for each file of ``FILES``."""
    if not once:
        gate.makepyfile(**{_module(name): _text(name) for name in FILES})
        result = gate.runpytest("--msdump", "--doctest-modules", "--continue-on-collection-errors", "-v")
        text = result.stdout.str().partition("= msdump =")[0]
        parts = re.split(r"^(?:_+ .*?(test_\d\d\w*).* _+|=+ .* =+)$", text, flags=re.MULTILINE)
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            # A test that ends in an error may have failed, too; errors come first.
            once.setdefault(str(name), body.strip().splitlines())
    return once


@pytest.mark.parametrize("name", FILES)
def test_around_a_test(answers: dict[str, list[str]], name: str) -> None:
    is_short(answers[_module(name)], *FILES[name].wanted)
