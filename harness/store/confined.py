"""Takes from a process what reading a file does not need: other files, the network, memory and time without end.

Limits of the system hold everywhere. Where the kernel is Linux, on x86-64 and ARM, a filter of system calls is set as
well: what is not on its list fails with ``EPERM``.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import struct
import sys

#: System calls by number that reading an open file, keeping memory and ending need, by machine.
_CALLS = {
    "x86_64": (
        0xC000003E,
        (0, 1, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 17, 24, 25, 28, 39, 60, 98, 131, 186, 202, 228, 231, 234,
         295, 318, 327),
    ),
    "aarch64": (
        0xC00000B7,
        (57, 62, 63, 64, 67, 69, 80, 93, 94, 98, 113, 124, 131, 132, 134, 135, 139, 165, 172, 178, 214, 215, 216,
         222, 226, 233, 278, 286),
    ),
}  # fmt: skip
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER, _DEATH_SIGNAL = 38, 22, 2, 1
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001  # an error, EPERM
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def confine(memory: int, seconds: int) -> list[str]:
    """Confines this process, for good: it opens nothing any more, starts nothing, and writes to no file.

    Args:
        memory: bytes of address space that it may take beyond what it has.
        seconds: of the processor.

    Returns:
        What holds: ``limits``, and ``seccomp`` where the kernel has it.
    """
    pages = 0
    if os.path.exists("/proc/self/statm"):
        with open("/proc/self/statm", encoding="ascii") as statm:
            pages = int(statm.read().split()[0])
    limits = {
        resource.RLIMIT_AS: pages * resource.getpagesize() + memory,
        resource.RLIMIT_CPU: seconds + int(sum(os.times()[:2])) + 1,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 3,  # standard input, output and error are open
    }
    if platform.system() == "Linux":
        _control(_DEATH_SIGNAL, signal.SIGKILL)
        limits[resource.RLIMIT_NPROC] = 0
    for kind, most in limits.items():
        if kind == resource.RLIMIT_AS and not pages:
            continue
        held = resource.getrlimit(kind)[1]
        least = most if held == resource.RLIM_INFINITY else min(most, held)
        resource.setrlimit(kind, (least, least))
    return ["limits", "seccomp"] if _filtered() else ["limits"]


def _control(what: int, value: int, more: object = 0) -> bool:
    library = ctypes.CDLL(None, use_errno=True)
    return bool(library.prctl(what, value, more, 0, 0) == 0)


def _filtered() -> bool:
    """Sets the filter of system calls; whether there is one now."""
    machine = platform.machine()
    if platform.system() != "Linux" or machine not in _CALLS or sys.maxsize < 2**32:
        return False
    architecture, calls = _CALLS[machine]
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _REFUSE), (_LOAD, 0, 0, 0)]
    for left, call in zip(range(len(calls), 0, -1), calls, strict=True):
        steps.append((_EQUAL, left, 0, call))
    steps += [(_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    raw = b"".join(struct.pack("<HBBI", *step) for step in steps)
    program = _Program(len(steps), raw)
    try:
        return _control(_NO_NEW_PRIVILEGES, 1) and _control(_SECCOMP, _FILTER, ctypes.byref(program))
    except (OSError, AttributeError):
        return False
