"""How long a newcomer's first steps take: ``python -m benchmarks first_steps [--wheel FILE]``.

Makes a virtual environment, installs a wheel of this checkout there, and follows two pages of the tutorial in an empty
directory each, command by command. The table goes into ``docs/tutorial/first-gate.md``. The installation fetches what
the wheel needs; reading and typing are not in the figures.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from benchmarks._pages import DOCS, put
from tests.docs.pages import blocks, commands

ROOT = DOCS.parent
PAGES = ("tutorial/first-gate.md", "tutorial/find-a-bug.md")
#: commands that check nothing and take no time of their own
_ASIDE = ("sed ", "find ")


def timed(command: list[str], home: Path, environ: dict[str, str]) -> tuple[float, float, int]:
    """Seconds elapsed, CPU seconds and exit status of a command and its children."""
    start = time.monotonic()
    process = subprocess.Popen(command, cwd=home, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.monotonic() - start, used.ru_utime + used.ru_stime, process.returncode


def steps(wheel: Path, home: Path) -> Iterator[tuple[str, list[str], Path]]:
    """Each step in words, its command, and the directory it runs in; files of the pages are written on the way."""
    python = home / "venv" / "bin" / "python"
    yield "make a virtual environment", [sys.executable, "-m", "venv", str(home / "venv")], home
    yield "install the wheel and what it needs", [str(python), "-m", "pip", "install", "--quiet", str(wheel)], home
    for page in PAGES:
        place = home / Path(page).stem
        place.mkdir()
        for block in blocks(DOCS / page):
            if block.title is not None:
                (place / block.title).write_text(block.content, encoding="utf-8")
            for command, _ in commands(block.content) if block.language == "console" else ():
                yield f"{Path(page).stem}: `{command.partition(' | ')[0]}`", ["bash", "-c", command], place


def main() -> int:
    """Walks the steps and writes the table; 1 if a step ends otherwise than a test that holds or fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="a wheel that was built before; else one is built")
    wheel = parser.parse_args().wheel
    rows, total = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        if wheel is None:
            build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(home / "wheel"), str(ROOT)]
            subprocess.run(build, check=True)
            (wheel,) = (home / "wheel").glob("*.whl")
        hidden = ("CI", "GITHUB_", "GITLAB_", "PYTEST_", "PYTHON", "MSDUMP_", "VIRTUAL_ENV")
        environ = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        environ["PATH"] = os.pathsep.join((str(home / "venv" / "bin"), environ.get("PATH", "")))
        for words, command, place in steps(wheel.resolve(), home):
            elapsed, used, status = timed(command, place, environ)
            total += elapsed
            if status not in (0, 1):
                print(f"{words}: exit status {status}", file=sys.stderr)
                return 1
            if not (command[-1].startswith(_ASIDE) and command[0] == "bash"):
                rows.append(f"| {words} | {elapsed:.1f} | {used:.1f} |\n")
    load = os.getloadavg()[1]
    head = (
        f"Version {version('pytest-msdump')} on {os.cpu_count()} processors with a load average of {load:.0f}; "
        f"{total:.0f} s in all.\n\n| step | seconds elapsed | CPU seconds |\n|---|---|---|\n"
    )
    return 0 if put("tutorial/first-gate.md", "first steps", head + "".join(rows)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
