"""``--msdump-health``, its ini, marker ``healthy`` and ``msdump.healthy``: a run is looked at by itself."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

SICK = """
    import numpy as np
    import pytest
    from harness import Tensor, nn, ops

    X = Tensor(np.array([[0, 2]], np.float32))


    class Net(nn.Cell):
        def construct(self, x):
            return ops.log(x)

    @pytest.mark.msdump{marker}
    def test_sick(msdump):
        msdump.run(Net(), X)
        {more}
"""
TOLD = [
    "msdump: *::test_sick * is not healthy",
    "Error, log of zero [[]nonfinite[]]: Log makes infinity of inputs that are finite at [[]0, 0[]]",
    "*iteration 0, Default/Log-op0 (test_sick.py:*)",
]


def made(pytester: pytest.Pytester, marker: str = "", more: str = "pass") -> pytest.Pytester:
    pytester.makepyfile(test_sick=SICK.replace("{marker}", marker).replace("{more}", more))
    return pytester


@pytest.mark.parametrize("by", ["flag", "ini", "marker"])
def test_a_sick_run_fails_although_it_equals_its_golden(nets: pytest.Pytester, by: str) -> None:
    (nets.path / "test_nets.py").unlink()
    made(nets, "(healthy=True)" if by == "marker" else "")
    if by == "ini":
        nets.makeini("[pytest]\nmsdump_health = true\n")
    flags = ["--msdump-health"] if by == "flag" else []
    result = nets.runpytest("--msdump-regen", *flags)
    result.assert_outcomes(failed=1)
    result = nets.runpytest("--msdump", *flags)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(TOLD)


def test_rules_are_chosen_by_a_table(nets: pytest.Pytester) -> None:
    (nets.path / "test_nets.py").unlink()
    for table, text in (
        ("{'off': ['nonfinite']}", ""),
        ("{'rules': ['dead-*']}", ""),
        ("{'rule': []}", "*a table of rules, off, settings is accepted; got rule"),
        ("{'off': ['none']}", "*no rule is called 'none'*"),
    ):
        made(nets, f"(healthy={table})")
        result = nets.runpytest("--msdump-regen")
        result.assert_outcomes(**({"failed": 1} if text else {"passed": 1}))
        result.stdout.fnmatch_lines([text or "*1 passed*"])


def test_the_fixture_looks_at_what_ran_so_far(nets: pytest.Pytester) -> None:
    (nets.path / "test_nets.py").unlink()
    made(nets, more="assert msdump.healthy(off=['nonfinite']).slots == 3; msdump.healthy(); print('not reached')")
    result = nets.runpytest("--msdump-regen")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(TOLD)
    result.stdout.no_fnmatch_line("*not reached*")


def test_without_it_nobody_looks(nets: pytest.Pytester) -> None:
    (nets.path / "test_nets.py").unlink()
    made(nets).runpytest("--msdump-regen").assert_outcomes(passed=1)
