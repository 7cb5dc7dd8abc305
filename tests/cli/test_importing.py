"""``mindspore`` resolves to ``harness``: one object under two names, and a clear error for a missing one."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cli.importing import AliasFinder, install, place

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def aliased() -> Iterator[AliasFinder]:
    """The finder in place for one test; nothing of it stays."""
    before = {name for name in sys.modules if name.split(".")[0] == "mindspore"}
    finder = install()
    yield finder
    sys.meta_path.remove(finder)
    for name in [name for name in sys.modules if name.split(".")[0] == "mindspore"]:
        if name not in before:
            del sys.modules[name]


def python(code: str) -> subprocess.CompletedProcess[str]:
    """Runs ``code`` in a fresh interpreter that finds this project."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_names_are_translated() -> None:
    assert place("mindspore") == ""
    assert place("mindspore.nn.layer.conv") == "nn.layer.conv"
    assert place("mindspore.dataset.vision.c_transforms") == "dataset.vision"


def test_both_names_give_one_module(aliased: AliasFinder) -> None:
    import harness.framework.context

    ours, spec = sys.modules["harness.framework"], sys.modules["harness.framework"].__spec__
    theirs = importlib.import_module("mindspore.context")
    assert theirs is harness.framework.context
    assert sys.modules["mindspore"] is ours
    assert ours.__spec__ is spec
    assert ours.__name__ == "harness.framework"
    assert theirs.__spec__ is not None
    assert theirs.__spec__.name == "harness.framework.context"


def test_from_import_reaches_submodules(aliased: AliasFinder) -> None:
    found: dict[str, object] = {}
    exec("from mindspore import context\nimport mindspore.common.dtype as dtype", found)
    assert found["context"] is importlib.import_module("harness.framework.context")
    assert found["dtype"] is importlib.import_module("harness.framework.common.dtype")


@pytest.mark.long
def test_modules_that_are_part_of_one_of_ours() -> None:
    done = python("""
        from harness.cli import importing
        importing.install()
        import mindspore.dataset.vision.c_transforms as CV
        from mindspore import dataset, nn
        from mindspore.nn.layer.basic import Dense
        from mindspore.nn.loss.loss import LossBase
        from mindspore.nn.wrap.cell_wrapper import WithLossCell
        print(CV is dataset.vision, Dense is nn.Dense, LossBase is nn.LossBase, WithLossCell is nn.WithLossCell)
    """)
    assert done.stdout.split() == ["True"] * 4, done.stderr


def test_what_is_missing_is_named(aliased: AliasFinder) -> None:
    missing = r"'mindspore\.no_such_module': MindSpore 2\.10\.0 has no such module either"
    with pytest.raises(ModuleNotFoundError, match=missing) as caught:
        importlib.import_module("mindspore.no_such_module")
    assert caught.value.name == "mindspore.no_such_module"


def test_a_namesake_of_mindspore_is_left_alone(aliased: AliasFinder) -> None:
    assert aliased.find_spec("mindspore_lite") is None
    assert aliased.find_spec("numpy") is None


def test_installing_twice_gives_one_finder(aliased: AliasFinder) -> None:
    assert install() is aliased
    assert sum(isinstance(finder, AliasFinder) for finder in sys.meta_path) == 1


def test_a_loaded_mindspore_is_refused() -> None:
    done = python(
        """
        import sys, types
        sys.modules["mindspore"] = types.ModuleType("mindspore")
        from harness.cli.importing import install
        install()
        """
    )
    assert done.returncode == 1
    assert "RuntimeError: mindspore is loaded already" in done.stderr


@pytest.mark.usefixtures("aliased")
def test_a_fault_inside_ours_shows_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import harness.framework

    # a module of MindSpore's that is none of ours
    (tmp_path / "safeguard.py").write_text("import not_installed_anywhere\n")
    monkeypatch.setattr(harness.framework, "__path__", [*harness.framework.__path__, str(tmp_path)])
    with pytest.raises(ModuleNotFoundError, match="not_installed_anywhere"):
        importlib.import_module("mindspore.safeguard")


def test_a_module_of_ours_that_is_none_of_mindspores_is_no_module(aliased: AliasFinder) -> None:
    for name in ("mindspore.compile", "mindspore.engines", "mindspore.nn.text"):
        with pytest.raises(ModuleNotFoundError, match="has no such module"):
            importlib.import_module(name)
