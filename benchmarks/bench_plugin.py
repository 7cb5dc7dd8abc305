"""What a golden check costs in a test, and what an idle plugin costs, beside the peers.

``python -m benchmarks.bench_plugin``. CPU seconds (user and system) of the pytest process and its children, the least
of several rounds, the rounds of all plugins by turns, in one run on one machine. Each plugin runs alone
(``PYTEST_DISABLE_PLUGIN_AUTOLOAD``) in the form that suits it best. Every test makes one array of 1 MiB; ``bare`` is
the same test file without a check, so that the difference is the plugin's, its import included. For this project the
array is what a network of one operator takes and gives (two tensors of 512 KiB), and its ``bare`` runs that network.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._pages import put

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
#: pytest's own part of what any fixture with a parameter costs.
FIXTURE = Plugin(
    "pytest (a fixture that does nothing)",
    fixture=", nothing",
    imports='@pytest.fixture(params=["cpu-tensor"])\ndef nothing(request):\n    yield',
)
PLUGINS = (OURS, ARRAYS, FIXTURE, *PEERS)


def cpu_seconds(arguments: Sequence[str], directory: Path, loads: Sequence[str], *, may_fail: bool = False) -> float:
    """CPU seconds of one pytest process tree; ``RuntimeError`` with its output where it fails."""
    environment = {
        key: value for key, value in os.environ.items() if key not in ("CI", "BUILD_NUMBER", "PYTEST_ADDOPTS")
    }
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": ""}
    plugins = [word for name in loads for word in ("-p", name)]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugins, *arguments]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode and not may_fail:
            output.seek(0)
            raise RuntimeError(f"{' '.join(command)}\n{output.read().decode(errors='replace')[-2000:]}")
    return used.ru_utime + used.ru_stime


def written(plugin: Plugin, directory: Path, count: int, *, bare: bool) -> Path:
    """Makes the test file of ``plugin`` in a new directory."""
    directory.mkdir(parents=True)
    (directory / "pytest.ini").write_text("[pytest]\n")
    text = plugin.template.format(
        imports="" if bare else plugin.imports,
        mark="" if bare else plugin.mark,
        fixture="" if bare else plugin.fixture,
        check=plugin.bare if bare else plugin.check,
        count=count,
    )
    (directory / "test_arrays.py").write_text(text)
    return directory


@dataclass
class Costs:
    """Least CPU seconds seen."""

    bare: float = float("inf")
    update: float = float("inf")
    check: float = float("inf")
    bare_one: float = float("inf")
    check_one: float = float("inf")

    def add(self, one: bool, bare: float, update: float, check: float) -> None:
        """Takes what one round measured."""
        if one:
            self.bare_one, self.check_one = min(self.bare_one, bare), min(self.check_one, check)
        else:
            self.bare, self.update, self.check = (
                min(self.bare, bare), min(self.update, update), min(self.check, check)
            )  # fmt: skip

    def each(self, count: int) -> tuple[float, float]:
        """Milliseconds a check of ``count`` adds to a test: all in, and without what one check alone costs."""
        whole, one = self.check - self.bare, self.check_one - self.bare_one
        return whole / count * 1e3, (whole - one) / (count - 1) * 1e3


def measure_checks(plugins: Sequence[Plugin], root: Path, count: int, rounds: int) -> dict[str, Costs]:
    """Update and check of ``count`` goldens of 1 MiB, and the same tests bare; check and bare of one golden."""
    costs = {plugin.name: Costs() for plugin in plugins}
    for turn in range(rounds):
        for plugin in plugins:
            cost, home = costs[plugin.name], root / f"{turn}"
            for tests in (1, count):
                bare = cpu_seconds((), written(plugin, home / f"bare{tests}", tests, bare=True), ())
                golden = written(plugin, home / f"golden{tests}", tests, bare=False)
                # pytest-regressions reports a failure for every file it writes for the first time.
                update = cpu_seconds(plugin.update, golden, plugin.loads, may_fail=True)
                check = cpu_seconds(plugin.compare, golden, plugin.loads)
                cost.add(tests == 1, bare, update, check)
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
    head = f"| plugin | a check adds to a test | without the first | writing the {count} adds | idle start-up |"
    lines = [head, "|---|---|---|---|---|"]
    for plugin in plugins:
        name, _, form = plugin.name.partition(" ")
        version = importlib.metadata.version(name)
        form = form and ", " + form.strip("()")
        cost, start = checks[plugin.name], idle[plugin.name][0] * 1e3
        (each, further), update = cost.each(count), cost.update - cost.bare
        lines.append(f"| {name} {version}{form} | {each:.2f} ms | {further:.2f} ms | {update:.2f} s | {start:.0f} ms |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures and prints two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="goldens of 1 MiB (default 200)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the least of each counts (default 3)")
    parser.add_argument("--directory", type=Path, default=None, help="where to work (default: a temporary directory)")
    given = parser.parse_args(arguments)
    missing = [plugin.name for plugin in PLUGINS if plugin.missing]
    plugins = [plugin for plugin in PLUGINS if not plugin.missing]
    with tempfile.TemporaryDirectory(dir=given.directory) as home:
        checks = measure_checks(plugins, Path(home) / "checks", given.count, given.rounds)
        idle = measure_idle(plugins, Path(home) / "idle", 2000, given.rounds + 2)
    print(f"\n{given.count} tests with one golden of 1 MiB each; CPU seconds, least of {given.rounds} rounds")
    print("ms/test: what a check adds to a test, import of the plugin included; each further: without it")
    print(f"{'plugin':32}{'bare s':>8}{'update s':>10}{'check s':>9}{'ms/test':>9}{'each further':>14}")
    for name, cost in checks.items():
        whole, further = cost.each(given.count)
        print(f"{name:32}{cost.bare:8.2f}{cost.update:10.2f}{cost.check:9.2f}{whole:9.2f}{further:14.2f}")
    print("\nidle: installed, not asked for; CPU time over pytest alone")
    print(f"{'plugin':32}{'start-up ms':>12}{'us/test':>10}")
    for name, (start, each) in idle.items():
        print(f"{name:32}{start * 1e3:12.1f}{each * 1e6:10.1f}")
    print()
    told = f"{given.count} tests with one golden of 1 MiB each; CPU time, the least of {given.rounds} rounds.\n\n"
    table = told + markdown(plugins, checks, idle, given.count) + "\n"
    # A table that lacks a peer does not replace a whole one.
    if missing:
        print(table)
    else:
        for page in ("performance.md", "alternatives.md"):
            put(page, "plugin", table)
    if missing:
        print(f"\nnot installed here, not measured: {', '.join(missing)}")


if __name__ == "__main__":
    main()
