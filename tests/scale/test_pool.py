"""Processes of this machine that die: their work is done by others, or named in one error. No Dask is needed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ScaleError, TreeError
from harness.scale.cluster import Pool, Task, cluster
from harness.scale.wire import Failed
from harness.scale.work import told
from tests.subprocesses import ROOT

pytestmark = pytest.mark.scale


@pytest.fixture
def pool() -> Iterator[Pool]:
    with closing(Pool(2, lambda line: None)) as found:
        yield found


def square(number: int) -> int:
    return number * number


def dies_once(number: int, file: Path) -> int:
    """Kills its process, unless somebody took the file away."""
    try:
        file.unlink()
    except FileNotFoundError:
        return square(number)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def dies(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


@told
def refuses(number: int) -> Any:
    raise TreeError(f"tree {number} is none")


def odd(number: int) -> int:
    raise KeyError(number)


def lasts() -> None:
    os.write(1, b"at work\n")
    threading.Event().wait()


def done(pool: Pool, tasks: list[Task]) -> list[int]:
    return [result for _, result in sorted(pool.run(iter(tasks)), key=lambda each: each[0].key)]


def squares(count: int = 30) -> list[Task]:
    return [Task(n, square, (n,), (), f"rank {n}") for n in range(count)]


def test_others_do_what_killed_ones_had(pool: Pool, tmp_path: Path) -> None:
    tasks = squares()
    for number in (0, 7, 8, 29):
        file = tmp_path / str(number)
        file.touch()
        tasks[number] = Task(number, dies_once, (number, file), (), f"rank {number}")
    assert done(pool, tasks) == [n * n for n in range(30)]
    assert not list(tmp_path.iterdir()), "all four died"
    assert done(pool, squares()) == [n * n for n in range(30)], "and there are workers once more"


@pytest.mark.parametrize("number", [0, 5, 29])
def test_the_task_that_kills_is_named(pool: Pool, number: int) -> None:
    tasks = squares()
    tasks[number] = Task(number, dies, (number,), (), f"rank {number}")
    with pytest.raises(ScaleError, match=f"^rank {number}: one worker after the other died over it; it is not tried"):
        done(pool, tasks)


def test_of_several_refusals_the_first_by_key_is_told(pool: Pool) -> None:
    tasks = squares()
    for number in (3, 4, 6):
        tasks[number] = Task(number, refuses, (number,))
    assert isinstance(refuses(1), Failed)
    with pytest.raises(TreeError, match=r"^tree 3 is none$"):
        done(pool, tasks)


def test_what_nobody_meant_is_one_error(pool: Pool) -> None:
    with pytest.raises(ScaleError, match=r"^rank 2: KeyError: 2$"):
        done(pool, [Task(2, odd, (2,), (), "rank 2")])


def test_what_is_left_ends_at_once(pool: Pool) -> None:
    coming = pool.run([Task(0, square, (3,)), *(Task(n, lasts, ()) for n in (1, 2))])
    assert next(coming)[1] == 9
    coming.close()


@pytest.mark.skipif(sys.platform == "win32", reason="a process that is killed there takes its handles with it")
def test_workers_end_with_a_command_that_is_killed() -> None:
    text = (
        "import sys\nfrom tests.scale.test_pool import Pool, Task, lasts\nsys.stdout.write('once\\n')\n"
        "list(Pool(3, lambda line: None).run([Task(n, lasts, ()) for n in range(3)]))"
    )
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(4)] == [b"once\n", *[b"at work\n"] * 3]
        process.kill()
        assert process.stdout.read() == b"", "workers have it, too: it ends with the last of them"


def test_a_place_where_nobody_sees_a_rank(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "tree" / "rank_1").mkdir(parents=True)
    assert pool.discover(str(tmp_path / "tree")) == {1: ["0", "1"]}
    for place, why in ((tmp_path / "none", "no such file or directory"), (tmp_path, f"{tmp_path}: it holds no rank_N")):
        with pytest.raises(ScaleError, match=f"^{place}: none of 2 workers sees a rank there: {why}"):
            pool.discover(str(place))


def test_processes_that_do_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise OSError(11, "no more processes")

    monkeypatch.setattr("harness.scale.pool.ProcessPoolExecutor", refused)
    why = r"^2 workers did not start on this machine: \[Errno 11\] no more processes$"
    with pytest.raises(ScaleError, match=why), cluster(2, ""):
        pass
