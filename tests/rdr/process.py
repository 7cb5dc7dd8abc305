"""Runs ``play.py`` in a process of its own and looks at what it left."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from harness.rdr.listing import artefacts

ROOT = Path(__file__).parents[2]
PLAY = ROOT / "tests" / "rdr" / "play.py"
REAL = ROOT / "tests" / "interop" / "rdr_real.py"
SIGNALS = ("sigint", "sigterm", "sighup", "sigabrt", "sigsegv", "sigkill")

Set = Counter[tuple[str, str, str]]


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with ``variables``, and without anything that concerns the recorder."""
    ours = ("MS_RDR_", "MSDUMP_RDR_", "RANK_ID", "OMPI_COMM_WORLD_RANK", "GLOG_", "MINDSPORE_DUMP_CONFIG")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return {**kept, "PYTHONPATH": str(ROOT), **variables}


def _signals_as_in_a_terminal() -> None:
    """Jobs in the background (``pytest &``, ``nohup``) ignore some signals, and so would their children."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def python(
    arguments: list[str], variables: Mapping[str, str], cwd: Path, interpreter: str = sys.executable
) -> subprocess.CompletedProcess[str]:
    """``python ARGUMENTS``; never raises for its exit code."""
    return subprocess.run(
        [interpreter, *arguments], env=environment(variables), cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, check=False, timeout=300, preexec_fn=_signals_as_in_a_terminal,
    )  # fmt: skip


def play(
    network: str, situation: str, folder: Path, mode: int, interpreter: str = sys.executable, **variables: str
) -> subprocess.CompletedProcess[str]:
    """One process of ``play.py``; of the real package where ``interpreter`` is not this one."""
    given = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": str(mode), "MS_RDR_PATH": str(folder), **variables}
    with tempfile.TemporaryDirectory() as place:
        prints = [Path(place, name) for name in ("stdout", "stderr")]
        wanted = {
            "arguments": [network, situation], "environment": environment(given), "cwd": str(folder.parent),
            "prints": list(map(str, prints)),
        }  # fmt: skip
        return subprocess.CompletedProcess(
            [situation], _forked(interpreter, wanted), *(path.read_text() for path in prints)
        )


@cache
def _nursery(interpreter: str) -> subprocess.Popen[str]:
    """See ``nursery.py``; it ends with this process, whose end of its input then closes."""
    module = ["-m", "tests.rdr.nursery"] if interpreter == sys.executable else [str(REAL)]
    return subprocess.Popen(
        [interpreter, *module], env=environment({}), cwd=ROOT, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=_signals_as_in_a_terminal,
    )  # fmt: skip


def _forked(interpreter: str, wanted: Mapping[str, object]) -> int:
    """The exit code of a process of the interpreter's nursery."""
    nursery = _nursery(interpreter)
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    nursery.stdin.write(json.dumps(wanted) + "\n")
    nursery.stdin.flush()
    if not select.select([nursery.stdout], [], [], 300)[0]:
        nursery.kill()
        _nursery.cache_clear()
        raise TimeoutError(f"{wanted['arguments']}: no end within 300 s")
    return int(nursery.stdout.readline())


def found(folder: Path) -> Set:
    """How often each module, name and extension is there."""
    return Counter(artefact.key for artefact in artefacts(folder))
