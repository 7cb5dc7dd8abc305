"""Freed memory is kept for what comes next."""

from __future__ import annotations

import numpy as np


def keep_freed_memory() -> None:
    """Lets the C library keep what is freed, up to 32 MiB, for the next array.

    glibc returns a freed array of some 100 KiB to the kernel, and the next one is made of new pages, each of which
    costs a fault: measured, these were a quarter of a gate's time, and half of a product of 256 x 256. Freeing one
    large block, whose pages are never touched, makes it stop (``mallopt(3)``, on M_MMAP_THRESHOLD). Other C libraries
    do not care.
    """
    np.empty(2**24, np.uint8)  # freed at once
