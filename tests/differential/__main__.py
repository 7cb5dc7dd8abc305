"""``python -m tests.differential``: grows programs, runs each here and under the real MindSpore, and prints the rate.

The seed is fresh each time and printed. What differs is printed, the first of each kind shrunk. ``--write PAGE`` puts
the rate and what differed into ``docs/interop.md``; with ``--results FILE`` several runs, also at once, each of a part
of the programs, make one table. A run that is ended (Ctrl-C, SIGTERM) counts with what it has compared.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness.atomic import writer_lock
from tests.differential.grow import grown
from tests.differential.program import Program, Shrinker
from tests.differential.sides import AGREE, Difference, Pair
from tests.differential.written import Written
from tests.interop.table import Table

TITLE = "Generated programs"
INTRO = """
Programs grown from a seed (`tests/differential`), each run here and in a fork of the real MindSpore 2.10.0: operators,
names, order, slots, dtypes, values and printed text are compared. Even seeds: operators, layers, nested, reused cells,
loops, training steps; odd seeds: more forms (`forms.txt`), functions and closures, too; `--wide`: forms drawn from the
public names, too, and statements as users write them (`language.txt`); `--written`: a second generator, which draws
networks and ways of training as users write them (`written.txt`). "Listed" differ only in what
`docs/differences.md` lists and the judge knows (`tests/differential/listed.py`); they count as agreeing.
"""
COLUMNS = ("programs", "agree", "of them refused by both", "of them listed", "rate", "kinds of what differs", "code")


def main() -> int:
    """Runs; gives 0 if the rate is reached."""
    given = arguments()
    kinds: Counter[str] = Counter()
    lines: list[str] = []
    begun = time.monotonic()
    try:
        compare_all(given, kinds, lines)
    except KeyboardInterrupt:
        print("ended early")
    finally:
        total, agree = sum(kinds.values()), sum(kinds[kind] for kind in AGREE)
        if total:
            rate, seconds = agree / total, time.monotonic() - begun
            print(f"seed {given.seed}: {agree} of {total} agree ({rate:.2%}), {kinds['refused']} of them refused by "
                  f"both, {seconds:.0f} s; {dict(kinds)}", flush=True)  # fmt: skip
            run = {"seed": given.seed, "kinds": kinds, "lines": lines, "code": given.code}
            write(run, given.results, given.write)
    return 0 if total == given.count and agree >= given.rate * total else 1


def compare_all(given: argparse.Namespace, kinds: Counter[str], lines: list[str]) -> None:
    """Compares the programs, one after the other, and counts into ``kinds`` and ``lines``."""
    with Pair(os.environ["MSDUMP_INTEROP_MINDSPORE"]) as pair:
        for seed in range(given.seed, given.seed + given.count):
            program = Written(seed) if given.written else grown(seed, given.wide)
            found = pair.difference(program.source())
            kinds[found.kind] += 1
            if found.kind == "listed":
                lines.append(f"{seed}: listed: {found.details[0]}")
            if not found:
                continue
            lines.append(f"{seed}: {found.kind}: {shortened(found.details)}")
            if not given.no_shrink and kinds[found.kind] == 1 and isinstance(program, Program):
                program, found = shrunk(pair, program, found)
            report(seed, program, found, given.out)


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    parser.add_argument("--rate", type=float, default=0.98)
    parser.add_argument("--out", type=Path, default=None, help="where programs that differ are written")
    parser.add_argument("--write", type=Path, default=None, help="the page that gets the table")
    parser.add_argument("--results", type=Path, default=None, help="where runs of one table are kept")
    parser.add_argument("--code", default="-", help="which code is compared, for the table")
    parser.add_argument("--wide", action="store_true", help="more of MindSpore: any public name, more of the language")
    parser.add_argument("--written", action="store_true", help="programs of the second generator, which are not shrunk")
    parser.add_argument("--no-shrink", action="store_true")
    return parser.parse_args()


def shrunk(pair: Pair, program: Program, found: Difference) -> tuple[Program, Difference]:
    """The smallest program that differs in the same way."""

    def fails(candidate: Program) -> bool:
        return pair.difference(candidate.source()).kind == found.kind

    small = Shrinker(fails).shrink(program)
    return small, pair.difference(small.source())


def report(seed: int, program: Program | Written, found: Difference, out: Path | None) -> None:
    """Prints a difference, and writes the program to a file."""
    print(f"-- seed {seed}: {found.kind}")
    for line in found.details[:12]:
        print("  ", line[:300])
    print(program.source().partition("class ")[2], flush=True)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{found.kind}-{seed}.py").write_text(program.source())


def shortened(details: tuple[str, ...]) -> str:
    """The first of each side, and how many more there are."""
    first = [next((d for d in details if d.startswith(sign)), None) for sign in "-+"]
    shown = [d for d in first if d is not None] or list(details[:1])
    more = len(details) - len(shown)
    text = "; ".join(f"`{' '.join(d.split())[:160]}`" for d in shown)
    return f"{text}; {more} more" if more else text


def write(run: dict[str, Any], results: Path | None, page: Path | None) -> None:
    """Adds a run to the others of its table, and writes the table into ``page``; one process at a time."""
    with writer_lock(results) if results is not None else contextlib.nullcontext():
        _write(run, results, page)


def _write(run: dict[str, Any], results: Path | None, page: Path | None) -> None:
    runs = json.loads(results.read_text()) if results is not None and results.exists() else []
    runs = sorted([*(each for each in runs if each["seed"] != run["seed"]), run], key=lambda each: each["seed"])
    if results is not None:
        results.write_text(json.dumps(runs))
    if page is None:
        return
    table = Table()
    table.module = "tests.differential"
    section = table.section(TITLE, COLUMNS, INTRO, "first seed")
    everything: Counter[str] = Counter()
    for each in runs:
        section.rows[str(each["seed"])] = cells(Counter(each["kinds"]), each["code"])
        everything.update(each["kinds"])
        section.note("What differs (- there, + here), by seed", each["lines"])
    if len(runs) > 1:
        section.rows["all"] = cells(everything, "-")
    with TemporaryDirectory() as folder:
        table.write(page, Path(folder) / "table.json")


def cells(kinds: Counter[str], code: str) -> dict[str, object]:
    """The cells of one run."""
    total, agree = sum(kinds.values()), sum(kinds[kind] for kind in AGREE)
    apart = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()) if kind not in AGREE)
    values = (total, agree, kinds["refused"], kinds["listed"], f"{agree / total:.1%}", apart or "-", code)
    return dict(zip(COLUMNS, values, strict=True))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
    sys.exit(main())
