"""What a test says of the mistakes its writer makes first: at most six lines each, what to do, and no frame of ours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

HEAD = """
import numpy as np
import pytest
from harness import Tensor, float32, nn, ops
from hypothesis import given, settings, HealthCheck, strategies as st

X = np.ones((2, 4), np.float32)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 2)

    def construct(self, x):
        return self.fc(x)

class Odd(nn.Cell):
    def construct(self, x):
        return x.nothing()

def step(batches):
    net = Net()
    return net, nn.MSELoss(), nn.SGD(net.trainable_params()), batches
"""
#: body of a test, and what its message has to say
MISTAKES = {
    "shape": ("msdump.run(Net(), np.ones((2, 3), np.float32))", "inner dimensions 3 and 4 differ", "float32[2, 3]"),
    "text": ('msdump.run(Net(), "text")', "given: msdump.run(Net, str)", "cells take tensors, numpy arrays"),
    "a_list": ("msdump.run(Net(), [[1.0, 2.0]])", "given: msdump.run(Net, list)", "Tensor([...], float32)"),
    "too_few": ("msdump.run(Net())", "missing a required argument: 'x'", "given: msdump.run(Net)"),
    "objects": ("msdump.run(Net(), np.array([object()]))", "an input of dtype object cannot become a Tensor"),
    "method": ("msdump.run(Odd(), 1.0)", "no attribute 'nothing'", "return x.nothing()"),
    "nobody": ("msdump.run(None, 1.0)", "a cell, a module or a function is accepted, got NoneType"),
    "steps": ("msdump.run(Net(), X, steps=0)", "steps must be an int of at least 1, got 0"),
    "no_batch": ("msdump.train(*step([]))", "at least one batch is needed"),
    "one_batch": ("msdump.train(*step([X]))", "each batch is a tuple (data, label), got ndarray[2, 4]"),
    "bare_pair": ("msdump.train(*step((X, X)))", "each batch is a tuple (data, label)", "one batch alone is given as"),
    "mindspore": ("import mindspore", "MindSpore is not installed here", "`from harness import nn, ops, Tensor`"),
    "fault": ('with msdump.inject("Nothing"): msdump.run(Net(), X)', "no operator 'Nothing' ran; nearest"),
    "nothing": ("pass", "called none of msdump.run, msdump.train and msdump.check"),
    "eager": ("msdump.run(lambda: ops.add(Tensor([1.0]), Tensor([2.0])))", "dumped no tensor", "an nn.Cell"),
    "twice": ('msdump.check("a", 1); msdump.check("a", 1)', "'a' was handed over before in this test; give it another"),
    "object": ('msdump.check("a", object())', "'a' is a object; accepted are numpy arrays"),
    "strings": ('msdump.check("a", np.array(["b"]))', "is an array of dtype <U1; dtypes that can be kept are"),
    "empty": ('msdump.check("a", [])', "'a' holds nothing to compare"),
    "no_name": ('msdump.check(X, 1)', "the name of a value is a printable text"),
    "no_golden": ("msdump.run(Net(), X)", "no golden for run cpu/tensor", "root directory: /", "msdump regen"),
}  # fmt: skip
PROPERTY = """
@given(st.integers())
def test_drawn(msdump, n):
    msdump.run(Net(), X)

@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers())
def test_drawn_all_the_same(msdump, n):
    msdump.run(Net(), X)
"""


def told(output: str) -> dict[str, list[str]]:
    """The lines pytest prints for each failing test."""
    output = output.partition("= FAILURES =")[2].partition("= msdump =")[0]
    parts = re.split(r"^_+ test_(\w+)\[cpu-tensor\] _+$", output, flags=re.MULTILINE)
    return {name: text.strip().splitlines()[:] for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def test_mistakes_in_a_test(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = [f"def test_{name}(msdump):\n    {body}\n" for name, (body, *_) in MISTAKES.items()]
    gate.makepyfile(test_mistakes="\n".join([HEAD, *tests, PROPERTY]))
    found = told(gate.runpytest("--msdump").stdout.str())
    assert found.keys() == MISTAKES.keys() | {"drawn", "drawn_all_the_same"}
    for name, (_, *wanted) in MISTAKES.items():
        text = "\n".join(found[name])
        assert all(each in text for each in wanted), (name, text)
    for name in ("drawn", "drawn_all_the_same"):
        text = "\n".join(found[name])
        assert "@given draws other examples" in text
        assert "function_scoped_fixture" in text
    for name, lines in found.items():
        assert len([line for line in lines if not line.startswith("=")]) <= 6, (name, lines)
        assert not any(re.search(r"(harness|pytest_msdump)/\S+\.py:\d+: ", line) for line in lines), (name, lines)


EXAMPLES = """
from hypothesis import Phase, example

