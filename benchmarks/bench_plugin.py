"""What a golden check costs in a test, and what an idle plugin costs, beside the peers.

``python -m benchmarks.bench_plugin``. CPU seconds (user and system) of the pytest process and its children, the rounds
of all plugins by turns, in one run on one machine. Each plugin runs alone (``PYTEST_DISABLE_PLUGIN_AUTOLOAD``) in the
form that suits it best. Every test makes one array of 1 MiB; ``bare`` is the same test file without a check, with a
fixture that does nothing, so that the difference is the plugin's. For this project the array is what a network of one
operator takes and gives (two tensors of 512 KiB), and its ``bare`` runs that network.

"All in" is the least of whole processes, the import included. What a further check costs is a difference of a tenth of
a process, which a busy machine hides. So a ``conftest.py`` beside the tests takes the time of each test in its process:
of each test the least over the rounds counts, of collection and of what comes after the last test what 200 tests take
more than one. The calls of functions that a further check makes are the same on any machine.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import math
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._pages import put
from benchmarks._phases import PHASES, Phases, cpu_seconds

NUMPY = """
import numpy as np
import pytest
{imports}

def made(number):
    return np.random.default_rng(number).standard_normal(131072)

{mark}
@pytest.mark.parametrize("number", range({count}))
def test_array(number{fixture}):
    array = made(number)
    {check}
"""

HARNESS = """
import numpy as np
import pytest
{imports}
import harness
from harness import Tensor, nn

harness.set_context(mode=harness.GRAPH_MODE)


class Add(nn.Cell):
    def construct(self, x):
        return x + 1


def made(number):
    return Tensor(np.random.default_rng(number).standard_normal(131072).astype(np.float32))

{mark}
@pytest.mark.parametrize("number", range({count}))
def test_array(number{fixture}):
    {check}
"""

TRIVIAL = """
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_nothing(number):
    pass
