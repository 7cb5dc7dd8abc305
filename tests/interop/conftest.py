"""Fixtures that find the real tools.

Without a tool its tests are skipped; they fail where ``MSDUMP_INTEROP_REQUIRED`` is set.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.differential.side import Side
from tests.interop.oracles import ORACLES
from tests.interop.table import Table

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """For ``--dist loadgroup``: the tests of a file run in one process, since they share what they run; those of a file
    that says ``APART`` share nothing, and go where there is room."""
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            apart = getattr(getattr(item, "module", None), "APART", False)
            if item.get_closest_marker("interop") is not None and not apart:
                item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def oracle_python(name: str) -> str:
    """The interpreter that has oracle ``name``, from its environment variable."""
    variable = ORACLES[name].variable
    python = os.environ.get(variable)
    if python and os.access(python, os.X_OK):
        return python
    given = f"{variable}={python!r} is not a program" if python else f"{variable} is not set"
    reason = f"{name} is needed: {given}; `tox -e interop` installs it"
    if os.environ.get("MSDUMP_INTEROP_REQUIRED"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def mindspore_python() -> str:
    """Interpreter with MindSpore 2.10.0."""
    return oracle_python("mindspore")


@pytest.fixture(scope="session")
def mindspore_side(mindspore_python: str) -> Iterator[Side]:
    """A process with MindSpore 2.10.0 imported, that runs scripts in forks: the import takes half of what they take."""
    side = Side(mindspore_python, own=False)
    yield side
    side.close()


@pytest.fixture(scope="session")
def own_side() -> Iterator[Side]:
    """The same of this project, as under ``msdump run``."""
    side = Side(sys.executable, own=True)
    yield side
    side.close()


@pytest.fixture(scope="session")
def both(own_side: Side, mindspore_side: Side) -> tuple[Side, Side]:
    """This project and MindSpore 2.10.0, for scripts that run on both."""
    return own_side, mindspore_side


@pytest.fixture(scope="session")
def mindspore_2_7_python() -> str:
    """Interpreter with MindSpore 2.7.0, the last release with the Running Data Recorder."""
    return oracle_python("mindspore-2.7")


@pytest.fixture(scope="session")
def mindinsight_python() -> str:
    """Interpreter with MindInsight 2.3.1."""
    return oracle_python("mindinsight")


@pytest.fixture(scope="session")
def tensorboard_python() -> str:
    """Interpreter with TensorBoard 2.20.0."""
    return oracle_python("tensorboard")


@pytest.fixture(scope="session")
def torch_python() -> str:
    """Interpreter with PyTorch 2.13.0 and what this project needs."""
    return oracle_python("torch")


@pytest.fixture(scope="session")
def msprobe_python() -> str:
    """Interpreter with mindstudio-probe 26.2.0 (msprobe and msaccucmp) and MindSpore."""
    return oracle_python("msprobe")


@pytest.fixture(scope="session")
def torch_msprobe_python() -> str:
    """Interpreter with mindstudio-probe 26.2.0 and PyTorch 2.13.0."""
    return oracle_python("torch-msprobe")


@pytest.fixture(scope="session")
def msprobe_side(msprobe_python: str) -> Iterator[Side]:
    """A process that runs msprobe's command in forks: its imports take most of what a run takes."""
    side = Side(msprobe_python, own=False, preload=HERE / "msprobe_tool.py")
    yield side
    side.close()


@pytest.fixture(scope="session")
def mindinsight_side(mindinsight_python: str) -> Iterator[Side]:
    """The same of MindInsight."""
    side = Side(mindinsight_python, own=False, preload=HERE / "mindinsight_view.py")
    yield side
    side.close()


@pytest.fixture(scope="session")
def whole_table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    """Collects what was compared; written at the end where ``MSDUMP_INTEROP_TABLE`` names a file."""
    table = Table()
    yield table
    target = os.environ.get("MSDUMP_INTEROP_TABLE")
    if target:
        base = tmp_path_factory.getbasetemp()  # with several workers, a directory of all of them holds each one's
        table.write(Path(target), (base.parent if hasattr(request.config, "workerinput") else base) / "table.json")


@pytest.fixture(scope="module")
def interop_table(whole_table: Table, request: pytest.FixtureRequest) -> Table:
    """The table, told whose sections come next."""
    whole_table.module = request.module.__name__
    return whole_table
