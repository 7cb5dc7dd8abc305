"""The ``msdump`` command, also where another package is called ``harness``."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence

PACKAGE = "harness"


def our_package() -> str:
    """The directory of our ``harness``."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), PACKAGE)


#: stands in the first line of our own ``harness/__init__.py``
MARK = b"(pytest-msdump)"


def overwritten() -> str:
    """Says in one line that another package has put its own files in the place of our ``harness``; empty if not."""
    place = os.path.join(our_package(), "__init__.py")
    try:
        with open(place, "rb") as file:
            if MARK in file.readline():
                return ""
    except OSError:
        pass
    others = [name for name in _owners() if name != "pytest-msdump"]
    who = f"distribution {', '.join(others)}" if others else "another package"
    return (
        f"msdump: {who} has overwritten {place}, which is pytest-msdump's; uninstall the other one, then "
        "reinstall pytest-msdump"
    )


def _owners() -> list[str]:
    from importlib.metadata import packages_distributions

    return sorted(set(packages_distributions().get(PACKAGE, ())))


def other_package() -> str:
    """Says in words why the ``harness`` that Python finds is not ours; empty if it is."""
    ours = our_package()
    loaded = sys.modules.get(PACKAGE)
    try:
        spec = importlib.util.find_spec(PACKAGE) if loaded is None else loaded.__spec__
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return f"msdump: no package {PACKAGE} is found; pytest-msdump's is {ours}"
    places = list(spec.submodule_search_locations or ())
    found = places[0] if places else str(spec.origin)
    if os.path.realpath(found) == ours:
        return overwritten()
    return (
        f"msdump: another package is called {PACKAGE}: {found}\n"
        f"  pytest-msdump needs its own: {ours}\n"
        f"  rename the other one, or keep its directory off sys.path (`pytest` in place of `python -m pytest`)"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """See ``harness.cli.main``: the command's own ``harness`` is loaded from beside this package, whatever the path of
    modules finds first; programs that it starts look for theirs as usual."""
    gone = overwritten()
    if gone:
        print(gone, file=sys.stderr)
        return 2
    if PACKAGE not in sys.modules and other_package():
        ours = our_package()
        spec = importlib.util.spec_from_file_location(
            PACKAGE, os.path.join(ours, "__init__.py"), submodule_search_locations=[ours]
        )
        if spec is not None and spec.loader is not None:
            sys.modules[PACKAGE] = module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
    from harness.cli import main as command

    return command(argv)
