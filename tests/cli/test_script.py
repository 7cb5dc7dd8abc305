"""A script runs as under ``python``: compared with ``python`` itself, output and exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from harness.cli.script import ScriptNotFoundError, load

ROOT = Path(__file__).resolve().parents[2]
# `-c` code that does what `msdump run` does, less the import alias.
OURS = "import sys; from harness.cli import script; sys.exit(script.run(sys.argv[1], sys.argv[2:]))"
PROGRAMS = {
    "arguments": "import sys; print(sys.argv, sys.path[0])",
    "main": "print(__name__, __file__, __doc__, __spec__, __cached__, __package__, type(__loader__), __loader__.path)",
    "main module": "import __main__; x = 1; print(__main__.x, sorted(vars()) == sorted(vars(__main__)))",
    "neighbour": "import neighbour; print(neighbour.__file__)",
    "exit code": "import sys; sys.exit(7)",
    "exit text": "import sys; sys.exit('no good')",
    "exit nothing": "raise SystemExit",
    "exit bool": "raise SystemExit(True)",
    "uncaught": "def f():\n    raise ValueError('boom')\n\nf()",
    "uncaught with cause": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('x') from e",
    "uncaught group": "raise ExceptionGroup('many', [ValueError(1), TypeError(2)])",
    "syntax": "x = = 1\n",
    "encoding": "# -*- coding: latin-1 -*-\nprint('\u00e9')",
    "hook": "import sys; sys.excepthook = lambda *a: print('hook', a[0].__name__)\n1/0",
    "interrupt": "raise KeyboardInterrupt",
    "atexit": "import atexit; atexit.register(print, 'bye'); print('hi')",
    "generator exit": "raise GeneratorExit",
    "pickle": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))))",
    "annotations": "def f(x: int): pass\nprint(f.__annotations__)",
    "late thread": "import threading, time\nthreading.Thread(target=lambda: (time.sleep(.05), print('late'))).start()",
}


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program with this project in reach."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("place", [".", pytest.param("sub", marks=pytest.mark.long)])
def test_a_script_runs_as_under_python(name: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / place / "neighbour.py").touch()
    path = tmp_path / place / "program.py"
    path.write_text(PROGRAMS[name], encoding="latin-1" if name == "encoding" else "utf-8")
    shown = os.path.join(place, "program.py") if place == "sub" else "program.py"
    expected = run(sys.executable, shown, "--flag", "-x", cwd=tmp_path)
    found = run(sys.executable, "-c", OURS, shown, "--flag", "-x", cwd=tmp_path)
    assert found.stdout == expected.stdout
    assert _less_launcher(found.stderr, name) == expected.stderr
    assert found.returncode == expected.returncode


def _less_launcher(text: str, name: str) -> str:
    """An interrupt passes through the launcher, whose frames stay in its traceback."""
    if name != "interrupt":
        return text
    lines = text.splitlines(keepends=True)
    start = next(at for at, line in enumerate(lines) if "program.py" in line)
    return "".join([lines[0], *lines[start:]])


def test_an_interrupted_script_dies_of_the_signal(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("raise KeyboardInterrupt")
    assert run(sys.executable, "-c", OURS, "program.py", cwd=tmp_path).returncode == -signal.SIGINT


def test_a_missing_script_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScriptNotFoundError, match=r"cannot open script .*no\.py.*: No such file"):
        load(str(tmp_path / "no.py"))
    with pytest.raises(ScriptNotFoundError, match="Is a directory"):
        load(str(tmp_path))


def test_the_traceback_starts_in_the_script(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAMS["uncaught"]))
    done = run(sys.executable, "-c", OURS, "program.py", cwd=tmp_path)
    assert "script.py" not in done.stderr
    assert done.stderr.count("File ") == 2


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("from harness.framework.nn import Conv2D", "module 'mindspore.nn' has no attribute 'Conv2D', here or in"),
        ("from harness.errors import Nothing", ""),
        ("from os import nothing", ""),
    ],
)
def test_a_name_the_harness_lacks_is_told_on_import(tmp_path: Path, line: str, told: str) -> None:
    (tmp_path / "program.py").write_text(line)
    expected = run(sys.executable, "program.py", cwd=tmp_path).stderr
    found = run(sys.executable, "-c", OURS, "program.py", cwd=tmp_path).stderr
    if told:
        assert f"ImportError: cannot import name 'Conv2D': {told}" in found
    else:
        assert found == expected


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "line",
    [
        "import mindspore.no_such_module",
        "from mindspore.nn import Conv2D",
        "import mindspore; mindspore.no_such_name",
        "import mindspore; mindspore.ops.ormqr(1)",
        "import mindspore; mindspore.nn.Lamb()",
        "import mindspore; mindspore.Tensor([1]).param_info",
        "import mindspore; mindspore.nn.Conv2D",
        "import mindspore; mindspore.run_check()",
        "import mindspore; mindspore.ops.gather(mindspore.Tensor([1.0]), mindspore.Tensor([7]), 0)",
        "import mindspore; mindspore.ops.matmul(mindspore.Tensor([[1.0, 2]]), mindspore.Tensor([[1.0, 2]]))",
        "import mindspore; mindspore.nn.Dense(2, 1)(mindspore.Tensor([1.0, 2, 3]))",
        "import mindspore; mindspore.Tensor([1]).reshape(3)",
        "import mindspore; mindspore.load_checkpoint('none.ckpt')",
        "import mindspore; mindspore.grad(lambda x: int('no number'))(mindspore.Tensor([1.0]))",
    ],
)
def test_no_frame_of_ours_is_shown(tmp_path: Path, line: str) -> None:
    (tmp_path / "program.py").write_text(f"def f():\n    {line}\nf()")
    done = run(sys.executable, "-m", "harness.cli", "run", "program.py", cwd=tmp_path)
    assert done.returncode == 1
    files = [row for row in done.stderr.splitlines() if row.lstrip().startswith("File ")]
    assert len(files) in (2, 3), done.stderr
    assert all("program.py" in row for row in files)


@pytest.mark.long
def test_all_frames_are_shown_on_demand_and_of_a_fault_of_ours(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import mindspore\nmindspore.ops.matmul(*[mindspore.Tensor([[1.0, 2]])] * 2)")
    done = run(sys.executable, "-m", "harness.cli", "-v", "run", "program.py", cwd=tmp_path)
    assert done.stderr.count("File ") > 3
    (tmp_path / "program.py").write_text(
        "import harness.framework.ops.eager as eager\neager.execute = None\n"
        "import mindspore\nmindspore.ops.add(mindspore.Tensor([1.0]), 1)"
    )
    done = run(sys.executable, "-m", "harness.cli", "run", "program.py", cwd=tmp_path)
    assert done.stderr.count("File ") > 1, "a fault of ours is told in full"
    assert done.returncode == 1


@pytest.mark.long
def test_pytest_run_as_a_module_warns_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    (tmp_path / "test_it.py").write_text(
        "import mindspore as ms\n\n\ndef test_it(msdump):\n    msdump.run(ms.nn.ReLU(), ms.Tensor([1.0, -1.0]))\n"
    )
    command = (sys.executable, "-m", "harness.cli", "run", "-m", "pytest", "-q")
    for option, told in (("--msdump-regen", "new 3"), ("--msdump", "compared 3 slots"), ("-q", "")):
        done = run("env", "-u", "CI", *command, option, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert told in done.stdout
        assert "warning" not in done.stdout
