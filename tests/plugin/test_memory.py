"""What a gate session asks of the C library's allocator."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

# Page faults of tests that make and free arrays as networks do, before and after.
SCRIPT = """
import resource
import numpy as np
from harness.freed import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        arrays = [np.ones(131072, np.float32) for _ in range(8)]
        del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
without = faults()
keep_freed_memory()
faults()
print(without, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have rules of their own")
def test_freed_memory_is_used_again() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    without, kept = map(int, done.stdout.split())
    assert kept < without / 4
