"""Directories for the imports of a process under another interpreter."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Sequence


def folders_of(names: Sequence[str]) -> dict[str, str]:
    """The directories of packages here; a missing package is left out."""
    found = {}
    for name in names:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin:
            path = os.path.abspath(spec.origin)
            found[name] = os.path.dirname(path if spec.submodule_search_locations is None else os.path.dirname(path))
    return found


def project_paths() -> list[str]:
    """The entries of ``sys.path`` except the interpreter's own."""
    own = {os.path.abspath(path) for path in sysconfig.get_paths().values()}
    bases = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    own |= {os.path.abspath(path) for path in sysconfig.get_paths(vars=bases).values()}
    paths = [os.path.abspath(path) for path in sys.path]
    parts = ("site-packages", "dist-packages", "lib-dynload")
    return [path for path in paths if path not in own and os.path.basename(path) not in parts and os.path.isdir(path)]
