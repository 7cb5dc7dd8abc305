"""First mistakes that are made outside of a test's body, by number; ``test_mistakes.py`` has the others.

Each scene makes the mistake and gives the lines that answer it: at most six, which say what to do.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.cli import main
from harness.progress import Progress
from tests.cli.test_bad_input import POINTER
from tests.cli.test_signs_of_life import Terminal
from tests.plugin.test_mistakes import DRAWN, IN_TESTS, failures, is_short
from tests.plugin.test_mistakes_around import FILES

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parents[2]
PROJECT = "def test_it(msdump):\n    msdump.check('a', 1)\n"
THEIRS = "import harness\n\ndef test_theirs():\n    assert harness.VALUE == 3\n"
NETWORK = "from harness import Tensor, nn\n\ndef test_it(msdump):\n    msdump.run(nn.ReLU(), Tensor([1.0]))\n"
EAGER = "from mindspore import Tensor, ops\nprint(ops.add(Tensor([1.0]), Tensor([2.0])))\n"
CONFIG = {
    "common_dump_settings": {
        "op_debug_mode": 0, "dump_mode": 0, "path": "/nowhere", "net_name": "n", "iteration": "all",
        "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0],
    },
    "e2e_dump_settings": {"enable": True, "trans_flag": True},
}  # fmt: skip


class Place:
    """A project, and what is done in it."""

    def __init__(self, gate: pytest.Pytester, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.gate, self.patch, self._capsys = gate, patch, capsys
        self.path = gate.path

    def golden(self, test: str = PROJECT) -> Path:
        """Makes the golden of one test; gives its store."""
        self.gate.makepyfile(test_a=test)
        (self.path / "pytest.ini").write_text("[pytest]\n")
        self.gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
        return self.path / "golden" / "test_a" / "test_it.h5"

    def check(self, *arguments: str) -> list[str]:
        """Standard output of the gate."""
        return self.gate.runpytest("--msdump", *arguments).stdout.lines

    def refused(self, *arguments: str) -> list[str]:
        """What pytest says of arguments that it refuses."""
        result = self.gate.runpytest(*arguments)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        return [line for line in result.stderr.lines if line]

    def failure(self, *arguments: str) -> list[str]:
        """What is said of the only failing test."""
        (lines,) = failures("\n".join(self.check(*arguments))).values()
        return lines

    def msdump(self, *words: str, code: int = 2) -> list[str]:
        """What a command says; of one that cannot go on, its error."""
        self._capsys.readouterr()
        assert main(list(words)) == code
        found = self._capsys.readouterr()
        return (found.err if code == 2 else found.out).splitlines()


class Scene(NamedTuple):
    """A mistake, what its answer has to say, and how it is made."""

    name: str
    wanted: tuple[str, ...]
    make: Callable[[Place], Iterable[str]]


SCENES: list[Scene] = []


def scene(name: str, *wanted: str) -> Callable[[Callable[[Place], Iterable[str]]], None]:
    """Adds a scene."""
    return lambda make: SCENES.append(Scene(name, wanted, make))


def from_line(lines: Iterable[str], first: str) -> list[str]:
    """The line with ``first``, and those right below it that are indented."""
    found: list[str] = []
    for line in lines:
        if found and not line.startswith(" "):
            break
        if found or first in line:
            found.append(line)
    return found


@scene("01 how long the tests take", "minutes on two free cores")
def _(place: Place) -> Iterable[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.startswith("Run the tests")]


@scene("02 another backend", "no golden for run gpu/tensor", "make it: msdump regen --msdump-backend=gpu 'test_a.py")
def _(place: Place) -> Iterable[str]:
    place.golden(NETWORK)
    return place.failure("--msdump-backend=gpu")


@scene("02 a conflict in a manifest", "`msdump verify --fix golden` rewrites them", "test_it.manifest.json")
def _(place: Place) -> Iterable[str]:
    place.golden().with_suffix(".manifest.json").write_text("<<<<<<< ours\n=======\n>>>>>>> theirs\n")
    return from_line(place.check(), "the manifests do not describe")


@scene("03 another package called harness", "another package is called harness: ", "its own: ", "rename the other one")
def _(place: Place) -> Iterable[str]:
    (place.gate.mkpydir("harness") / "__init__.py").write_text("VALUE = 3\n")
    place.gate.makepyfile(test_a=PROJECT, test_theirs=THEIRS)
    place.patch.setenv("PYTHONPATH", str(place.path), prepend=":")
    result = place.gate.runpython_c("import pytest, sys; sys.exit(pytest.main(['--msdump']))")
    result.assert_outcomes(passed=1, errors=1)
    assert "INTERNALERROR" not in result.stdout.str()
    return from_line(result.stdout.lines, "another package is called")


@scene("04 no golden from here", "/golden/test_a/test_it.h5 (the store", "root directory: /", "no configuration")
def _(place: Place) -> Iterable[str]:
    place.gate.makepyfile(test_a=PROJECT)
    place.patch.chdir(place.gate.mkdir("deep"))
    return place.failure("..")


@scene("05 goldens written in CI", "does not write", "`msdump regen`", "`msdump review`")
def _(place: Place) -> Iterable[str]:
    place.golden()
    place.patch.setenv("CI", "true")
    return place.refused("--msdump-regen")


@scene("05 a candidate left in CI", "take it over: msdump accept .msdump/candidates/")
def _(place: Place) -> Iterable[str]:
    place.gate.makepyfile(test_a=PROJECT)
    place.patch.setenv("CI", "true")
    return [line for line in place.check() if line.startswith("candidate left;")]


@scene("06 import mindspore at the top", "No module named 'mindspore'", "MindSpore is not installed here")
def _(place: Place) -> Iterable[str]:
    place.gate.makepyfile(test_a="import mindspore\n")
    lines = place.check()
    start = next(at for at, line in enumerate(lines) if line.startswith("___"))
    return [line for line in lines[start + 1 :] if not line.startswith("=")][:7]


@scene("07 a pointer of git-LFS", "git lfs pull", "test_it.h5")
def _(place: Place) -> Iterable[str]:
    place.golden().write_bytes(POINTER)
    return place.failure()


@scene("07 verify of a pointer", "git lfs pull", "test_it.h5")
def _(place: Place) -> Iterable[str]:
    place.golden().write_bytes(POINTER)
    return place.msdump("verify", code=1)


@scene("08 goldens nobody owns", "`msdump prune`", "test_a/test_gone.h5")
def _(place: Place) -> Iterable[str]:
    store = place.golden()
    store.with_name("test_gone.h5").write_bytes(store.read_bytes())
    return from_line(place.check(), "unused goldens, which no test owns")


@scene("09 a script that dumps nothing", "PyNative")
def _(place: Place) -> Iterable[str]:
    place.gate.makepyfile(script=EAGER)
    (place.path / "c.json").write_text(json.dumps(CONFIG).replace("/nowhere", str(place.path / "dump")))
    code = "from harness.cli import main; import sys; sys.exit(main(['run', '--config', 'c.json', 'script.py']))"
    result = place.gate.runpython_c(code)
    assert result.ret == 0
    return [line for line in result.stderr.lines if line.startswith("msdump:")]


@scene("10 is it still at work?", "iteration 0", "0/1")
def _(place: Place) -> Iterable[str]:
    terminal = Terminal()
    place.patch.setenv("COLUMNS", "100")
    with Progress("iteration 0", 1, "slots", after=0.0, stream=terminal) as bar:
        bar.step(0)
    return terminal.getvalue().splitlines()


@scene("13 a slip in the golden directory", "near: /", "/golden", "make it: msdump regen --msdump-golden=goldn")
def _(place: Place) -> Iterable[str]:
    place.golden()
    return place.failure("--msdump-golden=goldn")


@scene("13 a test was renamed and changed", "near: test_a/test_it.h5", "make it: msdump regen")
def _(place: Place) -> Iterable[str]:
    place.golden()
    (place.path / "test_a.py").unlink()
    place.gate.makepyfile(test_ab=PROJECT.replace("1", "2"))
    return place.failure()


@scene("13 a test was renamed", "renamed? test_a/test_it.h5 holds what it gives: mkdir -p golden/test_ab && mv ")
def _(place: Place) -> Iterable[str]:
    place.golden()
    (place.path / "test_a.py").rename(place.path / "test_ab.py")
    failure = place.failure()
    subprocess.run(failure[-1].partition("gives: ")[2], shell=True, check=True)
    place.gate.runpytest("--msdump").assert_outcomes(passed=1)
    # A golden that was moved can be written again, and has the name of its test then.
    (place.path / "test_ab.py").write_text(PROJECT.replace("1", "2"))
    place.gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    place.gate.runpytest("--msdump").assert_outcomes(passed=1)
    assert b"test_a.py" not in (place.path / "golden" / "test_ab" / "test_it.manifest.json").read_bytes()
    return failure


@scene("14 where to begin", "written: ", "next: msdump regen")
def _(place: Place) -> Iterable[str]:
    return place.msdump("init", code=0)


@scene("15 a path after a blank", "a path after a blank", "write --msdump-golden=../outside")
def _(place: Place) -> Iterable[str]:
    place.gate.mkdir("outside")
    place.gate.makepyfile(test_a=PROJECT)
    place.patch.chdir(place.gate.mkdir("deep"))
    return place.refused("--msdump", "--msdump-golden", "../outside")


@scene("34 a backend that there is not", "no backend is called 'cpv'; did you mean cpu?")
def _(place: Place) -> Iterable[str]:
    place.gate.makepyfile(test_a=PROJECT)
    return place.refused("--msdump", "--msdump-backend=cpv")


@scene("35 a mode that there is not", "backend cpu has no dump mode 'statistics'; it has")
def _(place: Place) -> Iterable[str]:
    place.gate.makepyfile(test_a=PROJECT)
    return place.refused("--msdump", "--msdump-mode=statistics")


@scene("36 a pattern that fits nothing", "names them", "msdump review")
def _(place: Place) -> Iterable[str]:
    store = place.golden()
    bundle = place.path / "bundle"
    (bundle / "test_a").mkdir(parents=True)
    (bundle / "test_a" / "test_it.h5").write_bytes(store.read_bytes())
    return place.msdump("accept", "bundle", "--only", "nobody")


@scene("37 verify where no goldens are", "golden", "name it")
def _(place: Place) -> Iterable[str]:
    return place.msdump("verify")


@scene("38 an option of the marker that there is not", "tolerence")
def _(place: Place) -> Iterable[str]:
    marked = "import pytest\n\n@pytest.mark.msdump(tolerence=1)\n"
    place.gate.makepyfile(test_a=marked + PROJECT)
    return [line for line in place.check() if "tolerence" in line][:7]


@scene("39 two tests of one golden", "2 tests would share one run of the golden")
def _(place: Place) -> Iterable[str]:
    place.golden()
    return from_line(place.check("--keep-duplicates", "test_a.py", "test_a.py"), "would share")


@scene("40 show of nothing", "there is no such file or directory")
def _(place: Place) -> Iterable[str]:
    return place.msdump("show", "nothing.h5")


@scene("41 regen where no tests are", "no golden was written by the tests of /", "name them")
def _(place: Place) -> Iterable[str]:
    return place.msdump("regen")


@scene("90 a number as the session's tolerance", "stored or exact", "'1e-3'", "@pytest.mark.msdump(tolerance=1e-3)")
def _(place: Place) -> Iterable[str]:
    place.gate.makepyfile(test_a=PROJECT)
    return place.refused("--msdump", "--msdump-tolerance=1e-3")


@scene(
    "91 a tolerance in the ini file",
    "ini option msdump_tolerance: no tolerance rule is called 'big'",
    "stored or exact",
)
def _(place: Place) -> Iterable[str]:
    place.gate.makeini("[pytest]\nmsdump_tolerance = big\n")
    return place.refused("--msdump")


@scene("92 a switch in the ini file", "ini option msdump: ", "'maybe'", "true or false is accepted")
def _(place: Place) -> Iterable[str]:
    place.gate.makeini("[pytest]\nmsdump = maybe\n")
    return place.refused()


@scene("93 no golden directory at all", "--msdump-golden: a directory is accepted, got an empty name")
def _(place: Place) -> Iterable[str]:
    place.gate.makeini("[pytest]\nmsdump_golden =\n")
    return place.refused("--msdump")


@scene("94 a level that there is not", "argument --msdump-level: invalid choice: '2'", "tensors", "digest")
def _(place: Place) -> Iterable[str]:
    return place.refused("--msdump", "--msdump-level=2")


@scene("95 a name in capitals", "no backend is called 'GPU'; did you mean gpu?")
def _(place: Place) -> Iterable[str]:
    return place.refused("--msdump", "--msdump-backend=GPU")


@scene("96 a name of another tool", "no backend is called 'cuda'; known are ascend-o0, ", "gpu")
def _(place: Place) -> Iterable[str]:
    return place.refused("--msdump", "--msdump-backend=cuda")


@scene("97 options of other commands", "unrecognized arguments: --backend", "--msdump-backend=gpu")
def _(place: Place) -> Iterable[str]:
    place.gate.makepyfile(test_a=PROJECT)
    code = "from harness.cli import main; import sys; sys.exit(main(['regen', '--backend', 'gpu']))"
    result = place.gate.runpython_c(code)
    assert result.ret == 2
    return [line for line in result.stderr.lines if line]


@scene("97a an option of other tools", "unrecognized arguments", "--msdump-regen writes the goldens")
def _(place: Place) -> Iterable[str]:
    return place.refused("--msdump", "--snapshot-update")


@scene("97b an option that there is not", "there is no --msdump-repot; did you mean --msdump-report?")
def _(place: Place) -> Iterable[str]:
    return place.refused("--msdump", "--msdump-repot=x.html")


@scene("97c a tolerance as an option", "there is no --msdump-rtol; did you mean @pytest.mark.msdump(tolerance=...)")
def _(place: Place) -> Iterable[str]:
    return place.refused("--msdump", "--msdump-rtol=1e-3")


@scene("98 init in a file", "pytest.ini: a directory is accepted, a file is in its place")
def _(place: Place) -> Iterable[str]:
    (place.path / "pytest.ini").touch()
    return place.msdump("init", "pytest.ini")


@scene("99 a device that there is not", "no device is called 'xla'; known are ascend-o0, ")
def _(place: Place) -> Iterable[str]:
    return place.msdump("backends", "xla")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("each", SCENES, ids=lambda each: each.name)
def test_outside_of_a_test(
    each: Scene, gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Place(gate, monkeypatch, capsys)
    is_short(list(each.make(place)), *each.wanted)


def test_the_list_is_whole() -> None:
    numbers = {int(name[:2]) for name in (*IN_TESTS, *FILES, *(each.name for each in SCENES))} | {11 for _ in DRAWN}
    assert numbers == set(range(1, 100))
