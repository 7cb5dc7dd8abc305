"""The ``msdump`` marker and the fixture."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


def add(gate: pytest.Pytester, text: str) -> None:
    """Adds tests to the shared test file."""
    gate.makepyfile(test_nets=(gate.path / "test_nets.py").read_text() + "\n" + text)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "body",
    [
        "@pytest.mark.msdump\ndef test_bad():\n    pass",
        "def test_bad(msdump):\n    pass",
        "def test_bad(msdump):\n    msdump.run(lambda: None)",
        "def test_bad(msdump):\n    Net()(X)",
        "import unittest\nclass TestBad(unittest.TestCase):\n    def test_bad(self):\n        pass",
    ],
    ids=["marker only", "fixture only", "nothing dumped", "outside of run", "unittest"],
)
@pytest.mark.parametrize("act", ["--msdump", "--msdump-regen"])
def test_a_gate_test_that_compared_nothing_fails(nets: pytest.Pytester, body: str, act: str) -> None:
    add(nets, body)
    result = nets.runpytest(act, "-k", "test_bad")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["msdump: nothing was compared: *", "*not compared 1*"])


def test_a_test_that_fails_itself_shows_its_own_failure(made: pytest.Pytester) -> None:
    add(made, "def test_bad(msdump):\n    msdump.run(Net(), X)\n    assert 1 == 2, 'mine'")
    result = made.runpytest("--msdump", "-k", "test_bad")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*AssertionError: mine*", "compared 0 slots in 0 runs; * not compared 1; *"])


def test_run_gives_the_output_of_the_last_step(made: pytest.Pytester) -> None:
    add(
        made,
        """
def test_output(msdump):
    seen = []
    def program(x):
        seen.append(x)
        return len(seen), Net()(x)
    count, output = msdump.run(program, X, steps=3)
    assert count == 3
    assert output.asnumpy().tolist() == (X.asnumpy() * 2 + 1).tolist()
    assert (msdump.backend, msdump.mode, repr(msdump)) == ("cpu", "tensor", "<msdump cpu-tensor>")
""",
    )
    made.runpytest("--msdump-regen", "-k", "test_output").assert_outcomes(passed=1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("steps", ["0", "-1", "True", "1.0", "'2'", "None"])
def test_steps_are_checked(made: pytest.Pytester, steps: str) -> None:
    add(made, f"def test_bad(msdump):\n    msdump.run(Net(), X, steps={steps})")
    result = made.runpytest("--msdump", "-k", "test_bad")
    result.stdout.fnmatch_lines(["*ValueError: msdump.run: steps must be an int of at least 1, got *"])


def test_train_runs_a_step_per_batch(made: pytest.Pytester) -> None:
    add(
        made,
        """
def test_train(msdump):
    from harness.train_probe import nothing

def test_training(msdump):
    net = nn.Dense(2, 1)
    step = nn.SGD(net.trainable_params(), learning_rate=0.0125)
    label = Tensor(np.ones((3, 1), np.float32))
    losses = msdump.train(net, nn.MSELoss(), step, [(X, label)] * 3)
    values = [float(loss.asnumpy()) for loss in losses]
    assert len(values) == 3 and values[0] > values[1]
""".replace("def test_train(msdump):\n    from harness.train_probe import nothing\n", ""),
    )
    made.runpytest("--msdump-regen", "-k", "test_training").assert_outcomes(passed=1)
    made.runpytest("--msdump", "-k", "test_training").assert_outcomes(passed=1)


def test_train_needs_a_batch(made: pytest.Pytester) -> None:
    add(made, "def test_bad(msdump):\n    msdump.train(Net(), None, None, [])")
    made.runpytest("--msdump", "-k", "test_bad").stdout.fnmatch_lines(
        ["*ValueError: msdump.train: at least one batch*"]
    )


def test_several_runs_are_one_capture(made: pytest.Pytester) -> None:
    """As in one process under MindSpore: another network is another graph, the same one goes on counting steps."""
    from harness.store import GoldenStore

    add(
        made,
        """
def test_several(msdump):
    net = Net()
    msdump.run(net, X)
    msdump.run(Net(7.0), X)
    msdump.run(net, X)
