"""Goldens that a repository will feel: what to do about them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

#: From this size on, in bytes, a golden is said to be large.
LARGE = 20_000_000
_SHOWN = 3


def large(paths: Iterable[str | os.PathLike[str]], least: int = LARGE) -> Iterator[str]:
    """A line that names the goldens of at least ``least`` bytes, the largest first, and says how to make them smaller;
    nothing if there is none."""
    found = sorted(((_size(each), os.fspath(each)) for each in paths), reverse=True)
    found = [each for each in found if each[0] >= least]
    if not found:
        return
    named = ", ".join(f"{path} ({size / 1e6:.0f} MB)" for size, path in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    yield (
        f"large: {named}{more}; level digest (--msdump-level=digest, or level= of the marker) keeps digests and "
        "statistics only, fewer steps or Git LFS help too (docs: Large goldens in git)"
    )


def _size(path: str | os.PathLike[str]) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
