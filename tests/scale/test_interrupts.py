"""An interrupt ends a command with workers wherever it comes, also where Python drops what a handler raises."""

from __future__ import annotations

import _thread
import signal
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from harness.cli import INTERRUPTED, main
from harness.scale import cluster as clusters
from harness.scale import interrupts
from harness.scale.cluster import Task, cluster
from tests.scale import nursery
from tests.scale.clusters import Far, far
from tests.scale.hosts import run
from tests.scale.nursery import Nursery
from tests.scale.trees import write_tree

pytestmark = [
    pytest.mark.scale,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
COMMANDS: dict[str, tuple[str, ...]] = {
    "import": ("import", "one", "new.h5"),
    "diff": ("diff", "one", "other"),
    "check": ("check", "one", "golden.h5"),
    "learn": ("learn", "golden.h5", "one", "other"),
    "audit": ("audit", "golden.h5"),
    "verify": ("verify", "."),
    "ranks": ("ranks", "one", "--equal", "*:output.0"),
}


class Dropped:
    """Is interrupted in its destructor."""

    def __del__(self) -> None:
        _thread.interrupt_main()


@pytest.fixture(autouse=True)
def default() -> Iterator[None]:
    """SIGINT is Python's, as in a process of a terminal."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.signal(signal.SIGINT, former) is signal.default_int_handler, "it is not given back"


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("one", "other"):
        write_tree(tmp_path / name, range(2), 2)
    monkeypatch.chdir(tmp_path)
    assert main(["import", "one", "golden.h5"]) == 0
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_destructor_drops_ends_every_command(
    trees: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done, before = Far.run, {path: path.read_bytes() for path in trees.glob("*.h5")}

    def dropping(self: Far, tasks: Any) -> Any:
        for each in done(self, tasks):
            Dropped()
            yield each

    monkeypatch.setattr(clusters, "cluster", far)
    monkeypatch.setattr(Far, "run", dropping)
    assert main([*COMMANDS[command], "--workers", "1"]) == INTERRUPTED
    assert capsys.readouterr().err.splitlines()[-1] == "msdump: interrupted"
    assert list((trees / ".msdump" / "scale").iterdir()), "--resume goes on from here"
    assert before.items() <= {path: path.read_bytes() for path in trees.glob("*.h5")}.items()


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forks on Linux alone")
@pytest.mark.parametrize("step", ["before", "after_in_parent"])
def test_an_interrupt_at_a_fork_ends_the_command(trees: Path, step: str) -> None:
    text = (
        "import _thread, os, signal, sys\nfrom harness.cli import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"os.register_at_fork({step}=_thread.interrupt_main)\n"
        "sys.exit(main(['import', 'one', 'new.h5', '--workers', '2']))"
    )
    done = run(trees, [sys.executable, "-c", text])
    assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED, "", "msdump: interrupted\n")
    assert not (trees / "new.h5").exists()


def endless() -> Iterator[Task]:
    return (Task(number, nursery.square, (2,)) for number in count())


def test_waits_for_workers_hear_what_was_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed (extra 'scale')")
    monkeypatch.setenv("MSDUMP_SCALE_LIMIT", "600")
    forks = Nursery(tmp_path / "forks")
    (tmp_path / "tree" / "rank_0").mkdir(parents=True)
    try:
        _, address = forks.fork(kind="scheduler")
        forks.fork(kind="worker", scheduler=address)
        with cluster(0, address) as found:
            for wait in (lambda: found.discover(str(tmp_path / "tree")), lambda: list(found.run(endless()))):
                goes_on = []
                with pytest.raises(KeyboardInterrupt), interrupts.heard():  # noqa: PT012 - what is dropped goes on
                    Dropped()
                    goes_on.append(wait)
                    wait()
                    goes_on.clear()
                assert goes_on, "the wait itself ends"
    finally:
        forks.close()


def test_handlers_of_others_stay() -> None:
    came = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        with interrupts.heard(), interrupts.held():
            signal.raise_signal(signal.SIGINT)
            interrupts.check()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    assert came == [signal.SIGINT]


def test_what_is_held_comes_at_the_end() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupts.held():  # noqa: PT012 - what follows is reached
        signal.raise_signal(signal.SIGINT)
        reached.append(1)
    assert reached
