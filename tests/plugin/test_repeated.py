"""Repetitions of a test, as other plugins make them, are held to its one golden; prune does not fall for new names."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]
OPTIONS = ("-p", "no:cacheprovider")

#: what pytest-repeat and flake-finder do
REPEATS = """
    import pytest

    @pytest.fixture
    def __again(request):
        return request.param

    @pytest.hookimpl({when}=True)
    def pytest_generate_tests(metafunc):
        metafunc.fixturenames.append("__again")
        metafunc.parametrize("__again", range(2), indirect=True, ids={ids})
"""
TESTS = """
    import os
    import pytest

    SIDE = int(os.environ.get("SIDE", "0"))

    def test_plain(msdump):
        msdump.check("v", 1.0 + SIDE)

    @pytest.mark.parametrize("a,b", [(1, 2), (3, 4)])
    @pytest.mark.parametrize("c", ["x-y", "z"])
    def test_drawn(msdump, a, b, c):
        msdump.check("v", [float(a), float(b), float(len(c))])
"""


@pytest.mark.parametrize("ids", ["None", '["1-2", "2-2"]'], ids=["numbers", "of all"])
@pytest.mark.parametrize("when", ["tryfirst", "trylast"])
def test_repetitions_are_held_to_the_one_golden(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, when: str, ids: str
) -> None:
    pytester.makepyfile(test_it=TESTS)
    assert pytester.runpytest_inprocess("--msdump-regen", *OPTIONS).parseoutcomes() == {"passed": 5}
    pytester.makepyfile(again=REPEATS.format(when=when, ids=ids))
    again = ("-p", "again", *OPTIONS)
    pytester.syspathinsert()
    result = pytester.runpytest_inprocess("--msdump", *again)
    assert result.parseoutcomes() == {"passed": 10}
    result.stdout.fnmatch_lines(["compared * in 10 runs; new 0; missing goldens 0; *unused goldens 0"])
    monkeypatch.setenv("SIDE", "1")
    assert pytester.runpytest_inprocess("--msdump", *again).parseoutcomes() == {"passed": 8, "failed": 2}


def test_prune_refuses_where_tests_have_other_names(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.cli import main

    pytester.makepyfile(test_it=TESTS)
    assert pytester.runpytest_inprocess("--msdump-regen", *OPTIONS).ret == 0
    goldens = sorted(pytester.path.glob("golden/**/*.h5"))
    pytester.makepyfile(test_it=TESTS.replace("(1, 2)", "(1, 25)").replace("(3, 4)", "(3, 64)"))
    monkeypatch.chdir(pytester.path)
    assert main(["prune"]) == 2
    assert sorted(pytester.path.glob("golden/**/*.h5")) == goldens
    assert pytester.runpytest_inprocess("--msdump-regen", *OPTIONS).ret == 0
    assert main(["prune"]) == 0
    assert len(sorted(pytester.path.glob("golden/**/*.h5"))) == 5
