"""Workers of this machine as forks of this process: Dask and this project are imported once for all of them.

``multiprocessing`` has its workers forked by a server, a new interpreter that imports everything once more. Here that
server is itself a fork of this process, made before its other threads: a fork of several threads may hang.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing import forkserver, util
from typing import Any

from harness.compare.collector import PausedCollector
from harness.scale import link, parts
from harness.scale.interrupts import held

#: What workers use.
_IMPORTED = ["distributed.nanny", link.__name__, parts.__name__]


def serve() -> None:
    """Starts the server of workers, unless there is one.

    Raises:
        ImportError: Dask is not installed.
    """
    with PausedCollector():
        import_module("distributed.nanny")
        # What Dask imports, or reads from files, later: here and in each worker.
        with suppress(ImportError):
            import_module("numpy.random")
            import_module("tornado.platform.asyncio")
        import_module("distributed.versions").get_versions()
    import_module("distributed.utils").get_mp_context().set_forkserver_preload(_IMPORTED)
    if sys.platform != "linux" or threading.active_count() > 1:
        return  # the first worker starts the server of ``multiprocessing``
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # else each fork writes it once more
    gc.freeze()  # looking at what was imported, here or in a worker, would copy its memory; ``cluster`` ends this
    start = util.spawnv_passfds
    try:
        util.spawnv_passfds = _forked
        with held(), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of the threads of a BLAS, which ends them at a fork
            forkserver.ensure_running()
    finally:
        util.spawnv_passfds = start


def _forked(path: bytes, args: Sequence[Any], passfds: Sequence[int]) -> int:
    """A process that runs the code at the end of an interpreter's arguments."""
    process = os.fork()
    if process:
        return process
    try:
        _as_new(passfds)
        exec(args[-1], {})  # the start of the server of ``multiprocessing``
    finally:
        os._exit(1)


def _as_new(passed: Sequence[int]) -> None:
    """Drops what workers must not have: handlers of signals, and the other ends of the pipes passed.

    The server ends when all those are closed.
    """
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts all its processes; the command ends these
    pipes = {os.fstat(descriptor).st_ino for descriptor in passed}
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        with suppress(OSError):  # the descriptor of the list itself is closed by now
            if descriptor not in passed and os.fstat(descriptor).st_ino in pipes:
                os.close(descriptor)
