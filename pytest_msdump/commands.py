"""The commands that the gate suggests, each typed in the directory pytest was started in. Imports ``harness``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.suggest import command, operand
from pytest_msdump.options import BY_NAME, Settings, given_on_command_line

if TYPE_CHECKING:
    from pytest_msdump.gate_test import GateTest

_OWN = ("msdump_golden", "msdump_level", "msdump_mindspore", "msdump_mindspore_timeout")


def again(test: GateTest, *words: str) -> str:
    """A command that ends with the arguments that select ``test`` and find its golden.

    pytest reads a bracket in a path as the start of a test's parameters: such a directory is entered first. A test's
    id has a ``/`` where its file's name has a backslash.
    """
    _, separator, rest = test.item.nodeid.partition("::")
    file, start = test.item.path, test.item.config.invocation_params.dir
    base = file.parent if "[" in os.path.relpath(file.parent, start) else start
    selected = operand(os.path.relpath(file, base) + separator + rest)
    flags = [*_variant(test), *_golden(test, base), *carried(test.settings, base), *_root(test, file.parent, base)]
    return command(*words, *flags, selected, within="" if base == start else os.path.relpath(base, start))


def _variant(test: GateTest) -> Iterator[str]:
    """The flags that choose backend and mode, if pytest was given them."""
    chosen = {
        "msdump_backend": test.variant.backend,
        "msdump_mode": test.variant.mode,
        "msdump_granularity": test.granularity,
    }
    for name, value in chosen.items():
        if given_on_command_line(test.item.config, name):
            yield f"{BY_NAME[name].flag}={value}"


def _golden(test: GateTest, base: Path) -> Iterator[str]:
    """Further flags that pytest was given and that decide which golden a test has."""
    config = test.item.config
    for name in _OWN:
        if given_on_command_line(config, name):
            value, start = config.getoption(name), config.invocation_params.dir
            if name == "msdump_golden":
                value = os.path.relpath(test.settings.golden, base)
            elif name == "msdump_mindspore" and base != start and (start / value).exists():
                value = os.path.relpath(start / value, base)
            yield f"{BY_NAME[name].flag}={value}"
    if given_on_command_line(config, "msdump_rdr"):
        yield BY_NAME["msdump_rdr"].flag


def _root(test: GateTest, folder: Path, base: Path) -> Iterator[str]:
    """Flags without which the root would be another one: pytest looks for its configuration from the tests upwards,
    and where there is none, it starts at the directory it is started in."""
    config, settings = test.item.config, test.settings
    if any(flag in ("--rootdir", "--config-file") for flag, _ in settings.given):
        return
    if config.inipath is None:
        if base != config.invocation_params.dir:
            yield f"--rootdir={os.path.relpath(settings.root, base)}"
        return
    from harness.cli.nearest import configuration

    between = (each for each in (folder, *folder.parents) if config.inipath.parent in each.parents)
    if any(configuration(each) is not None for each in between):
        yield f"--config-file={os.path.relpath(config.inipath, base)}"


def carried(settings: Settings, base: Path | None) -> Iterator[str]:
    """The options of pytest that decide what it collects and configures, for a command typed in ``base``; None for
    anywhere."""
    for flag, value in settings.given:
        if flag.startswith("--"):
            yield f"{flag}={os.path.relpath(value, base) if base is not None else value}"
        else:
            yield from (flag, value)


def show(store: str, run: str) -> str:
    """The command that prints a golden run."""
    return command("msdump", "show", Path(store), "--run", run)


def accept(settings: Settings, candidate: str, start: Path) -> str:
    """The command that accepts ``candidate``, a path relative to the root."""
    golden = os.path.relpath(settings.golden, start)
    named: list[str | Path] = [] if settings.usual and golden == "golden" else ["--golden", Path(golden)]
    return command("msdump", "accept", Path(os.path.relpath(settings.root / candidate, start)), *named)


def review(settings: Settings, candidate: str, start: Path) -> str:
    """The command that shows this session's candidates."""
    inside = settings.root == start or settings.root in start.parents
    bundle = [] if inside and not settings.in_ci else [Path(os.path.relpath(settings.root / candidate, start))]
    found = settings.usual and (settings.golden.is_dir() or settings.root == start)
    named: list[str | Path] = [] if found else ["--golden", Path(os.path.relpath(settings.golden, start))]
    return command("msdump", "review", *bundle, *named)


def moved(settings: Settings, former: str, golden: str, start: Path) -> str:
    """The commands that give a golden another name, with its manifest; both are paths below the golden directory."""
    from harness.store.manifest import path_of

    folder = settings.golden
    pairs = [(folder / each(former), folder / each(golden)) for each in (str, path_of)]
    target = pairs[0][1].parent
    made = [] if target.is_dir() else [command("mkdir", "-p", Path(os.path.relpath(target, start)))]
    moves = [command("mv", *(Path(os.path.relpath(each, start)) for each in pair)) for pair in pairs]
    return " && ".join([*made, *moves])


def prune(settings: Settings, start: Path) -> str:
    """The command that removes goldens without an owner: it collects all tests from the root."""
    golden = [] if settings.usual else [f"--msdump-golden={os.path.relpath(settings.golden, settings.root)}"]
    flags = [*golden, *carried(settings, settings.root)]
    return command("msdump", "prune", *flags, within=os.path.relpath(settings.root, start))


def collect(settings: Settings) -> str:
    """The command, typed anywhere, that says why a file cannot be collected: ``msdump prune`` may have been typed
    elsewhere."""
    return command("pytest", *carried(settings, None), "--collect-only", settings.root)


def verify(settings: Settings, start: Path) -> str:
    """The command that reads every golden."""
    return command("msdump", "verify", Path(os.path.relpath(settings.golden, start)))


def describe(settings: Settings, start: Path) -> str:
    """The command that rewrites the manifests."""
    return command("msdump", "verify", "--fix", Path(os.path.relpath(settings.golden, start)))


def refuse_reviewed(config: pytest.Config, settings: Settings) -> None:
    """Raises ``pytest.UsageError`` if the reviewed goldens would be written in CI: an unattended regeneration would
    turn every fault into the new truth. Another directory (``--msdump-golden``) may be written."""
    golden, reviewed = settings.golden, Path(os.path.abspath(settings.root / config.getini("msdump_golden")))
    writes = settings.regen or settings.learn
    if not (writes and settings.in_ci and (golden == reviewed or reviewed in golden.parents)):
        return
    flag = "--msdump-regen" if settings.regen else "--msdump-learn"
    place, start = os.path.relpath(golden, config.invocation_params.dir), config.invocation_params.dir
    flags = [*([] if settings.usual else [f"--msdump-golden={place}"]), *carried(settings, start)]
    beside: list[str | Path] = [] if settings.usual else ["--golden", Path(place)]
    raise pytest.UsageError(
        f"{flag} does not write {golden} in CI ({settings.ci_sign}): a golden changes only after a person has seen the "
        "change.\n"
        f"  at your desk: `{command('msdump', 'regen', *flags)}`\n"
        f"  or here: `{command('pytest', '--msdump', *flags)}` leaves what changed in .msdump/candidates, and "
        f"`{command('msdump', 'review', *beside)}` shows it and takes it over\n"
        "  or elsewhere: --msdump-golden names another directory to write"
    )
