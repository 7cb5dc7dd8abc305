"""``python -m tests.fuzz [INPUTS]``: mutated files for every parser, in forks with limited memory and time.

``--target NAME`` takes that one only, ``--rounds N`` goes round all targets N times, ``--table FILE`` keeps the
table in a file as it goes, ``--page PAGE`` writes a table of all targets between its marks in docs/PAGE, ``--show
NUMBER`` makes one input again, ``--guided SECONDS`` lets atheris choose the inputs of the pure-Python readers by what
they cover. Each run adds to the count of inputs in docs/security.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks._pages import put
from tests.fuzz.counted import Count, add
from tests.fuzz.engine import KINDS, Input, Result, Target, fuzz, home, judged
from tests.fuzz.targets import CORPUS, targets

HEAD = f"| target | inputs | {' | '.join(KINDS)} | refused | seconds | of the processor | slowest, ms | findings |"


def row(name: str, found: Result) -> str:
    """A target's row of the table."""
    kinds = " | ".join(f"{found.kinds[kind]:,}" for kind in KINDS)
    return (
        f"| {name} | {found.inputs:,} | {kinds} | {found.refused:,} | {found.seconds:.0f} | "
        f"{found.processor:.0f} | {found.slowest * 1e3:.0f} | {len(found.findings)} |"
    )


def total(results: Iterable[Result]) -> Result:
    """All of them together."""
    whole = Result()
    for each in results:
        whole.inputs += each.inputs
        whole.refused += each.refused
        whole.seconds += each.seconds
        whole.processor += each.processor
        whole.slowest = max(whole.slowest, each.slowest)
        whole.kinds += each.kinds
        whole.findings += each.findings
    return whole


def table(wanted: dict[str, Target], count: int, seeds: range, file: Path | None, page: str | None) -> int:
    """Fuzzes each target with its share of ``count`` inputs, a part of them with each seed, and prints the table.

    Returns:
        1 if there are findings, or no such page.
    """
    weights, results = sum(each.weight for each in wanted.values()), {name: Result() for name in wanted}
    for seed in seeds:
        for name, target in wanted.items():
            found = fuzz(target, -(-count * target.weight // (weights * len(seeds))), seed, name)
            results[name] = total((results[name], found))
            for at, what in found.findings[:20]:
                print(f"--target {name} --seed {seed} --show {at}: {what}", flush=True)
                keep(name, target, seed, at)
            if file is not None:
                file.write_text(_text(results))
    add({name: Count(mutated=each.inputs, findings=len(each.findings)) for name, each in results.items()})
    if page is not None and wanted.keys() == targets().keys():
        return int(not put(page, "mutated inputs", _text(results)) or bool(total(results.values()).findings))
    print(_text(results), flush=True)
    return int(bool(total(results.values()).findings))


def _text(results: dict[str, Result]) -> str:
    rows = [row(name, found) for name, found in results.items()]
    return "\n".join([HEAD, "|---" * (HEAD.count("|") - 1) + "|", *rows, row("all", total(results.values())), ""])


def keep(name: str, target: Target, seed: int, number: int) -> None:
    """Makes one input again and puts its files into the corpus, whose files are seeds, and read by every test run."""
    with home() as folder:
        given = Input(target, name, seed, folder)
        given.put(number)
        given.keep(CORPUS / name / f"{seed}-{number}")


def show(name: str, target: Target, seed: int, number: int) -> int:
    """Makes one input again, says what it is, and reads it here, with a traceback if there is one."""
    with home() as folder:
        given = Input(target, name, seed, folder)
        print(given.put(number))
        for path in sorted(given.folder.rglob("*")):
            print(path.relative_to(given.folder), path.read_bytes()[:2000] if path.is_file() else "")
        print(judged(target, given))
        target.read(given.folder)
    return 0


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("inputs", type=int, nargs="?", default=200_000)
    parser.add_argument("--target", action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--page")
    parser.add_argument("--show", type=int)
    parser.add_argument("--guided", type=int, metavar="SECONDS")
    given = parser.parse_args()
    wanted = {name: each for name, each in targets().items() if given.target is None or name in given.target}
    if given.guided is not None:
        from tests.fuzz.guided import guided

        return guided(wanted, given.guided, given.table, given.page)
    if given.show is not None:
        return show(*next(iter(wanted.items())), given.seed, given.show)
    return table(wanted, given.inputs, range(given.seed, given.seed + given.rounds), given.table, given.page)


if __name__ == "__main__":
    sys.exit(main())
