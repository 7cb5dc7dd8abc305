"""Which tests run which lines, and which branches no test takes: measured by coverage.py, in one run of the tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tests.mutants.rooms import EXCLUDED, MODULES, TESTS, TOP, modules


class Rate(NamedTuple):
    """Branches and statements of a module, and those that no test takes: lines, and ``from->to``."""

    statements: int
    branches: int
    missed: list[str]


class Covering:
    """What the tests cover. ``folder`` keeps the measurement."""

    def __init__(self, folder: Path) -> None:
        self._data = folder / "coverage"
        self._settings = folder / "coveragerc"

    def measure(self) -> int:
        """Runs the tests; gives pytest's exit code."""
        chosen = "".join(f"\n    {TOP / each}" for each in MODULES)
        self._settings.write_text(
            f"[run]\nbranch = True\ndata_file = {self._data}\ninclude ={chosen}\n"
            f"[report]\nexclude_also ={''.join(f'{chr(10)}    {each}' for each in EXCLUDED)}\n"
        )
        command = [sys.executable, "-m", "coverage", "run", "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
        command += ["-p", "tests.mutants.contexts"]
        environment = {**os.environ, "COVERAGE_RCFILE": str(self._settings)}
        return subprocess.run([*command, *TESTS], cwd=TOP, env=environment, check=False).returncode

    @cached_property
    def tests(self) -> Mapping[str, Mapping[int, frozenset[str]]]:
        """For each module and line the tests that run it, as pytest names them, without parameters."""
        from coverage import CoverageData

        data, found = CoverageData(self._data), {}
        data.read()
        for module in modules():
            lines = data.contexts_by_lineno(str(TOP / module))
            found[module] = {line: frozenset(filter(None, names)) for line, names in lines.items()}
        return found

    @cached_property
    def breadth(self) -> Mapping[str, int]:
        """How many lines each test runs."""
        count: dict[str, int] = defaultdict(int)
        for lines in self.tests.values():
            for names in lines.values():
                for name in names:
                    count[name] += 1
        return count

    def of(self, module: str, line: int) -> list[str]:
        """Tests that run a line, those that run the fewest lines first; of a line that only the import of its module
        runs, those that run the most of the module."""
        lines = self.tests[module]
        if found := lines.get(line):
            return sorted(found, key=lambda name: (self.breadth[name], name))
        count = Counter(name for names in lines.values() for name in names) if line in lines else Counter()
        return [name for name, _ in count.most_common()]

    def rates(self) -> dict[str, Rate]:
        """What is covered, by module."""
        target = self._data.with_name("coverage.json")
        command = [sys.executable, "-m", "coverage", "json", "-q", "-o", str(target)]
        subprocess.run(command, cwd=TOP, env={**os.environ, "COVERAGE_RCFILE": str(self._settings)}, check=True)
        files = json.loads(target.read_text())["files"]
        found = {}
        for name in modules():
            each = next((held for path, held in files.items() if path.endswith(name)), None)
            if each is None:  # nothing in it is run
                continue
            missed = [f"{line}" for line in each["missing_lines"]]
            missed += [f"{start}->{end}" for start, end in each["missing_branches"]]
            found[name] = Rate(each["summary"]["num_statements"], each["summary"]["num_branches"], missed)
        return found
