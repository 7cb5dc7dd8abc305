"""Runs files of tests, each in a fork of a process that has imported MindSpore: ``python forked.py OPTION...``.

Standard input has a line of JSON for each file: ``[file, directory, record, seconds]``. Nothing of the project is
imported: this runs under the real MindSpore.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time

import mindspore  # noqa: F401
import pytest


def child(file: str, place: str, record: str, options: list[str]) -> None:
    """One file; the process ends with it."""
    os.setpgid(0, 0)
    output = os.open(os.path.splitext(record)[0] + ".txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(place)
    sys.path.insert(0, place)
    os.environ["OWN_TESTS_RECORD"] = record
    code = 1
    try:
        code = int(pytest.main([*options, file]))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


for line in sys.stdin:
    file, place, record, seconds = json.loads(line)
    pid = os.fork()
    if not pid:
        child(file, place, record, sys.argv[1:])
    end, ended = time.monotonic() + seconds, 0
    while not ended and time.monotonic() < end:
        ended, _ = os.waitpid(pid, os.WNOHANG)
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    if not ended:
        os.waitpid(pid, 0)
        with open(record, "a", encoding="utf-8") as rows:
            rows.write('{"test": "", "when": "limit", "outcome": "failed", "raised": []}\n')
    print(".", end="", flush=True)
