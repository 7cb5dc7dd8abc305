"""Mutants of the modules that must not fail: drawn by a seed, each given to the tests that run its line.

``python -m tests.mutants [--count N] [--seed N] [--kept FOLDER] [--seconds N]`` prints the branches that no test takes
and the mutants that no test noticed. ``--kept FOLDER`` keeps the measurement of coverage for the next run; ``--page
PAGE`` writes the tables between their marks there. The exit code is 1 if fewer than 95 % of the mutants were noticed.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks._pages import put
from tests.mutants.covering import Covering, Rate
from tests.mutants.mutations import Mutant, mutants
from tests.mutants.rooms import TOP, modules

#: A mutant is given to so many tests, those that run the fewest lines first, and of those so many by themselves, since
#: most mutants go no further. So many seconds of the processor are given beyond what tests take.
_MOST_TESTS, _FIRST, _SECONDS = 40, 6, 60
#: Exit code of a child whose tests imported the project from elsewhere.
_ELSEWHERE = 97
_ENOUGH = 0.95
#: hypothesis is imported before pytest begins
_QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
_LEFT_OUT = (".git", ".tox", ".venv", "site", ".ruff_cache", ".mypy_cache", ".pytest_cache")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no mutant is begun after so many")
    parser.add_argument("--only", default="", help="beginning of the modules' paths")
    parser.add_argument("--page")
    given = parser.parse_args()
    with TemporaryDirectory() as scratch:
        folder = given.kept or Path(scratch)
        folder.mkdir(exist_ok=True)
        covering = Covering(folder)
        if not (folder / "coverage").exists() and (code := covering.measure()):
            return code  # what fails without a mutant shows nothing
        told(covering.rates(), given.page)
        every = [each for name in modules() if name.startswith(given.only)
                 for each in mutants(name, (TOP / name).read_bytes())]  # fmt: skip
        drawn = random.Random(given.seed).sample(every, min(given.count, len(every)))
        survived, tried = tested(drawn, covering, Path(scratch) / "copy", given.seconds)
    for each in survived:
        print(f"survived: {each}")
    row = f"| {len(every):,} | {tried} | {tried - len(survived)} | {len(survived)} | {given.seed} |\n"
    head = "| mutants there are | tried | noticed | not noticed | seed |\n|---|---|---|---|---|\n"
    print(head + row)
    if given.page:
        put(given.page, "mutants", head + row)
    return int(tried - len(survived) < _ENOUGH * tried)


def told(rates: dict[str, Rate], page: str | None) -> None:
    """Prints what no test covers; the page has the numbers."""
    rows = ["| module | statements | branches | not covered |\n|---|---|---|---|\n"]
    for name, each in rates.items():
        rows.append(f"| `{name}` | {each.statements} | {each.branches} | {len(each.missed)} |\n")
        if each.missed:
            print(f"{name}: {', '.join(each.missed)}")
    statements, branches, missed = (
        sum(numbers) for numbers in zip(*((*each[:2], len(each.missed)) for each in rates.values()), strict=True)
    )
    share = 1 - missed / (statements + branches)
    rows.append(f"| all, {share:.1%} covered | {statements:,} | {branches:,} | {missed} |\n")
    if page is None or not put(page, "branches", "".join(rows)):
        print("".join(rows))


def tested(drawn: list[Mutant], covering: Covering, copy: Path, seconds: float) -> tuple[list[Mutant], int]:
    """The mutants that no test noticed, and how many were tried, in a copy of the project."""
    shutil.copytree(TOP, copy, ignore=shutil.ignore_patterns(*_LEFT_OUT), symlinks=True)
    survived, began, asked = list[Mutant](), time.monotonic(), Asked(copy)
    for at, each in enumerate(drawn):
        if time.monotonic() - began > seconds:
            return survived, at
        tests = covering.of(each.module, each.line)
        parts = [asked.sound(part) for part in (tests[:_FIRST], tests[_FIRST:_MOST_TESTS])]
        place = copy / each.module
        source = place.read_bytes()
        try:
            place.write_bytes(each.of(source))
            noticed = any(part and not asked.passes(part) for part in parts)
        finally:
            place.write_bytes(source)
        if not noticed:
            survived.append(each)
        print(f"{at + 1}/{len(drawn)} {'noticed' if noticed else 'SURVIVED'} {each}", flush=True)
    return survived, len(drawn)


class Asked:
    """Tests in a copy of the project. Only those are asked that pass there without a mutant: of any other each mutant
    would count as noticed."""

    def __init__(self, copy: Path) -> None:
        self._copy = copy
        self._seconds: dict[str, float] = {}  # of the processor, of those that pass
        self._failing: set[str] = set()

    def sound(self, tests: list[str]) -> list[str]:
        """Those that pass in the copy as it is. Each is tried once."""
        fresh = [each for each in tests if each not in self._seconds and each not in self._failing]
        if fresh and not self._tried(fresh):
            for each in fresh:
                if not self._tried([each]):
                    self._failing.add(each)
                    print(f"fails without a mutant, is not asked: {each}", flush=True)
        return [each for each in tests if each in self._seconds]

    def passes(self, tests: list[str]) -> bool:
        """Whether all pass. A mutant may take four times as long as the project before it counts as one that hangs."""
        return not _noticed(self._copy, tests, _SECONDS + int(4 * sum(self._seconds[each] for each in tests)))[0]

    def _tried(self, tests: list[str]) -> bool:
        noticed, seconds = _noticed(self._copy, tests, _SECONDS * len(tests))
        if not noticed:
            self._seconds |= dict.fromkeys(tests, seconds / len(tests))
        return not noticed


def _noticed(copy: Path, tests: list[str], seconds: int) -> tuple[bool, float]:
    """Whether a test fails, in a fork that has not imported the project yet; the seconds of the processor it took."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            code = _pytest(copy, tests)
        finally:
            os._exit(code)
    _, status, used = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) == _ELSEWHERE:
        raise SystemExit("the tests import another copy of the project, which shows nothing")
    return os.waitstatus_to_exitcode(status) not in (0, 5), used.ru_utime + used.ru_stime


def _pytest(copy: Path, tests: list[str]) -> int:
    silent = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(silent, descriptor)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("harness", "pytest_msdump", "tests")]:
        del sys.modules[name]
    sys.meta_path[:] = [each for each in sys.meta_path if type(each).__name__ != "_SameNames"]
    sys.dont_write_bytecode, sys.path[:] = True, [str(copy), *(each for each in sys.path if each != str(TOP) and each)]
    os.environ.update(PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1", CI="true")
    os.chdir(copy)
    import pytest

    code = int(pytest.main([*tests, "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *_QUIET]))
    import harness

    return code if Path(harness.__file__ or "").is_relative_to(copy) else _ELSEWHERE


def _warm() -> None:
    """Imports what every fork needs and no mutant changes."""
    import h5py  # noqa: F401
    import hypothesis  # noqa: F401
    import ml_dtypes  # noqa: F401
    import pytest  # noqa: F401


if __name__ == "__main__":
    _warm()
    sys.exit(main())
