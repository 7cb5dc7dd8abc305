"""MindSpore's own tests, run under the real one and here: which of those that pass there pass here.

``python -m tests.interop.own_tests TREE REAL HERE 7:300 --out DIRECTORY`` draws 300 files of ``TREE/tests/st`` and
``TREE/tests/ut/python`` (a public copy of MindSpore's repository; nothing of it is part of this one), runs each by
REAL, a Python with MindSpore and pytest, and by HERE under ``msdump run``, and prints what differs.
Results are kept in ``--out``, and a file that was run there is not run again but with ``--again``, which runs HERE's.
``--page`` writes the rates of all samples to a page.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.interop.own_tests.judging import Sample, report, tabulate
from tests.interop.table import Table

RECORDER = Path(__file__).parent / "recorder"
PROJECT = Path(__file__).parents[3]


class Side(NamedTuple):
    """One side of the comparison.

    Attributes:
        name: ``real`` or ``here``.
        start: the command that ``forked.py`` is given to.
        tree: its copy of MindSpore's tests, which write beside themselves.
        out: where its records go.
    """

    name: str
    start: list[str]
    tree: Path
    out: Path

    def record(self, file: str) -> Path:
        """Where the results of a file of tests lie."""
        return self.out / f"{file}.jsonl"

    def run(self, files: Sequence[str], limit: int) -> None:
        """Runs files of tests; each record gets a line for each test, and the output lies beside it."""
        lines = []
        for file in files:
            record = self.record(file)
            record.parent.mkdir(parents=True, exist_ok=True)
            record.write_text("", encoding="utf-8")
            # Tests of ``ut`` name their data from its directory ``python``, others from beside themselves.
            place = self.tree / "tests/ut/python" if file.startswith("tests/ut/python") else (self.tree / file).parent
            lines.append(json.dumps([str(self.tree / file), str(place), str(record), limit]) + "\n")
        path = os.pathsep.join([str(self.tree), str(RECORDER), str(PROJECT)])
        environment = os.environ | {
            "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "GLOG_v": "3", "DEVICE_ID": "0",
            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        }  # fmt: skip
        options = ["-p", "own_tests_record", "-p", "no:cacheprovider", "-q", "--tb=short", "-c", os.devnull]
        command = [*self.start, str(RECORDER / "forked.py"), *options, "--rootdir", str(self.tree)]
        subprocess.run(command, env=environment, input="".join(lines).encode(), check=True)


def main() -> None:
    """Draws, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("tree", "real", "here"):
        parser.add_argument(name, type=Path)
    parser.add_argument("samples", nargs="+", metavar="SEED:COUNT")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--limit", type=int, default=60, help="seconds a file may take")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="", help="run files whose path holds this text")
    parser.add_argument("--again", action="store_true", help="run here again what ran here before")
    given = parser.parse_args()
    files = sorted(
        str(file.relative_to(given.tree))
        for part in ("tests/st", "tests/ut/python")
        for file in (given.tree / part).rglob("test_*.py")
    )
    samples = []
    for each in given.samples:
        seed, count = map(int, each.split(":"))
        samples.append(Sample(given.out, random.Random(seed).sample(files, min(count, len(files))), seed))
    chosen = list(dict.fromkeys(file for sample in samples for file in sample.files if given.only in file))
    here = [str(given.here.absolute()), "-m", "harness.cli", "run"]
    sides = []
    for name, start in (("real", [str(given.real.absolute())]), ("here", here)):
        sides.append(Side(name, start, (given.out / f"tree-{name}").absolute(), (given.out / name).absolute()))
        if not sides[-1].tree.exists():
            shutil.copytree(given.tree / "tests", sides[-1].tree / "tests", symlinks=True)
    real, ours = sides
    real.run([file for file in chosen if not real.record(file).exists()], given.limit)
    passing = [file for file in chosen if '"passed"' in real.record(file).read_text(encoding="utf-8")]
    ours.run([file for file in passing if given.again or not ours.record(file).exists()], given.limit)
    print("\n\n".join(map(report, samples)))
    if given.page is not None:
        table = Table()
        tabulate(table, samples)
        with tempfile.TemporaryDirectory() as folder:
            table.write(given.page, Path(folder) / "kept.json")


if __name__ == "__main__":
    main()
