"""A pytester in which the plugin is loaded, and a small test file whose networks can be made to fail."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import harness
import pytest_msdump
from harness.ci import VARIABLES as CI_VARIABLES
from tests.backends import fake
from tests.plugin.stand_in_mindspore import GOOD, HEAD, indented
from tests.plugin.typed import typed  # noqa: F401  (a fixture)

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "pytest_msdump.plugin"
INSTALLED = any(entry.value == PLUGIN for entry in entry_points(group="pytest11"))

NETWORKS = """
    import os
    import numpy as np
    import pytest
    from harness import Parameter, Tensor, nn

    X = Tensor(np.arange(6, dtype=np.float32).reshape(3, 2))
    ADDED = float(os.environ.get("ADDED", 1))


    class Net(nn.Cell):
        def __init__(self, added=ADDED):
            super().__init__()
            self.w = Parameter(Tensor(np.full((3, 2), 2, np.float32)), name="w")
            self.added = added

        def construct(self, x):
            return x * self.w + self.added

"""
TESTS = """
    pytestmark = pytest.mark.msdump

    def test_one(msdump):
        msdump.run(Net(), X)

    @pytest.mark.parametrize("added", [0.5, 3])
    def test_two(msdump, added):
        msdump.run(Net(added), X, steps=2)

    class TestIn:
        def test_class(self, msdump):
            msdump.run(Net(4.0), X)
"""


def pytest_configure() -> None:
    """Imports everything: an inner session in this process forgets what it imports, and numpy can be imported once."""
    for package in (harness, pytest_msdump):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not module.name.endswith("__main__"):
                with contextlib.suppress(ImportError):  # an optional package is missing
                    importlib.import_module(module.name)


@pytest.fixture
def gate(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A pytester outside CI with the plugin loaded once, in this process and in those it starts."""
    for name in (*CI_VARIABLES, "ADDED"):
        monkeypatch.delenv(name, raising=False)
    # Its plugin imports, and pytest rewrites, all of hypothesis in every inner session: seconds each.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    monkeypatch.setenv("PYTEST_PLUGINS", "" if INSTALLED else PLUGIN)
    return pytester


@pytest.fixture
def nets(gate: pytest.Pytester) -> pytest.Pytester:
    """``gate`` with ``test_nets.py``: four tests, of which ADDED in the environment changes the first."""
    gate.makepyfile(test_nets=NETWORKS + TESTS)
    return gate


@pytest.fixture
def plugin_name() -> str:
    """What ``-p no:NAME`` has to say."""
    return "msdump" if INSTALLED else PLUGIN


@pytest.fixture
def twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second backend in this process: the cpu's kernels under another name, with a second mode."""
    from harness.backends import BACKENDS
    from harness.backends.cpu import Cpu

    class Twin(Cpu):
        name = "twin"
        modes = ("tensor", "other")

    BACKENDS.get("cpu")
    monkeypatch.setitem(BACKENDS._things, "twin", Twin())


def stores(gate: pytest.Pytester, folder: str = "golden") -> dict[str, bytes]:
    """Every file of a golden directory and its bytes."""
    root = gate.path / folder
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def files() -> Callable[..., dict[str, bytes]]:
    """Gives the files of a directory of a pytester, ``golden`` by default, with their bytes."""
    return stores


@pytest.fixture
def made(nets: pytest.Pytester, made_once: dict[str, bytes]) -> pytest.Pytester:
    """``nets`` with its goldens made."""
    if not made_once:
        nets.runpytest("--msdump-regen").assert_outcomes(passed=4)
        made_once.update(stores(nets))
    for name, content in made_once.items():
        path = nets.path / "golden" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return nets


@pytest.fixture(scope="session")
def made_once() -> dict[str, bytes]:
    """The goldens of ``nets``, made by the first test that asks: the same for each."""
    return {}


@pytest.fixture
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has the stand-in."""
    return fake.make(tmp_path_factory.mktemp("fake"))


@pytest.fixture
def on_mindspore(gate: pytest.Pytester, python: Path) -> pytest.Pytester:
    """A pytester with two good tests on backend mindspore, which the configuration names."""
    gate.makepyfile(test_nets=HEAD + indented(GOOD))
    gate.makeini(f"[pytest]\nmsdump_backend = mindspore\nmsdump_mindspore = {python}\n")
    return gate