@settings(phases=[Phase.explicit], suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(n=st.integers())
@example(n=2)
@example(n=3)
def test_examples(msdump, n):
    assert n < 9
    msdump.run(Net(), X[:n])
    msdump.check(f"rows {n}", X * n)
"""


def test_explicit_examples_are_held(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_examples=HEAD + EXAMPLES)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    gate.runpytest("--msdump").assert_outcomes(passed=1)
    for changed, told in (("n=3", "n=9"), "*assert 9 < 9*"), (("X * n", "X * (n + (n == 3))"), "*check/rows 3*"):
        gate.makepyfile(test_examples=HEAD + EXAMPLES.replace(*changed))
        result = gate.runpytest("--msdump")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines([told])


def test_the_whole_traceback_is_there_when_asked_for(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_mistakes=HEAD + "\ndef test_it(msdump):\n    msdump.run(Net(), np.ones((2, 3), np.float32))\n")
    assert "trace.py" in gate.runpytest("--msdump", "--full-trace").stdout.str()


def test_a_test_may_expect_the_error(gate: pytest.Pytester) -> None:
    body = (
        "    with pytest.raises(ValueError, match='inner'):\n        msdump.run(Net(), np.ones((2, 3), np.float32))\n"
    )
    gate.makepyfile(test_mistakes=HEAD + f"\ndef test_it(msdump):\n{body}    msdump.check('a', 1)\n")
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)


def test_an_import_of_mindspore_at_the_top(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_mistakes="import mindspore\n")
    result = gate.runpytest("--msdump")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["test_mistakes.py: No module named 'mindspore'", "*MindSpore is not installed here*"])


PROJECT = "def test_it(msdump):\n    msdump.check('a', 1)\n"


@pytest.mark.parametrize("version", [".git", "pytest.ini", "setup.py", None])
def test_goldens_are_found_from_every_directory(
    gate: pytest.Pytester, version: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if version == ".git":
        gate.mkdir(".git")
    elif version is not None:
        (gate.path / version).write_text("[pytest]\n" if version == "pytest.ini" else "")
    deep = gate.mkpydir("tests") / "deep"
    deep.mkdir()
    (deep / "test_a.py").write_text(PROJECT)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    for folder in (gate.path / "tests", deep):
        monkeypatch.chdir(folder)
        result = gate.runpytest("--msdump")
        result.assert_outcomes(passed=1)
        assert result.ret == 0


def test_a_miss_names_where_and_why(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_a=PROJECT)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    result = gate.runpytest("--msdump", "--msdump-golden=goldn")
    result.stdout.fnmatch_lines(
        [
            f"  store: {gate.path}/goldn/test_a/test_it.h5 (the store does not exist)",
            f"  root directory: {gate.path} (it holds golden*",
            f"  near: {gate.path}/golden",
            "  make it: msdump regen --msdump-golden=goldn 'test_a.py::test_it[[]cpu-tensor[]]'",
        ]
    )
    (gate.path / "test_a.py").rename(gate.path / "test_ab.py")
    result = gate.runpytest("--msdump")
    result.stdout.fnmatch_lines(["  near: test_a/test_it.h5"])


def test_another_package_of_our_name(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    (gate.mkpydir("harness") / "__init__.py").write_text("VALUE = 3\n")
    gate.makepyfile(test_a=PROJECT, test_theirs="import harness\n\ndef test_theirs():\n    assert harness.VALUE == 3\n")
    monkeypatch.setenv("PYTHONPATH", str(gate.path), prepend=":")
    result = gate.runpython_c("import pytest, sys; sys.exit(pytest.main(['--msdump']))")
    result.stdout.fnmatch_lines([f"*another package is called harness: {gate.path}/harness", "*its own: *"])
    result.assert_outcomes(passed=1, errors=1)
    assert "INTERNALERROR" not in result.stdout.str()


def test_a_script_that_dumps_nothing_says_why(gate: pytest.Pytester, tmp_path: Path) -> None:
    gate.makepyfile(script="from mindspore import Tensor, ops\nprint(ops.add(Tensor([1.0]), Tensor([2.0])))\n")
    (gate.path / "c.json").write_text(
        '{"common_dump_settings": {"op_debug_mode": 0, "dump_mode": 0, "path": "%s", "net_name": "n",'
        ' "iteration": "all", "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0]},'
        ' "e2e_dump_settings": {"enable": true, "trans_flag": true}}' % (gate.path / "dump")
    )
    code = "from harness.cli import main; import sys; sys.exit(main(['run', '--config', 'c.json', 'script.py']))"
    result = gate.runpython_c(code)
    assert result.ret == 0
    lines = [line for line in result.stderr.lines if line.startswith("msdump:")]
    assert len(lines) == 1
    assert "PyNative" in lines[0]
