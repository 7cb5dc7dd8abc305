"""Commands that the gate's messages suggest, typed in a shell exactly as they are printed, where they are printed.

Folders, tests and values have odd names, other ones in each test; ``tests/architecture/test_suggestions.py`` holds that
every function that suggests a command is covered.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from tests.plugin.typed import Shell, covers, odd

pytestmark = pytest.mark.long  # some eighty processes

TESTS = """
import os
import numpy as np
import pytest
from harness import Tensor, nn

class Net(nn.Cell):
    def construct(self, x):
        return x * float(os.environ.get("FACTOR", 2))

@pytest.mark.parametrize("name", {names!r})
def test_net(msdump, name):
    msdump.run(Net(), np.arange(4, dtype=np.float32))
    msdump.check("a " + name.replace("\\t", ""), [np.arange(3.0) * float(os.environ.get("FACTOR", 2))])
"""
NOISY = """
import numpy as np

def test_noise(msdump):
    msdump.check("noise", np.random.default_rng().permutation(9) > 4)
"""
TEXT = """
import os

def test_text(msdump):
    msdump.check("a text", os.environ.get("FACTOR", "2"))
"""
REGEN, GATE = "msdump regen", "pytest --msdump"


@pytest.fixture
def project(typed: Shell, request: pytest.FixtureRequest) -> Shell:
    """Two tests whose parameters have odd names, in a directory and a file that have."""
    names = odd(f"{request.node.name} parameters", 2)
    (typed.tests / f"test_{odd(request.node.name + ' file', 3)[2].replace('[', '')}.py").write_text(
        TESTS.format(names=names), encoding="utf-8"
    )
    return typed


def seen_from(start: Path, path: Path) -> str:
    """A path in a shell that is in ``start``."""
    return shlex.quote(os.path.join(".", os.path.relpath(path, start)))


@covers("pytest_msdump.misses:missing moved")
def test_the_golden_of_a_renamed_test_is_moved(project: Shell) -> None:
    start = project.below
    project.type(f"{REGEN} ..", start, 0)
    (file,) = project.tests.glob("test_*.py")
    (project.tests / "deeper").mkdir()
    file.rename(project.tests / "deeper" / f"{file.stem} again.py")
    project.type(f"{GATE} ..", start, 1)
    moves = project.made("pytest_msdump.misses:missing moved")
    assert len(moves) == 5  # a directory, two goldens, their manifests
    for each in moves:
        project.type(each, start, 0)
    project.type(f"{GATE} ..", start, 0)


@covers("pytest_msdump.misses:missing again")
@pytest.mark.parametrize("flags", ["--msdump-golden", "--msdump-backend=gpu -o msdump_level=digest", "--rootdir"])
def test_a_missing_golden_is_made(project: Shell, flags: str) -> None:
    start = project.below
    if flags == "--msdump-golden":
        flags = f"--msdump-golden={shlex.quote(odd('golden', 3, unseen=True)[2])}"
    elif flags == "--rootdir":
        flags = (
            f"--rootdir={seen_from(start, project.project.parent)} -c {seen_from(start, project.project)}/pytest.ini"
        )
    command = f"{GATE} {flags} .."
    project.type(command, start, 1)
    commands = project.made("pytest_msdump.misses:missing again")
    assert len(commands) == 2
    for each in commands:
        project.type(each, start, 0)
    project.type(command, start, 0)


@covers("pytest_msdump.misses:missing again")
def test_a_missing_golden_below_another_configuration_is_made(project: Shell) -> None:
    (project.tests / "pytest.ini").write_text("[pytest]\nmsdump_golden = other\n", encoding="utf-8")
    project.type(GATE, project.project, 1)
    for each in project.made("pytest_msdump.misses:missing again"):
        project.type(each, project.project, 0)
    project.type(GATE, project.project, 0)


@covers(
    "harness.explain.text:see_slot command",
    "pytest_msdump.judge:explain again",
    "pytest_msdump.closing:closing review",
)
def test_what_to_run_where_a_network_differs(project: Shell) -> None:
    start = project.below
    project.type(f"{REGEN} ..", start, 0)
    project.type(f"{GATE} ..", start, 1, env_FACTOR="3")
    for each in project.made("harness.explain.text:see_slot command"):
        assert "float" in project.type(each, start, 0)
    (review,) = project.made("pytest_msdump.closing:closing review")
    assert "moved first" in project.type(review, start, 1)
    regen = project.made("pytest_msdump.judge:explain again")
    assert len(regen) == 2
    for each in regen:
        project.type(each, start, 0, env_FACTOR="3")
    project.type(f"{GATE} ..", start, 0, env_FACTOR="3")


@covers(
    "harness.explain.text:see_slot command", "pytest_msdump.judge:explain again", "harness.cli.blame:_commit command"
)
def test_which_change_it_is(project: Shell) -> None:
    start = project.below
    (file,) = project.tests.glob("test_*.py")
    known = "-c user.name=a -c user.email=a@b.c -c init.defaultBranch=main"
    project.type(f"git {known} init -q ..", start, 0)
    test = f"msdump blame {shlex.quote(os.path.relpath(file, start))}"
    project.type(test, start, 2)
    for each in project.made("harness.cli.blame:_commit command"):
        project.type(each, start, 0)
    project.type(f"git {known} add -A .. && git {known} commit -qm start", start, 0)
    file.write_text(file.read_text(encoding="utf-8").replace('"FACTOR", 2', '"FACTOR", 3'), encoding="utf-8")
    project.type(f"{GATE} ..", start, 1)
    for each in project.made("pytest_msdump.judge:explain again"):
        if "msdump blame" in each:
            assert "Cause, proven by running it again" in project.type(each, start, 1)
        else:
            project.type(each, start, 0)
    for each in project.made("harness.explain.text:see_slot command"):
        project.type(each, start, 0)


@covers(
    "pytest_msdump.gate_run:GateRun.next_steps show",
    "pytest_msdump.gate_run:GateRun.next_steps again",
    "pytest_msdump.closing:closing review",
)
def test_what_to_run_where_a_text_differs(typed: Shell) -> None:
    (typed.tests / "test_text.py").write_text(TEXT, encoding="utf-8")
    start = typed.below
    flag = f"--msdump-golden={shlex.quote(odd('texts', 1)[0])}"
    typed.type(f"{REGEN} {flag} ..", start, 0)
    typed.type(f"{GATE} {flag} ..", start, 1, env_FACTOR="3")
    (show,) = typed.made("pytest_msdump.gate_run:GateRun.next_steps show")
    assert "a text" in typed.type(show, start, 0)
    keep, regen = typed.made("pytest_msdump.gate_run:GateRun.next_steps again")
    typed.type(keep, start, 1, env_FACTOR="3")
    (review,) = typed.made("pytest_msdump.closing:closing review")
    typed.type(review, start, 1)
    typed.type(regen, start, 0, env_FACTOR="3")
    typed.type(f"{GATE} {flag} ..", start, 0, env_FACTOR="3")


@covers("pytest_msdump.learning:learn again", "pytest_msdump.learning:_unstable_text again")
def test_what_to_run_where_nothing_was_learned(typed: Shell) -> None:
    (typed.tests / "test_noise.py").write_text(NOISY, encoding="utf-8")
    start, command = typed.below, "pytest --msdump-learn=5 .."
    regen: list[str] = []
    for site in ("learn", "_unstable_text"):  # both suggest the same
        typed.type(command, start, 1)
        regen = typed.made(f"pytest_msdump.learning:{site} again") or regen
        typed.type(regen[0], start, 0)


@covers("pytest_msdump.closing:closing prune")
@pytest.mark.parametrize(("flag", "inside"), [("--msdump-golden=", True), ("-o msdump_golden=kept", False)])
def test_unused_goldens_are_removed(project: Shell, flag: str, inside: bool) -> None:
    start, there = (project.below, "..") if inside else (project.project, "")
    if flag.endswith("="):
        flag += shlex.quote(odd("unused", 2)[1])
    project.type(f"{REGEN} {flag} {there}", start, 0)
    (test,) = project.tests.glob("test_*.py")
    test.write_text(TESTS.format(names=["other"]), encoding="utf-8")
    project.type(f"{REGEN} {flag} {there}", start, 0)
    project.type(f"{GATE} {flag} {there}", start, 1)
    (prune,) = project.made("pytest_msdump.closing:closing prune")
    assert "removed: " in project.type(prune, start, 0)
    project.type(f"{GATE} {flag} {there}", start, 0)


@covers("pytest_msdump.pruning:_refusal prune", "pytest_msdump.pruning:_refusal collect")
def test_what_to_run_where_prune_refuses(project: Shell) -> None:
    project.type("msdump prune", project.below, 2)
    (prune,) = project.made("pytest_msdump.pruning:_refusal prune")
    broken = project.tests / "test_broken.py"
    broken.write_text("import nothing_of_this_name\n", encoding="utf-8")
    project.type(prune, project.below, 2)
    (collect,) = project.made("pytest_msdump.pruning:_refusal collect")
    assert "nothing_of_this_name" in project.type(collect, project.below)


@covers("harness.store.manifest:_again command", "pytest_msdump.closing:closing describe")
def test_manifests_are_written_anew(project: Shell) -> None:
    start = project.below
    flag = f"--msdump-golden={shlex.quote(odd('manifests', 2)[1])}"
    project.type(f"{REGEN} {flag} ..", start, 0)
    conflict, gone = start.rglob("*.manifest.json")
    conflict.write_text("<<<<<<< ours\n=======\n>>>>>>> theirs\n", encoding="utf-8")
    gone.unlink()
    project.type(f"{GATE} {flag} ..", start, 1)
    project.type(f"msdump verify {seen_from(start, next(start.glob('@*')))}", start, 1)
    sites = ("harness.store.manifest:_again command", "pytest_msdump.closing:closing describe")
    for each in [each for site in sites for each in project.made(site)]:
        project.type(each, start, 0)
    project.type(f"{GATE} {flag} ..", start, 0)


@covers("pytest_msdump.closing:closing verify", "harness.store.verify:verify command")
def test_goldens_that_were_not_read_are_read(project: Shell) -> None:
    project.type(f"{REGEN} ..", project.below, 0)
    project.type(f"{GATE} -v ..", project.below, 0)
    (verify,) = project.made("pytest_msdump.closing:closing verify")
    assert "everything is as written" in project.type(verify, project.below, 0)
    one, _ = project.project.rglob("*.h5")
    project.type(f"msdump verify {seen_from(project.below, one)}", project.below, 2)
    (whole,) = project.made("harness.store.verify:verify command")
    assert "everything is as written" in project.type(whole, project.below, 0)


@covers(
    "pytest_msdump.closing:closing review",
    "pytest_msdump.closing:closing accept",
    "pytest_msdump.session:_closing_lines accept",
)
@pytest.mark.parametrize("flag", ["--msdump-golden=", "-o msdump_golden=golden/mine"])
def test_what_ci_left_is_taken_over(project: Shell, flag: str) -> None:
    start = project.below
    if flag.endswith("="):
        flag += shlex.quote(odd("left", 1)[0])
    project.type(f"{REGEN} {flag} ..", start, 0)
    project.type(f"{GATE} {flag} ..", start, 1, env_FACTOR="3", env_CI="1")
    (review,) = project.made("pytest_msdump.closing:closing review")
    assert "moved first" in project.type(review, start, 1)
    (accept,) = project.made("pytest_msdump.closing:closing accept")
    assert (accept,) == tuple(project.made("pytest_msdump.session:_closing_lines accept"))
    project.type(accept, start, 0)
    project.type(f"{GATE} {flag} ..", start, 0, env_FACTOR="3")


@covers("pytest_msdump.gate:install refuse_reviewed")
@pytest.mark.parametrize("flag", ["--msdump-golden=golden/-its", "-o msdump_golden=mine"])
def test_goldens_are_not_written_in_ci(project: Shell, flag: str) -> None:
    start = project.project
    project.type(f"{REGEN} {flag} .", start, 0)
    project.type(f"{REGEN} {flag} .", start, 2, env_FACTOR="3", env_CI="1")
    made = project.made("pytest_msdump.gate:install refuse_reviewed")
    regen, gate, review = made
    project.type(gate, start, 1, env_FACTOR="3", env_CI="1")
    assert "2 candidates left" in project.type(review, start, 1)
    project.type(regen, start, 0, env_FACTOR="3")
    project.type(gate, start, 0, env_FACTOR="3")


@covers("harness.store.read:_source pull")
def test_pointers_are_replaced(project: Shell) -> None:
    root = project.project
    project.type(REGEN, root, 0)
    (root / ".git").mkdir()
    stores = list((root / "golden").rglob("*.h5"))
    kept = {path: path.read_bytes() for path in stores}
    for path in stores:
        path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", encoding="utf-8")
    # In the place of git: says where it was typed, and with what.
    (root.parent / "tools" / "git").write_text('#!/bin/sh\necho "$*" > "$(pwd)/typed"\n')
    (root.parent / "tools" / "git").chmod(0o755)
    start = project.below
    project.type(f"msdump verify {seen_from(start, root / 'golden')}", start, 1)
    (pull,) = project.made("harness.store.read:_source pull")
    project.type(pull, start, 0)
    assert (start / "typed").read_text() == "lfs pull\n"
    for path, content in kept.items():
        path.write_bytes(content)
    project.type(f"msdump verify {seen_from(start, root / 'golden')}", start, 0)


@covers("pytest_msdump.mistakes:without_mindspore command", "pytest_msdump.mistakes:without_mindspore install")
@pytest.mark.parametrize("inside", [False, True], ids=["module", "test"])
def test_mindspore_is_not_here(typed: Shell, inside: bool) -> None:
    script = typed.below / "a script.py"
    script.write_text("import mindspore\nprint(mindspore.Tensor([7]))\n", encoding="utf-8")
    text = "import mindspore\n\ndef test_it(msdump):\n    pass\n"
    text = "def test_it(msdump):\n    import mindspore\n" if inside else text
    (typed.tests / "test_it.py").write_text(text, encoding="utf-8")
    typed.type(f"{GATE} ..", typed.below, env_HIDDEN="mindspore")
    run, tests = typed.made("pytest_msdump.mistakes:without_mindspore command")
    assert "7" in typed.type(run, typed.below, 0, SCRIPT="a script.py")
    assert "called none of" in typed.type(tests, typed.tests, 1)  # MindSpore is there: the test itself ran
    (install,) = typed.made("pytest_msdump.mistakes:without_mindspore install")
    typed.type(install, typed.below, 0)
