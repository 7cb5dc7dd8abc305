"""``msdump.inject``: faults on purpose in a gate test."""

from __future__ import annotations

import pytest

from harness.cli import main
from harness.store import GoldenStore

pytest_plugins = ["pytester"]

TESTS = """
    pytestmark = pytest.mark.msdump

    def test_fails(msdump):
        net = Net()
        msdump.run(net, X)
        with msdump.inject("Mul", iteration=1), pytest.raises(RuntimeError, match="injected"):
            msdump.run(net, X)

    def test_spoilt(msdump):
        with msdump.inject("Mul", "nan", iteration=1):
            msdump.run(Net(), X, steps=3)
"""


@pytest.fixture
def faults(nets: pytest.Pytester) -> pytest.Pytester:
    text = (nets.path / "test_nets.py").read_text()
    head = text[: text.index("pytestmark")]
    body = "\n".join(line.removeprefix("    ") for line in TESTS.splitlines())
    nets.makepyfile(test_nets=head + body)
    return nets


def test_goldens_say_that_a_fault_was_injected(faults: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    faults.runpytest("--msdump-regen").assert_outcomes(passed=2)
    found = {}
    for name in ("test_fails", "test_spoilt"):
        with GoldenStore.open(faults.path / "golden" / "test_nets" / f"{name}.h5") as store:
            run = store.run("cpu", "tensor")
            found[name] = (run.attrs["rules"]["injected"], {key.iteration for key in run.index.keys})
    assert found == {
        "test_fails": (["error in Default/Mul-op0, iteration 1, rank 0"], {0}),
        "test_spoilt": (["nan in Default/Mul-op0, iteration 1, rank 0"], {0, 1, 2}),
    }
    faults.runpytest("--msdump").assert_outcomes(passed=2)
    assert main(["show", str(faults.path / "golden" / "test_nets" / "test_spoilt.h5")]) == 0
    assert "slots, emulated, 1 injected fault\n" in capsys.readouterr().out


def test_without_the_fault_the_golden_differs(faults: pytest.Pytester) -> None:
    faults.runpytest("--msdump-regen").assert_outcomes(passed=2)
    text = (faults.path / "test_nets.py").read_text()
    faults.makepyfile(test_nets=text.replace('"nan", iteration=1', '"inf", iteration=1'))
    result = faults.runpytest("--msdump")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*expected nan, found inf*"])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("'Mull'", "*InjectionError: the fault was never injected: no operator 'Mull' ran; nearest of the 2*Mul-op0*"),
        ("'Mul', 'zero'", "*SettingError: inject: kind is one of error, memory, nan, inf, -inf, got 'zero'*"),
    ],
)
def test_faults_that_cannot_be_injected_fail_the_test(faults: pytest.Pytester, call: str, said: str) -> None:
    text = (faults.path / "test_nets.py").read_text()
    faults.makepyfile(test_nets=text.replace('"Mul", "nan", iteration=1', call))
    result = faults.runpytest("--msdump-regen")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([said])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("keep", [(), ("--msdump-keep",)])
def test_a_failure_of_the_only_run_or_the_first_is_checked(faults: pytest.Pytester, keep: tuple[str, ...]) -> None:
    """What ran before the fault is compared, and a run after it is, too."""
    text = (faults.path / "test_nets.py").read_text()
    head = text[: text.index("def test_fails")]
    faults.makepyfile(
        test_nets=head
        + """
def test_only(msdump):
    with msdump.inject("Mul", iteration=1), pytest.raises(RuntimeError, match="injected"):
        msdump.run(Net(), X, steps=3)

def test_first(msdump):
    net = Net()
    with msdump.inject("Mul", iteration=0), pytest.raises(RuntimeError, match="injected"):
        msdump.run(net, X)
    msdump.run(net, X)
"""
    )
    faults.runpytest("--msdump-regen").assert_outcomes(passed=2)
    faults.runpytest("--msdump", *keep).assert_outcomes(passed=2)
    changed = (faults.path / "test_nets.py").read_text().replace("iteration=1", "iteration=2")
    faults.makepyfile(test_nets=changed.replace("    msdump.run(net, X)", "    pass"))
    result = faults.runpytest("--msdump", *keep)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*unexpected*"])
