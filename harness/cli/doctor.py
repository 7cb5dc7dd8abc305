"""``msdump doctor``: what protects the goldens of this project here, and what is left to do."""

from __future__ import annotations

import configparser
import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any, NamedTuple

from harness import ci
from harness.cli import git
from harness.cli.init import attributes, lacking
from harness.cli.nearest import configuration, configured, configured_above, project
from harness.errors import HarnessError
from harness.escape import line
from harness.exit_status import DIFFERS, HOLDS
from harness.reading import read_bytes
from harness.store.manifest import path_of, store_paths
from harness.store.sizes import large
from harness.suggest import command
from harness.words import counted

_PACKAGES = ("pytest-msdump", "pytest", "numpy", "h5py")


class Finding(NamedTuple):
    """One line: what was found, and what to do about it; empty if it is well."""

    what: str
    todo: str = ""


def examine(folder: Path, keep: dict[str, Any] | None = None) -> int:
    """Looks at a project and prints a line for each thing, those with something to do marked; nothing is changed.

    Args:
        folder: the project, or a directory in it.
        keep: receives what ``--json`` writes.

    Returns:
        0 if nothing is left to do, 1 otherwise.

    Raises:
        HarnessError: there is no such directory.
    """
    if not folder.is_dir():
        raise HarnessError(f"{folder}: there is no such directory")
    root = Path(os.path.relpath(project(folder)))
    found = [*_installed(), *_pytest(root), *_goldens(root), *_protected(root), *_repository(root)]
    if keep is not None:
        keep["findings"] = [each._asdict() for each in found]
    for each in found:
        print(line(f"{'to do' if each.todo else 'well '}  {each.what}"))
        if each.todo:
            print(line(f"         {each.todo}"))
    left = sum(bool(each.todo) for each in found)
    print(f"{counted(left, 'thing')} to do" if left else "nothing to do")
    return DIFFERS if left else HOLDS


def _installed() -> Iterator[Finding]:
    names = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    yield Finding(f"installed: {names}; Python {platform.python_version()} on {platform.system()}")
    loads = [each for each in entry_points(group="pytest11") if each.value.startswith("pytest_msdump.")]
    disabled = os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    if not loads or disabled:
        why = "PYTEST_DISABLE_PLUGIN_AUTOLOAD is set" if loads else f"it is not installed for {sys.executable}"
        yield Finding(f"plugin: pytest does not load it by itself: {why}", "load it with -p pytest_msdump.plugin")
    else:
        yield Finding("plugin: pytest loads it by itself")


def _pytest(root: Path) -> Iterator[Finding]:
    found = configuration(root)
    if found is None:
        above = configured_above(root)
        where = f"; {above} configures pytest above" if above else ""
        yield Finding(f"pytest: no configuration in {root}{where}", command("msdump", "init", root))
        return
    told = configured(root)
    yield Finding(f"pytest: {found}; tests in {' '.join(told.testpaths) or 'any directory'}, goldens in {told.golden}")


def _goldens(root: Path) -> Iterator[Finding]:
    golden = root / configured(root).golden
    stores = store_paths(golden) if golden.is_dir() else []
    if not stores:
        yield Finding(f"goldens: none in {golden}", command("msdump", "regen", within=os.path.relpath(root)))
        return
    size = sum((golden / each).stat().st_size for each in stores)
    yield Finding(f"goldens: {len(stores)} in {golden}, {size / 1e6:.1f} MB")
    yield from (Finding(told, "see there") for told in large(golden / each for each in stores))
    bare = [
        each for each in stores if not (golden / path_of(each)).exists() and not (golden / "MANIFEST.json").exists()
    ]
    if bare:
        yield Finding(f"manifests: {counted(len(bare), 'golden')} without one, first {bare[0]}", _fix(golden))


def _fix(golden: Path) -> str:
    return command("msdump", "verify", "--fix", Path(os.path.relpath(golden)))


def _protected(root: Path) -> Iterator[Finding]:
    """Whether a session here may write goldens, and whether CI would be seen where its variables are hidden."""
    sign = ci.sign(folder=root)
    if sign:
        yield Finding(f"CI: yes, {sign}: no session writes a golden here")
    else:
        yield Finding(f"CI: no sign of it: a regeneration writes goldens here ({ci.STATED}=true would stop it)")
    hiding = _hides(root / "tox.ini")
    if hiding is None:
        return
    seen = os.path.isdir("/proc/self")
    how = "but the variables of tox's own process are read here" if seen else "and this system tells no other way"
    if hiding:
        yield Finding(f"tox: tox.ini does not pass CI on, {how}", "in tox.ini, [testenv]: pass_env = CI, GITHUB_*")
    else:
        yield Finding("tox: tox.ini passes CI on")


def _hides(path: Path) -> bool | None:
    """Whether environments of tox lack ``CI``; None if there is no such file, or it sets up none."""
    if not path.is_file():
        return None
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(read_bytes(path, 1 << 20, HarnessError).decode())
    except (HarnessError, ValueError, configparser.Error):
        return None
    if not parser.has_section("testenv"):
        return None
    passed = parser.get("testenv", "pass_env", fallback="") or parser.get("testenv", "passenv", fallback="") or ""
    return not any(each in ("CI", "*", "C*") for each in passed.replace(",", " ").split())


def _repository(root: Path) -> Iterator[Finding]:
    taught = git.taught(root)
    if taught is None:
        yield Finding("git: no repository")
        return
    init = command("msdump", "init", Path(os.path.relpath(root)))
    told = "git diff shows what moved in a golden" if taught else "git diff shows no golden in this clone"
    yield Finding(f"git: {told}", "" if taught else init)
    name = configured(root).golden
    missing = lacking(root / ".gitattributes", attributes(name))
    if missing:
        yield Finding(f"git: .gitattributes lacks {' and '.join(map(repr, missing))}", "add it")
    for each in git.ignored(root, Path(name) / "test_first.h5"):
        yield Finding(each.removeprefix("note: "), "take the rule out of that file, or add !/" + f"{name}/**/*.h5")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(none)"
