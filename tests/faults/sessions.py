"""Commands that hold a whole pytest session, enumerated like the others: the session runs in the command's own process,
so that its calls are counted."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from harness.ci import VARIABLES as CI_VARIABLES
from harness.cli import main
from harness.store import RunId, manifest, update
from harness.store.bundle import seal
from tests.faults.commands import Command
from tests.plugin.conftest import INSTALLED, PLUGIN, pytest_configure
from tests.store.helpers import CPU, run_data

_TESTS = """
import itertools
import os
import pytest

pytestmark = pytest.mark.msdump
VALUE, SCATTER = (float(os.environ.get(name, 1)) for name in ("VALUE", "SCATTER"))
COUNT = itertools.count()


def test_one(msdump):
    msdump.check("table", {"sine": [VALUE, 2.0], "count": 5})


def test_two(msdump):
    msdump.check("row", [1.0, VALUE + SCATTER * next(COUNT)])
"""


pytest_configure()  # imports everything: each fork would do it again


class _InProcess:
    """Stands for the module ``subprocess``: ``python -m pytest`` runs here."""

    @staticmethod
    def run(command: Sequence[str], env: dict[str, str] | None = None, **more: Any) -> CompletedProcess[str]:
        assert command[1:3] == ["-m", "pytest"]
        os.environ.update(env or {})
        said = io.StringIO()
        captured = more.get("capture_output")
        with redirect_stdout(said if captured else sys.stdout), redirect_stderr(said if captured else sys.stderr):
            code = int(pytest.main([*command[3:]]))
        return CompletedProcess(list(command), code, said.getvalue(), "")


def _surroundings(folder: Path, value: str) -> None:
    for name in CI_VARIABLES:
        os.environ.pop(name, None)
    os.environ |= {"VALUE": value, "SCATTER": "0", "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": "" if INSTALLED else PLUGIN}
    os.environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "" if INSTALLED else "1"}
    sys.dont_write_bytecode = True
    os.chdir(folder)


def _session(value: str, *arguments: str) -> Callable[[Path], None]:
    """``msdump ARGUMENTS`` in a project; its tests hand over ``value``."""

    def act(folder: Path) -> None:
        from harness.cli import prune, regen

        prune.subprocess = regen.subprocess = _InProcess  # type: ignore[assignment, attr-defined]
        _surroundings(folder, value)
        sys.exit(main([*arguments, *([] if "--" in arguments else ["--"]), "-q", "-p", "no:cacheprovider"]))

    return act


def _learn(folder: Path) -> None:
    """``pytest --msdump-learn`` in a project whose tests scatter."""
    _surroundings(folder, "1")
    os.environ["SCATTER"] = "1e-9"
    load = [] if INSTALLED else ["-p", PLUGIN]
    sys.exit(int(pytest.main([*load, "--msdump-learn=3", "--msdump-force", "-q", "-p", "no:cacheprovider"])))


def _project(folder: Path, tests: str = _TESTS) -> None:
    (folder / "test_it.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\n")


def _made(folder: Path) -> None:
    """A project with its goldens, made by a session in a fork: modules and settings of this process stay."""
    _project(folder)
    child = os.fork()
    if child == 0:
        try:
            silent = os.open(os.devnull, os.O_RDWR)
            for descriptor in (1, 2):
                os.dup2(silent, descriptor)
            _session("1", "regen")(folder)
        except SystemExit as end:
            os._exit(end.code if isinstance(end.code, int) else 1)
        finally:
            os._exit(70)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _with_unused(folder: Path) -> None:
    _made(folder)
    golden = folder / "golden"
    update(golden / "gone.h5", "test_gone.py::test_gone", {CPU: run_data()})
    update(golden / "test_it" / "test_one.h5", "test_it.py::test_one", {RunId("gpu", "tensor"): run_data()})
    manifest.rebuild(golden)


def _with_candidates(folder: Path) -> None:
    golden, bundle = folder / "golden", folder / "bundle"
    golden.mkdir()
    bundle.mkdir()
    for name in ("x.h5", "y.h5"):
        update(golden / name, "net", {CPU: run_data()})
        update(bundle / name, "net", {CPU: run_data(3)})
    manifest.rebuild(golden)
    seal(bundle, {})


def _review(answers: str) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        sys.stdin = io.StringIO(answers)
        sys.exit(main(["review", str(folder / "bundle"), "--golden", str(folder / "golden")]))

    return act


def _stale(folder: Path) -> None:
    (folder / "golden").mkdir()
    for name in ("x.h5", "y.h5"):
        update(folder / "golden" / name, "net", {CPU: run_data()})
    manifest.rebuild(folder / "golden")
    (folder / "golden" / "x.manifest.json").unlink()
    (folder / "golden" / "y.manifest.json").write_text("{}")


def _fix(folder: Path) -> None:
    sys.exit(main(["verify", str(folder / "golden"), "--fix"]))


def _init(folder: Path) -> None:
    os.chdir(folder)
    sys.exit(main(["init"]))


def _from_empty(folder: Path) -> None:
    (folder / ".git").mkdir()


SESSIONS = {
    "regen": Command(_made, _session("2", "regen"), whole=("golden/",), session=True),
    "regen, first": Command(_project, _session("1", "regen"), whole=("golden/",), session=True),
    "--msdump-learn": Command(_made, _learn, whole=("golden/",), session=True),
    "prune": Command(_with_unused, _session("1", "prune"), whole=("golden/",), session=True),
    # Each answer takes effect at once: a candidate is whole, its bundle may still hold it.
    "review": Command(_with_candidates, _review("y\ny\n"), whole=("golden/x.", "golden/y."),
                      refusal="there is no golden store in this bundle"),
    "review, dropping": Command(_with_candidates, _review("n\nn\n"),
                                refusal="there is no golden store in this bundle"),
    "verify --fix": Command(_stale, _fix),
    "init": Command(_from_empty, _init),
}  # fmt: skip
