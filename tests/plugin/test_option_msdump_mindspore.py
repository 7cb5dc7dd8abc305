"""Backend ``mindspore``, ``--msdump-mindspore`` and ``--msdump-mindspore-timeout``: tests run in another process.

Under a stand-in for the package (``tests/backends/fake.py``); beside the real one: ``tests/interop``.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from harness.store import GoldenStore
from tests.backends import fake
from tests.plugin.stand_in_mindspore import HEAD, indented
from tests.subprocesses import INSTALLED, PLUGIN, ROOT

pytest_plugins = ["pytester"]

SCENES = """
    @pytest.fixture
    def given(tmp_path, monkeypatch):
        monkeypatch.setenv("GIVEN", "yes")
        monkeypatch.chdir(tmp_path)
        return {"folder": tmp_path, "pair": (1, float("inf"))}

    class TestGiven:
        @pytest.mark.parametrize("x", [1, pytest.param(2.5, id="float")])
        @pytest.mark.parametrize(("kind", "more"), [(int, ("a", None)), (dict, {"b": [b"c", pathlib.Path("d")]})])
        def test_parameters(self, msdump, x, kind, more, given):
            assert msdump.run(Net(), x) == x + 1
            assert (kind, more) in [(int, ("a", None)), (dict, {"b": [b"c", pathlib.Path("d")]})]
            assert given == {"folder": pathlib.Path.cwd(), "pair": (1, float("inf"))}
            assert os.environ["GIVEN"] == "yes"

    def test_asserts(msdump):
        found = msdump.run(Net(), 2)
        assert found == 4

    def test_raises(msdump):
        with pytest.raises(ZeroDivisionError):
            1 / 0
        raise RuntimeError("on purpose")

    def test_skips(msdump):
        pytest.skip("not today")

    def test_xfails(msdump):
        pytest.xfail("not yet")

    def test_injects(msdump):
        with msdump.inject("Add"):
            msdump.run(Net())

    def test_trains_by_epochs(msdump):
        msdump.train(Net(), None, None, [(1, 2)], epochs=2)

    def test_runs_nothing(msdump):
        pass

    async def test_is_asynchronous(msdump):
        msdump.run(Net())

    def test_needs_what_is_ours(msdump):
        import harness.errors

    @pytest.mark.parametrize("thing", [object()])
    def test_takes_an_object(msdump, thing, request):
        pass

    class TestSetUp:
        def setup_method(self):
            self.net = Net()

        def test_set_up(self, msdump):
            msdump.run(self.net)

    def test_ends_early(msdump):
        os._exit(0)

    def test_crashes(msdump):
        print("a last word")
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGSEGV)

    def test_kills_the_worker(msdump):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(100)

    def test_hangs(msdump):
        ours = subprocess.Popen(["sleep", "1000"])
        away = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        note("ids", os.getpid(), ours.pid, away.pid)
        time.sleep(1000)

    def test_leaves_children(msdump):
        msdump.run(Net())
        ours = subprocess.Popen(["sleep", "1000"])
        away = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        note("left", os.getpid(), ours.pid, away.pid)

    def test_is_played_after_all_that(msdump):
        msdump.run(Net())