"""


@dataclass(frozen=True)
class Plugin:
    """One plugin in one form.

    Attributes:
        name: as the table prints it.
        module: what must be importable; empty for none.
        loads: ``-p`` names.
        check: the line that checks the array ``array``.
        update, compare: arguments of an updating and of a comparing run.
        template: text of the test file.
        bare: the line that stands in ``check``'s place without the plugin.
        bare_fixture: whether the bare test has a fixture that does nothing.
    """

    name: str
    module: str = ""
    loads: tuple[str, ...] = ()
    check: str = "assert array is not None"
    fixture: str = ""
    mark: str = ""
    imports: str = ""
    update: tuple[str, ...] = ()
    compare: tuple[str, ...] = ()
    template: str = NUMPY
    bare: str = "assert array is not None"
    bare_fixture: bool = True
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> bool:
        return bool(self.module) and importlib.util.find_spec(self.module) is None


OURS = Plugin(
    "pytest-msdump",
    "pytest_msdump",
    ("msdump",),
    "msdump.run(Add(), made(number))",
    ", msdump",
    mark="@pytest.mark.msdump",
    update=("--msdump-regen",),
    compare=("--msdump",),
    template=HARNESS,
    bare="Add()(made(number))",
)
ARRAYS = Plugin(
    "pytest-msdump (check)",
    "pytest_msdump",
    ("msdump",),
    'msdump.check("array", array)',
    ", msdump",
    mark="@pytest.mark.msdump",
    update=("--msdump-regen",),
    compare=("--msdump",),
)
PEERS = (
    Plugin(
        "syrupy (bytes)",
        "syrupy",
        ("syrupy",),
        "assert array.tobytes() == snapshot(extension_class=SingleFileSnapshotExtension)",
        ", snapshot",
        imports="from syrupy.extensions.single_file import SingleFileSnapshotExtension",
        update=("--snapshot-update",),
    ),
    Plugin(
        "pytest-regtest (npy)",
        "pytest_regtest",
        ("regtest",),
        "snapshot.check(array)",
        ", snapshot",
        update=("--regtest-reset",),
    ),
    Plugin(
        "pytest-arraydiff (FITS)",
        "pytest_arraydiff",
        ("pytest_arraydiff",),
        "return array",
        mark="@pytest.mark.array_compare(reference_dir='golden', file_format='fits')",
        update=("--arraydiff-generate-path=golden",),
        compare=("--arraydiff",),
    ),
    Plugin(
        "pytest-regressions (ndarrays)",
        "pytest_regressions",
        ("regressions", "pytest-datadir"),
        'ndarrays_regression.check({"array": array})',
        ", ndarrays_regression",
        update=("--regen-all",),
    ),
)
NOTHING = '@pytest.fixture(params=["cpu-tensor"])\ndef nothing(request):\n    yield'
KEPT = "from harness.freed import keep_freed_memory\nkeep_freed_memory()"
#: pytest's own part of what any fixture with a parameter costs.
FIXTURE = Plugin("pytest (a fixture that does nothing)", fixture=", nothing", imports=NOTHING, bare_fixture=False)
#: What no check that looks at every byte, and keeps the value, can do without.
FLOOR = Plugin(
    "pytest (the value's xxh3 and a copy, freed memory kept)",
    check="xxhash.xxh3_128(array).digest(), array.copy()",
    fixture=", nothing",
    imports=f"import xxhash\n{KEPT}\n{NOTHING}",
)
#: What the test's own arrays gain while the gate is on.
FREED = Plugin("pytest (freed memory kept)", fixture=", nothing", imports=f"{KEPT}\n{NOTHING}")
PLUGINS = (OURS, ARRAYS, FLOOR, FREED, FIXTURE, *PEERS)


@dataclass
class Costs:
    """What a plugin's runs and their bare ones took; those of one test, and those of all."""

    bare: Phases = field(default_factory=Phases)
    check: Phases = field(default_factory=Phases)
    bare_one: Phases = field(default_factory=Phases)
    check_one: Phases = field(default_factory=Phases)
    update: float = math.inf

    def whole(self) -> float:
        """Milliseconds that a check adds to a test, all in."""
        return (self.check.least - self.bare.least) / len(self.check.calls) * 1e3

    def further(self) -> float:
        """Milliseconds that a further check adds."""
        return (self.check.further(self.check_one) - self.bare.further(self.bare_one)) * 1e3

    def spread(self) -> tuple[float, float]:
        """Least and most milliseconds that one round alone gives for ``further``."""
        found = [(a - b) * 1e3 for a, b in zip(self.check.each_round(), self.bare.each_round(), strict=True)]
        return min(found), max(found)

    def calls(self) -> float:
        """Calls of functions that a further check makes."""
        return statistics.median(self.check.calls[1:]) - statistics.median(self.bare.calls[1:])


def written(plugin: Plugin, directory: Path, count: int, *, bare: bool) -> Path:
    """Makes the test file of ``plugin`` in a new directory."""
    directory.mkdir(parents=True)
    (directory / "pytest.ini").write_text("[pytest]\n")
    (directory / "conftest.py").write_text(PHASES)
    nothing = bare and plugin.bare_fixture
    text = plugin.template.format(
        imports=(NOTHING if nothing else "") if bare else plugin.imports,
        mark="" if bare else plugin.mark,
        fixture=(", nothing" if nothing else "") if bare else plugin.fixture,
        check=plugin.bare if bare else plugin.check,
        count=count,
    )
    (directory / "test_arrays.py").write_text(text)
    return directory


def measure_checks(plugins: Sequence[Plugin], root: Path, count: int, rounds: int) -> dict[str, Costs]:
    """Update and check of ``count`` goldens of 1 MiB, and the same tests bare; check and bare of one golden."""
    costs = {plugin.name: Costs() for plugin in plugins}
    for turn in range(rounds):
        for plugin in plugins:
            cost, home = costs[plugin.name], root / f"{turn}"
            for tests, bare, check in ((1, cost.bare_one, cost.check_one), (count, cost.bare, cost.check)):
                bare.run((), written(plugin, home / f"bare{tests}", tests, bare=True), ())
                golden = written(plugin, home / f"golden{tests}", tests, bare=False)
                # pytest-regressions reports a failure for every file it writes for the first time.
                update = cpu_seconds(plugin.update, golden, plugin.loads, may_fail=True)
                check.run(plugin.compare, golden, plugin.loads)
            cost.update = min(cost.update, update)
            shutil.rmtree(home)
    return costs


