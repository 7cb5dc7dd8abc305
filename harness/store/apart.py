"""Reads HDF5 files from elsewhere through libhdf5 in a process of its own, which may do nothing but that.

The process gets the open file, and gives a listing: what there is, and where it lies. It opens no other file, has no
network, and limits of memory, time and descriptors (``confined``). If it dies, that is one error.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

from harness.errors import StoreError, first_line

#: Memory and seconds of the processor for any file, and what each of its bytes adds.
_MEMORY, _SECONDS, _BYTES_A_SECOND = 512 << 20, 20, 10 << 20
#: A listing has at most so many bytes, and so many for each byte of the file.
_LISTING, _FOR_EACH = 1 << 20, 4

_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from harness.store.apart import serve
serve(int(sys.argv[2]))
"""


def listed(descriptor: int, size: int) -> dict[str, Any]:
    """The listing of a store of schema 1 (``schema1.listing``), made in a process of its own; its values are not to be
    trusted.

    Args:
        descriptor: of the open file.
        size: of the file in bytes.

    Raises:
        StoreError: the file is damaged, is not a store, or ended the process.
    """
    words = [sys.executable, "-I", "-c", _PROGRAM, json.dumps(sys.path), str(size)]
    most = _LISTING + _FOR_EACH * size
    try:
        child = subprocess.Popen(
            words, stdin=descriptor, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
        )
    except OSError as error:
        raise StoreError(f"the process that reads HDF5 files cannot be started ({first_line(error)})") from None
    with child:
        assert child.stdout is not None
        text = child.stdout.read(most + 1)
        if len(text) > most:
            child.kill()
            raise StoreError(f"what it holds takes more than {most} bytes to list")
    if child.returncode:
        raise StoreError(
            f"the process that read it with libhdf5 {_ending(child.returncode)}: it is damaged, or hostile"
        )
    try:
        found = json.loads(text)
        if not isinstance(found, dict):
            raise ValueError("no object")
    except (ValueError, RecursionError):
        raise StoreError("the process that read it with libhdf5 gave no listing: damaged, or hostile") from None
    if isinstance(found.get("error"), str):
        raise StoreError(found["error"][:400])
    return found


def _environment() -> dict[str, str]:
    """No plugins, no other drivers, no threads."""
    kept = {name: value for name in ("LD_LIBRARY_PATH", "PATH") if (value := os.environ.get(name))}
    return kept | {
        "HDF5_PLUGIN_PRELOAD": "::", "HDF5_PLUGIN_PATH": os.devnull, "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8",
    }  # fmt: skip


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with {code}"
    names = {each.value: each.name for each in signal.Signals}
    return f"was ended by {names.get(-code, -code)}"


def serve(size: int) -> None:
    """What the process does; never returns."""
    code = 1
    try:
        from harness.store import schema1
        from harness.store.confined import confine

        confine(_MEMORY + size, _SECONDS + size // _BYTES_A_SECOND)
        try:
            found = schema1.listing(0, size)
        except (StoreError, OSError, RuntimeError, MemoryError, ValueError, TypeError, KeyError) as error:
            found = {"error": first_line(error)}
        view = memoryview(json.dumps(found).encode())
        while view:
            view = view[os.write(1, view) :]
        code = 0
    finally:
        os._exit(code)