"""


def gone(ids: str) -> bool:
    """Whether none of the processes is there any more; ten minutes are more than any machine needs."""
    left = [int(word) for word in ids.split()]
    assert left
    for _ in range(12000):
        left = [pid for pid in left if Path(f"/proc/{pid}").exists() and "Z" not in state(pid)]
        if not left:
            return True
        time.sleep(0.05)
    return False


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


@pytest.mark.long
def test_captures_are_checked_like_any_other(on_mindspore: pytest.Pytester, python: Path) -> None:
    on_mindspore.runpytest("--msdump-regen").assert_outcomes(passed=2)
    with GoldenStore.open(on_mindspore.path / "golden" / "test_nets" / "test_one.h5") as store:
        run = store.run("mindspore", "tensor")
        assert not run.attrs["emulated"]
        assert run.attrs["rules"]["ms_version"] == "2.10.0"
        assert {key.operator for key in run.index.keys} >= {"Default/Mul-op0", "x"}
        assert not [name for name in run.artefacts() if name.startswith("graphs/")]
    manifest = "".join(path.read_text() for path in sorted((on_mindspore.path / "golden").rglob("*.manifest.json")))
    assert '"mindspore": "2.10.0"' in manifest
    assert '"device": "CPU, ' in manifest
    result = on_mindspore.runpytest("--msdump", "-rP", "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["msdump: check, backends mindspore (2.10.0 on cpu), *"])
    workers, runners = zip(*re.findall(r"imported by (\d+) run by (\d+)", result.stdout.str()), strict=True)
    assert len(set(workers)) == 1
    assert len({*workers, *runners}) == 3
    assert gone(" ".join((*workers, *runners)))
    other = fake.make(python.parent / "other", tree="control")
    result = on_mindspore.runpytest("--msdump", f"--msdump-mindspore={other}", "-k", "one", "--msdump-keep")
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["*test_one*mindspore*"])
    assert list((on_mindspore.path / ".msdump" / "trees").rglob("*.npy"))


@pytest.mark.long
def test_another_release_and_its_recorder(
    on_mindspore: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory
) -> None:
    on_mindspore.runpytest("--msdump-regen", "--msdump-rdr").assert_outcomes(passed=2)
    folder = tmp_path_factory.mktemp("older")
    older = fake.make(folder, version="2.7.0")
    other = fake.make(folder / "other", version="2.7.0", tree="control")
    # 2.10.0 has no recorder: what 2.7.0 records beside its golden is not compared.
    result = on_mindspore.runpytest("--msdump", "--msdump-rdr", f"--msdump-mindspore={older}")
    result.assert_outcomes(passed=2)
    assert " texts in " not in result.stdout.str()
    result = on_mindspore.runpytest("--msdump", f"--msdump-mindspore={other}", "-k", "one")
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["msdump: the golden was made by MindSpore 2.10.0, this run by 2.7.0"])
    on_mindspore.runpytest("--msdump-regen", "--msdump-rdr", f"--msdump-mindspore={older}").assert_outcomes(passed=2)
    result = on_mindspore.runpytest("--msdump", "--msdump-rdr", f"--msdump-mindspore={older}")
    result.stdout.fnmatch_lines(["compared 96 slots and 2 texts in 2 runs; *"])
    result = on_mindspore.runpytest("--msdump", "--msdump-rdr")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*rdr/2/SESSION.graph_exec_order.0.txt*"])


@pytest.mark.long
def test_what_may_happen_in_a_test(on_mindspore: pytest.Pytester) -> None:
    on_mindspore.makepyfile(test_nets=HEAD + indented(SCENES[SCENES.index("    @pytest.fixture") :]))
    result = on_mindspore.runpytest("--msdump-regen", "--msdump-mindspore-timeout=15")
    out = result.stdout.str()
    result.assert_outcomes(passed=6, failed=13, skipped=1, xfailed=1)
    failures = dict(re.findall(r"^_+ ([\w.]+)\S* _+\n(.*?)(?=^_{3}|^={3})", out, re.MULTILINE | re.DOTALL))
    expected = {
        "test_asserts": ["assert 3 == 4"],
        "test_raises": ["RuntimeError: on purpose", "in test_raises"],
        "test_injects": ["msdump.inject: only emulated backends can have faults"],
        "test_trains_by_epochs": ["msdump.train: epochs, callbacks and metrics are for emulated backends"],
        "test_runs_nothing": ["nothing was compared"],
        "test_is_asynchronous": ["an async def does not run in a process of its own; make it a def"],
        "test_needs_what_is_ours": [
            "No module named 'harness.errors': on backend mindspore it stands for mindspore.errors"
        ],
        "TestSetUp.test_set_up": ["TestSetUp.setup_method runs in pytest's process"],
        "test_ends_early": ["its process ended before the test did"],
        "test_crashes": ["died: SIGSEGV", "a last word", "Segmentation fault"],
        "test_kills_the_worker": ["the worker of", "SIGKILL"],
        "test_hangs": ["was killed after 15 s (--msdump-mindspore-timeout)", "in test_hangs"],
    }
    for name, texts in expected.items():
        for text in texts:
            assert text in failures[name], (name, text, failures[name])
        told = failures[name].partition(" Captured stdout ")[0]
        assert "worker.py" not in told
        assert "forked_test.py" not in told
    for name in ("ids", "left"):
        assert gone((on_mindspore.path / name).read_text())


@pytest.mark.long
def test_an_object_of_the_test_s_file_is_found_there(on_mindspore: pytest.Pytester) -> None:
    on_mindspore.makepyfile(
        test_nets=HEAD
        + indented(
            """
    THINGS = [object(), object()]
    @pytest.fixture
    def made():
        return object()

    @pytest.mark.parametrize("thing", THINGS)
    def test_by_place(msdump, thing):
        assert thing in THINGS
        msdump.run(Net())

    def test_by_fixture(msdump, made):
        msdump.run(Net())