""",
    )
    made.runpytest("--msdump-regen", "-k", "test_several").assert_outcomes(passed=1)
    with GoldenStore.open(made.path / "golden/test_nets/test_several.h5") as store:
        keys = store.run("cpu", "tensor").index.keys
    assert len(keys) == len(set(keys)) == 24
    assert {key.graph for key in keys} == {0, 1}
    assert len({key.iteration for key in keys if key.graph == 0}) == 2
    made.runpytest("--msdump", "-k", "test_several").assert_outcomes(passed=1)


def test_weights_do_not_depend_on_what_ran_before(gate: pytest.Pytester) -> None:
    text = (
        "import numpy as np, pytest\nfrom harness import Tensor, nn\n"
        "X = Tensor(np.ones((1, 4), np.float32))\n"
        "def test_first(msdump):\n    msdump.run(nn.Dense(4, 4), X)\n"
        "def test_last(msdump):\n    msdump.run(nn.Dense(4, 4), X)\n"
    )
    gate.makepyfile(test_dense=text)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
    gate.runpytest("--msdump", "-k", "test_last").assert_outcomes(passed=1)


def test_numpys_generator_and_the_mode_are_given_back(gate: pytest.Pytester) -> None:
    gate.makepyfile(
        """
        import numpy as np
        from harness import Tensor, context, ops

        def test_before(): np.random.seed(5)
        def test_gate(msdump):
            msdump.run(lambda: None)
        def test_after():
            expected = np.random.RandomState(5).rand()
            assert np.random.rand() == expected
            assert context.get_context("mode") == context.PYNATIVE_MODE
        """
    )
    gate.runpytest("--msdump", "-p", "no:randomly").assert_outcomes(passed=2, failed=1)


def test_expected_failures_stay_expected(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (made.path / "test_nets.py").read_text()
    made.makepyfile(test_nets=text.replace("def test_one", "@pytest.mark.xfail(strict=True)\ndef test_one"))
    monkeypatch.setenv("ADDED", "1.5")
    made.runpytest("--msdump").assert_outcomes(passed=3, xfailed=1)


def test_a_test_may_skip_itself(made: pytest.Pytester) -> None:
    add(made, "def test_skips(msdump):\n    pytest.skip('not today')")
    result = made.runpytest("--msdump")
    result.assert_outcomes(passed=4, skipped=1)
    result.stdout.fnmatch_lines(["*not compared 0; skipped 1; *", "skipped 1: not today"])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("'cpu'", "*marker msdump takes backends=, *; got 'cpu'*"),
        ("backend='cpu'", "*marker msdump takes backends=, *; got backend*"),
        ("backends=3", "*marker msdump(backends=...): a name or a sequence of names is accepted, got 3*"),
        ("backends=[]", "*at least one name is needed*"),
        ("modes=['tensor', 1]", "*marker msdump(modes=...): a name or a sequence*"),
        ("level='all'", "*marker msdump(level=...): tensors or digest or everything is accepted, got 'all'*"),
    ],
)
def test_a_wrong_marker_is_a_collection_error(gate: pytest.Pytester, marker: str, message: str) -> None:
    gate.makepyfile(f"import pytest\n@pytest.mark.msdump({marker})\ndef test_bad(msdump): pass")
    result = gate.runpytest("--msdump")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])


@pytest.mark.long
def test_the_closest_marker_wins_argument_by_argument(nets: pytest.Pytester) -> None:
    from pytest_msdump.variants import marker_arguments

    add(nets, "@pytest.mark.msdump(level='digest')\nclass TestMore:\n"
        "    @pytest.mark.msdump(tolerance=1e-3, level='tensors')\n    def test_more(self, msdump): pass")  # fmt: skip
    item = next(each for each in nets.getitems((nets.path / "test_nets.py").read_text()) if "test_more" in each.name)
    assert marker_arguments(item) == {"tolerance": 1e-3, "level": "tensors"}


def test_a_tolerance_admits_what_it_says(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "1.0625")
    text = (made.path / "test_nets.py").read_text()
    made.makepyfile(test_nets=text.replace("mark.msdump\n", "mark.msdump(tolerance=0.125)\n"))
    result = made.runpytest("--msdump")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["test_nets.py::test_one * cpu * tensor * 8 * 6 * 2 * 0 * 0 * 0 * 0"])
    made.makepyfile(test_nets=text.replace("mark.msdump\n", "mark.msdump(tolerance={'Add': 0.001})\n"))
    made.runpytest("--msdump").assert_outcomes(passed=3, failed=1)


def test_a_wrong_tolerance_fails_the_test(made: pytest.Pytester) -> None:
    text = (made.path / "test_nets.py").read_text()
    made.makepyfile(test_nets=text.replace("mark.msdump\n", "mark.msdump(tolerance='loose')\n"))
    result = made.runpytest("--msdump", "-k", "test_one")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["msdump: *cannot be checked: *'loose'*"])


@pytest.mark.long
@pytest.mark.usefixtures("twin")
def test_against_holds_a_run_against_another_backends(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (made.path / "test_nets.py").read_text()
    made.makepyfile(test_nets=text.replace("mark.msdump\n", "mark.msdump(against='twin')\n"))
    result = made.runpytest("--msdump", "-k", "test_one")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["msdump: no golden for run twin/tensor of *", "*against= asks for it*"])
    made.runpytest("--msdump-regen", "--msdump-backend=twin").assert_outcomes(passed=4)
    result = made.runpytest("--msdump")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        [
            "test_nets.py::test_one * cpu * tensor * 8 * 8 * 0 * 0 * 0 * 0 * 0",
            "test_nets.py::test_one * cpu ~ twin * tensor * 8 * 8 * 0 * 0 * 0 * 0 * 0",
            "*unused goldens 0",
        ]
    )
    monkeypatch.setenv("ADDED", "1.5")
    made.runpytest("--msdump-regen").assert_outcomes(passed=4)
    result = made.runpytest("--msdump")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*differs from *test_one.h5, run twin/tensor", "*cpu ~ twin*"])


@pytest.mark.long
def test_each_backend_in_its_own_modes(made: pytest.Pytester) -> None:
    text = (made.path / "test_nets.py").read_text()
    marker = "mark.msdump(backends={'cpu': 'tensor', 'gpu': ('tensor', 'statistic'), 'ascend-o1': ['full']})\n"
    made.makepyfile(test_nets=text.replace("mark.msdump\n", marker))

    def ids(*arguments: str) -> list[str]:
        lines = made.runpytest("--collect-only", "-q", "-k", "test_one", *arguments).outlines
        return [line.partition("[")[2].rstrip("]") for line in lines if "::" in line]

    assert ids() == ["cpu-tensor", "gpu-tensor", "gpu-statistic", "ascend-o1-full"]
    assert ids("--msdump-mode=statistic,tensor") == ["cpu-tensor", "gpu-statistic", "gpu-tensor"]
    assert ids("--msdump-backend=gpu") == ["gpu-tensor", "gpu-statistic"]
    assert ids("--msdump-backend=gpu,ascend-o0", "--msdump-mode=tensor") == ["gpu-tensor", "ascend-o0-tensor"]
    made.runpytest("--msdump-regen", "-k", "test_one").assert_outcomes(passed=4)
    result = made.runpytest("--msdump", "-k", "test_one", "--msdump-backend=gpu")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["msdump: check, backends gpu (emulated), *"])


@pytest.mark.long
def test_one_backend_is_held_against_another(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Emulated devices stand beside one another by slot, in every mode; a mode the other lacks, beside its tensors."""
    text = (made.path / "test_nets.py").read_text()
    marker = "mark.msdump(backends={'cpu': 'tensor', 'gpu': ('tensor', 'statistic')}, against={'gpu~cpu': 'default'})\n"
    made.makepyfile(test_nets=text.replace("mark.msdump\n", marker))
    made.runpytest("--msdump-regen", "-k", "test_one").assert_outcomes(passed=3)
    made.runpytest("--msdump", "-k", "test_one").assert_outcomes(passed=3)
    monkeypatch.setenv("ADDED", "1.5")
    made.runpytest("--msdump-regen", "-k", "test_one", "--msdump-backend=gpu").assert_outcomes(passed=2)
    result = made.runpytest("--msdump", "-k", "test_one", "--msdump-backend=gpu")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*differs from *test_one.h5, run cpu/tensor", "*gpu ~ cpu*statistic*"])


def test_the_fixture_by_name(made: pytest.Pytester) -> None:
    add(made, "@pytest.mark.msdump\ndef test_named(request):\n    request.getfixturevalue('msdump').run(Net(), X)")
    made.runpytest("--msdump-regen", "-k", "test_named").assert_outcomes(passed=1)
    made.runpytest("--msdump", "-k", "test_named").assert_outcomes(passed=1)
