"""Ranks as processes: the launcher's ends, its variables, and a launcher of MindSpore's."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import CollectiveError
from harness.framework.communication.joining import launched

SCRIPT = """
import os, sys, time
from harness.framework.communication import world
from harness.framework.communication.launch import fork_ranks
def said(rank, what): os.write(1, f"{rank} {what}\\n".encode())
run = fork_ranks(3, 0.5, grace=0.2)
if run is not None:
    print(run.code, run.failure, sorted(run.codes.items()), flush=True)
    sys.exit(run.code)
here = world.current()
if sys.argv[1] == "sum":
    got = here.client.exchange("world", [0, 1, 2], "x", [bytes([here.rank])])
    said(here.rank, [*b"".join(got)])
if sys.argv[1] == "kill" and here.rank == 1: os.kill(os.getpid(), 9)
if sys.argv[1] == "sleep" and here.rank == 1: time.sleep(60)
if sys.argv[1] == "exit": os._exit(5 if here.rank == 2 else 0)
if sys.argv[1] != "sum":
    try: here.client.exchange("world", [0, 1, 2], "x", [b"0"])
    except Exception as error: said(here.rank, error); os._exit(1)
"""


def run(how: str) -> tuple[int, list[str]]:
    done = subprocess.run([sys.executable, "-c", SCRIPT, how], capture_output=True, text=True, timeout=60)
    assert not done.stderr, done.stderr
    return done.returncode, sorted(done.stdout.splitlines())


def test_three_processes_exchange() -> None:
    assert run("sum") == (0, ["0  [(0, 0), (1, 0), (2, 0)]", "0 [0, 1, 2]", "1 [0, 1, 2]", "2 [0, 1, 2]"])


def test_a_killed_rank_ends_the_run() -> None:
    code, lines = run("kill")
    assert code == 128 + 9
    assert lines[-1].startswith("2 rank 1 was ended by SIGKILL")
    assert any(line.startswith("137 rank 1") for line in lines)


def test_a_rank_that_does_not_come_is_ended() -> None:
    code, lines = run("sleep")
    assert code == 1
    assert any("rank 1 called no x within 0.5 s; waiting: ranks 0 and 2 in x" in line for line in lines)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"MS_ROLE": "MS_X"}, "MS_ROLE"),
        ({"MS_WORKER_NUM": "none"}, "MS_WORKER_NUM"),
        ({"MS_SCHED_PORT": "99999"}, "MS_SCHED_PORT"),
        ({"RANK_ID": "2"}, "RANK_ID"),
        ({"RANK_ID": "-1"}, "RANK_ID"),
    ],
)
def test_wrong_variables_are_one_line(changed: dict[str, str], said: str) -> None:
    given = {"MS_ROLE": "MS_WORKER", "MS_WORKER_NUM": "2", "MS_SCHED_PORT": "8118", "RANK_ID": "1"}
    assert launched({}) is None
    found = launched(given)
    assert found is not None
    assert (found.rank, found.size, found.port) == (1, 2, 8118)
    with pytest.raises(CollectiveError, match=said) as caught:
        launched({**given, **changed})
    assert "\n" not in str(caught.value)


JOINED = """
from harness.framework.communication import management, world
management.init()
here = world.current()
got = here.client.exchange("world", [0, 1], "x", [bytes([here.rank])])
print(here.rank, here.size, [*b"".join(got)])
"""


def test_mindspores_launcher_is_understood(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    given = {**os.environ, "MS_WORKER_NUM": "2", "MS_SCHED_HOST": "127.0.0.1", "MS_SCHED_PORT": str(port),
             "MS_TOPO_TIMEOUT": "30"}  # fmt: skip
    given.pop("RANK_ID", None)
    processes = [
        subprocess.Popen([sys.executable, "-c", JOINED], env={**given, **more}, stdout=subprocess.PIPE, text=True)
        for more in ({"MS_ROLE": "MS_SCHED"}, {"MS_ROLE": "MS_WORKER", "RANK_ID": "1"}, {"MS_ROLE": "MS_WORKER"})
    ]
    said = [process.communicate(timeout=60)[0].strip() for process in processes]
    assert said == ["", "1 2 [0, 1]", "0 2 [0, 1]"]
    assert [process.returncode for process in processes] == [0, 0, 0]