"""
        )
    )
    result = on_mindspore.runpytest("--msdump-regen")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*test_by_fixture*, argument 'made': a builtins.object cannot be given to another process: None, bool, *"]
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"version": "2.6.0"},
            "*has MindSpore 2.6.0; 2.7 is the oldest that is run; pip install 'mindspore>=2.7', or *",
        ),
        (None, "*backend mindspore cannot run here: * has no MindSpore; pip install 'mindspore>=2.7', or name a *"),
    ],
)
def test_a_release_that_is_not_there_is_a_skip(
    on_mindspore: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory, given: dict[str, str] | None, said: str
) -> None:
    python = sys.executable if given is None else str(fake.make(tmp_path_factory.mktemp("old"), **given))
    result = on_mindspore.runpytest("--msdump", "-rs", f"--msdump-mindspore={python}")
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines([said])


def test_one_that_cannot_be_imported_fails_each_test_and_is_tried_once(
    on_mindspore: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("broken")
    counted = f"open({str(folder / 'tries')!r}, 'a').write('x')\nraise OSError('no library')\n"
    result = on_mindspore.runpytest("--msdump", f"--msdump-mindspore={fake.make(folder, broken=counted)}")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*cannot import MindSpore:", "OSError: no library"])
    assert (folder / "tries").read_text() == "x"


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (
            "--msdump-mode=statistic",
            "*has no dump mode 'statistic': saved_data statistic is for GPU and Ascend only; *",
        ),
    ],
)
def test_what_is_refused_at_once(on_mindspore: pytest.Pytester, option: str, said: str) -> None:
    result = on_mindspore.runpytest("--msdump", "--msdump-backend=mindspore", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([said])


@pytest.mark.parametrize("name", ["odd name", "a.b"])
def test_a_directory_it_cannot_dump_to_is_said_in_one_line(
    on_mindspore: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(on_mindspore.mkdir(name)))
    result = on_mindspore.runpytest("--msdump-regen", "--basetemp=scratch", "-k", "one")
    result.assert_outcomes(errors=1, deselected=1)
    result.stdout.fnmatch_lines(["_* ERROR at setup of test_one* _*", "msdump: backend mindspore: *set TMPDIR to one"])
    assert "session.py" not in result.stdout.str()


@pytest.mark.long
def test_each_worker_of_xdist_has_its_own(on_mindspore: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    loaded = () if INSTALLED else ("-p", PLUGIN)
    result = on_mindspore.runpytest_subprocess(*loaded, "-n2", "--msdump-regen", "-rP")
    result.assert_outcomes(passed=2)
    workers = re.findall(r"imported by (\d+) run by \d+", result.stdout.str())
    assert len(set(workers)) == 2
    assert gone(" ".join(workers))


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.faults
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_pytest_ends_everything(on_mindspore: pytest.Pytester, number: signal.Signals) -> None:
    scene = SCENES[SCENES.index("    def test_hangs") : SCENES.index("    def test_leaves")]
    on_mindspore.makepyfile(test_nets=HEAD + indented(scene).replace('note("ids", ', 'note("ids", os.getppid(), '))
    left = on_mindspore.mkdir("left")
    loaded = () if INSTALLED else ("-p", PLUGIN)
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *loaded, "--msdump"],
        cwd=on_mindspore.path, env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(left)},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    ids = on_mindspore.path / "ids"
    for _ in range(12000):
        if ids.exists() and ids.read_text():
            break
        time.sleep(0.05)
    process.send_signal(number)
    process.wait(600)
    assert gone(ids.read_text())
    assert not [path for path in left.iterdir() if path.name.startswith("msdump-")]
