"""Which goldens nobody owns, under every way to narrow a run; and tests that would share one."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import stores

pytest_plugins = ["pytester"]
UNUSED = "unused goldens, which no test owns; the session fails until `msdump prune` has removed them:"


def stray(gate: pytest.Pytester, name: str, source: str = "test_nets/test_one.h5") -> None:
    """Puts a golden where no test owns it, and into the manifest."""
    from harness.store import GoldenStore, manifest, update

    golden = gate.path / "golden"
    (golden / name).parent.mkdir(parents=True, exist_ok=True)
    with GoldenStore.open(golden / source) as store:
        update(golden / name, "stray", {run: store.run(*run) for run in store.runs()})
    manifest.rebuild(golden)


def unused(gate: pytest.Pytester, *arguments: str, subprocess: bool = False) -> tuple[list[str], int]:
    """What a session calls unused, and its exit code."""
    run = gate.runpytest_subprocess if subprocess else gate.runpytest
    result = run("--msdump", *arguments)
    lines = result.outlines
    if UNUSED not in lines:
        return [], int(result.ret)
    start = lines.index(UNUSED) + 1
    return [line.strip() for line in lines[start:] if line.startswith("  ")], int(result.ret)


@pytest.fixture(scope="module")
def both_once() -> dict[str, bytes]:
    """The goldens of ``two``, made by the first test that asks."""
    return {}


@pytest.fixture
def two(made: pytest.Pytester, both_once: dict[str, bytes]) -> pytest.Pytester:
    """A second test file with goldens of its own."""
    made.makepyfile(test_more=(made.path / "test_nets.py").read_text())
    if not both_once:
        made.runpytest("--msdump-regen", "test_more.py").assert_outcomes(passed=4)
        both_once.update(stores(made))
    for name, content in both_once.items():
        path = made.path / "golden" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return made


NARROWED = [
    (),
    ("-k", "test_one"),
    ("-k", "nothing_at_all"),
    ("-m", "not msdump"),
    ("--deselect", "test_nets.py::test_one"),
    ("--ignore=test_nets.py",),
    ("--ignore-glob=*nets*",),
    ("test_nets.py",),
    ("test_nets.py::test_one",),
    ("test_nets.py::TestIn",),
    ("test_nets.py::TestIn::test_class", "test_more.py"),
    ("-x",),
    ("--maxfail=1",),
    ("--sw",),
    ("-p", "no:cacheprovider"),
    pytest.param(("-n", "2", "-k", "test_one"), marks=pytest.mark.long),
    pytest.param(("-n", "2", "test_nets.py::test_one"), marks=pytest.mark.long),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("arguments", NARROWED, ids=" ".join)
def test_no_golden_in_use_is_called_unused(two: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    assert unused(two, *arguments, subprocess="-n" in arguments)[0] == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "more", [(), pytest.param(("-n", "1"), marks=pytest.mark.long), ("test_nets.py",), ("-k", "test_one")], ids=" ".join
)
def test_last_failed_finds_what_is_unused(
    two: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    """Files and tests that ``--lf`` leaves out own their goldens all the same."""
    for path in ("test_nets/test_gone.h5", "test_more/test_gone.h5"):
        stray(two, path)
    monkeypatch.setenv("ADDED", "1.5")
    two.runpytest("--msdump", "test_nets.py").assert_outcomes(passed=3, failed=1)
    found, _ = unused(two, "--lf", *more, subprocess="-n" in more)
    gone = ["test_more/test_gone.h5", "test_nets/test_gone.h5"]
    assert found == (gone[1:] if "test_nets.py" in more else gone)
    assert unused(two, "--ff")[0] == gone


def test_last_failed_judges_nothing_of_a_file_that_cannot_be_imported(
    two: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    stray(two, "test_more/test_gone.h5")
    monkeypatch.setenv("ADDED", "1.5")
    two.runpytest("--msdump", "test_nets.py").assert_outcomes(passed=3, failed=1)
    (two.path / "test_more.py").write_text("raise RuntimeError('not today')\n")
    found, code = unused(two, "--lf")
    assert found == []
    assert code == pytest.ExitCode.TESTS_FAILED


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("-k", "test_one"),
        ("-m", "msdump"),
        ("-x",),
        ("test_nets.py",),
        ("test_more.py", "test_nets.py"),
        ("-q",),
        pytest.param(("-n", "2", "-k", "test_one"), marks=pytest.mark.long),
    ],
    ids=" ".join,
)
def test_a_golden_of_a_collected_file_that_no_test_owns_is_unused(
    two: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    stray(two, "test_nets/test_gone.h5")
    found, code = unused(two, *arguments, subprocess="-n" in arguments)
    assert found == ["test_nets/test_gone.h5"]
    assert code == pytest.ExitCode.TESTS_FAILED


@pytest.mark.sampled(3)
@pytest.mark.parametrize("arguments", [("--ignore=test_nets.py",), ("test_more.py",), ("test_nets.py::test_one",)])
def test_a_golden_of_a_file_that_was_not_collected_whole_is_not_judged(
    two: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    stray(two, "test_nets/test_gone.h5")
    assert unused(two, *arguments) == ([], 0)


def test_a_golden_whose_test_file_is_gone_is_unused(two: pytest.Pytester) -> None:
    (two.path / "test_more.py").unlink()
    found, code = unused(two, "test_nets.py")
    assert [name.partition("/")[0] for name in found] == ["test_more"] * 4
    assert code == 1


@pytest.mark.parametrize(
    ("ini", "before"),
    [("python_functions = check_*", ""), ("", "if __name__ == 'another platform':\n "), ("python_classes = X*", "")],
)
def test_goldens_of_tests_that_their_file_defines_and_pytest_did_not_collect_are_kept(
    gate: pytest.Pytester, ini: str, before: str
) -> None:
    plain = "def test_here(msdump):\n    msdump.check('v', 1)\n"
    source = "class TestIn:\n    def test_in(self, msdump):\n        msdump.check('v', 1)\n"
    there = gate.makepyfile(test_a=source + plain)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
    gate.makeini(f"[pytest]\n{ini}\n")
    there.write_text(source + before + plain.replace("\n", "\n " if before else "\n"))
    assert unused(gate)[0] == []
    there.write_text(plain.replace("msdump.check('v', 1)", "pass").replace("(msdump)", "()"))
    assert unused(gate)[0] == (["test_a/+test+in.test_in.h5"] + ["test_a/test_here.h5"] * ("check" not in ini))


@pytest.mark.parametrize("broken", ["raise RuntimeError", "import pytest\npytest.skip('all', allow_module_level=True)"])
def test_goldens_of_a_file_that_cannot_be_collected_are_not_judged(two: pytest.Pytester, broken: str) -> None:
    (two.path / "test_more.py").write_text(broken)
    assert unused(two, "--continue-on-collection-errors")[0] == []


def test_a_store_of_no_test_is_left_alone(made: pytest.Pytester) -> None:
    stray(made, "imported.h5")
    (made.path / "golden" / ".test_nets.h5.lock").touch()
    assert unused(made) == ([], 0)


def test_regeneration_names_unused_goldens_and_keeps_them(made: pytest.Pytester) -> None:
    stray(made, "test_nets/test_gone.h5")
    result = made.runpytest("--msdump-regen")
    assert result.ret == 0
    result.stdout.fnmatch_lines([UNUSED, "  test_nets/test_gone.h5"])
    assert (made.path / "golden" / "test_nets" / "test_gone.h5").exists()


@pytest.mark.usefixtures("twin")
def test_runs_of_a_store_that_its_test_does_not_use_are_unused(made: pytest.Pytester) -> None:
    made.runpytest("--msdump-regen", "--msdump-backend=twin", "-k", "test_one").assert_outcomes(passed=1)
    assert unused(made) == (["test_nets/test_one.h5: twin/tensor"], 1)
    assert unused(made, "--msdump-backend=cpu") == ([], 0)
    made.makeini("[pytest]\nmsdump_backend = cpu twin\n")
    assert unused(made)[0] == []


@pytest.mark.long
def test_many_unused_goldens_are_counted(made: pytest.Pytester) -> None:
    for number in range(25):
        stray(made, f"test_nets/test_gone{number:02}.h5")
    result = made.runpytest("--msdump")
    result.stdout.fnmatch_lines(["*unused goldens 25", UNUSED, "  test_nets/test_gone19.h5", "  ... and 5 more"])
    result.stdout.no_fnmatch_line("*test_gone20*")


@pytest.mark.parametrize("xdist", [False, pytest.param(True, marks=pytest.mark.long)], ids=["serial", "xdist"])
def test_tests_that_would_share_a_golden_are_a_collection_error(gate: pytest.Pytester, xdist: bool) -> None:
    gate.makepyfile(
        test_shared="""
        import pytest

        @pytest.mark.parametrize("a", ["z", "y-z"])
        @pytest.mark.parametrize("b", ["x-y", "x"])
        def test_same(msdump, a, b):
            assert a + b not in ("zx-y", "y-zx"), "it must not run"
        """
    )
    run = gate.runpytest_subprocess if xdist else gate.runpytest
    result = run("--msdump", *(("-n", "2") if xdist else ()))
    assert result.parseoutcomes()["errors"] == 1
    result.stdout.no_fnmatch_line("*it must not run*")
    assert result.ret == (pytest.ExitCode.TESTS_FAILED if xdist else pytest.ExitCode.INTERRUPTED)
    result.stdout.fnmatch_lines(
        [
            "*ERROR collecting test_shared.py*",
            "msdump: 2 tests would share one run of the golden test_shared/test_same@x-y-z.h5:",
            "  test_shared.py::test_same[[]cpu-tensor-x-y-z[]] (test_shared.py:*, b='x-y', a='z')",
            "  test_shared.py::test_same[[]cpu-tensor-x-y-z[]] (test_shared.py:*, b='x', a='y-z')",
        ]
    )


def test_a_file_collected_twice_is_a_collection_error(made: pytest.Pytester) -> None:
    result = made.runpytest("--msdump", "--keep-duplicates", "test_nets.py", "test_nets.py")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["msdump: 2 tests would share one run of the golden test_nets/test_one.h5:"])


def test_same_names_in_other_places_do_not_collide(two: pytest.Pytester) -> None:
    for folder in ("a", "a/b"):
        two.mkdir(folder)
        (two.path / folder / "test_nets.py").write_text((two.path / "test_nets.py").read_text())
    two.runpytest("--msdump-regen", "--import-mode=importlib").assert_outcomes(passed=16)
    two.runpytest("--msdump", "--import-mode=importlib").assert_outcomes(passed=16)
    assert len(list((two.path / "golden").rglob("*.h5"))) == 16