def measure_idle(plugins: Sequence[Plugin], root: Path, count: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Start-up (one empty test) and cost of an empty test, each over pytest alone; CPU seconds."""
    one, many = root / "one", root / "many"
    for directory, tests in ((one, 1), (many, count)):
        directory.mkdir(parents=True)
        (directory / "pytest.ini").write_text("[pytest]\n")
        (directory / "test_trivial.py").write_text(TRIVIAL.format(count=tests))
    entries: dict[str, tuple[str, ...]] = {"": ()} | {plugin.name: plugin.loads for plugin in plugins}
    least = {(name, directory): float("inf") for name in entries for directory in (one, many)}
    for _ in range(rounds):
        for name, loads in entries.items():
            for directory in (one, many):
                least[name, directory] = min(least[name, directory], cpu_seconds((), directory, loads))
    result = {}
    for plugin in plugins:
        start = least[plugin.name, one] - least["", one]
        per_test = (least[plugin.name, many] - least["", many] - start) / (count - 1)
        result[plugin.name] = (start, per_test)
    return result


def markdown(
    plugins: Sequence[Plugin], checks: dict[str, Costs], idle: dict[str, tuple[float, float]], count: int
) -> str:
    """The table of docs/performance.md and docs/alternatives.md."""
    head = "| plugin | a check adds to a test | a further one | of rounds | calls | "
    lines = [f"{head}writing the {count} adds | idle start-up |", "|---|---|---|---|---|---|---|"]
    for plugin in plugins:
        name, _, form = plugin.name.partition(" ")
        version = importlib.metadata.version(name)
        form = form and ", " + form.strip("()")
        cost, start = checks[plugin.name], idle[plugin.name][0] * 1e3
        least, most = cost.spread()
        measured = f"{cost.whole():.2f} ms | {cost.further():.2f} ms | {least:.2f} to {most:.2f} | {cost.calls():,.0f}"
        update = cost.update - cost.bare.least
        lines.append(f"| {name} {version}{form} | {measured} | {update:.2f} s | {start:.0f} ms |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="goldens of 1 MiB (default 200)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--directory", type=Path, default=None, help="where to work (default: a temporary directory)")
    parser.add_argument("--ours", action="store_true", help="leave the other plugins out, and print the table only")
    given = parser.parse_args(arguments)
    wanted = [plugin for plugin in PLUGINS if not (given.ours and plugin in PEERS)]
    missing = [plugin.name for plugin in wanted if plugin.missing]
    plugins = [plugin for plugin in wanted if not plugin.missing]
    with tempfile.TemporaryDirectory(dir=given.directory) as home:
        checks = measure_checks(plugins, Path(home) / "checks", given.count, given.rounds)
        idle = measure_idle(plugins, Path(home) / "idle", 2000, given.rounds + 2)
    print("\nidle: installed, not asked for; CPU time over pytest alone")
    print(f"{'plugin':40}{'start-up ms':>12}{'us/test':>10}")
    for name, (start, each) in idle.items():
        print(f"{name:40}{start * 1e3:12.1f}{each * 1e6:10.1f}")
    print()
    told = f"{given.count} tests with one golden of 1 MiB each; CPU time over a bare test with a fixture that does "
    told += f"nothing (that row: over one without a fixture), {given.rounds} rounds.\n\n"
    table = told + markdown(plugins, checks, idle, given.count) + "\n"
    # A table that lacks a peer does not replace a whole one.
    if missing or given.ours:
        print(table)
    else:
        for page in ("performance.md", "alternatives.md"):
            put(page, "plugin", table)
    if missing:
        print(f"\nnot installed here, not measured: {', '.join(missing)}")


if __name__ == "__main__":
    main()
