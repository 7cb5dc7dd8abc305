"""Spoils files of every layout that is inspected: ``python -m tests.inspect.damaged --seed 7 --number 500``.

``msdump inspect`` then says one error, or names what is missing: no traceback, and no silence about what it did not
read. Each case stands for itself: its number and the seed make it again.
"""

from __future__ import annotations

import argparse
import random
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bench_inspect import write_statistics
from harness.cli import main
from tests.dump.build import dumped, one_op
from tests.fuzz.engine import captured
from tests.fuzz.mutations import changed_bytes
from tests.fuzz.targets import golden_bytes
from tests.fuzz.trees import made, trees

Files = Mapping[str, bytes]
#: what a line says that speaks of something missing, beside the name of a file
_SAYS = (
    "not there", "error:", "cannot", "Not told:", "incomplete", "damaged", "empty", "nothing was recorded", "no rank",
    "not the name", "skipped", "not looked at",
)  # fmt: skip


@cache
def layouts() -> dict[str, Files]:
    """Whole directories and files by name, with ``run`` as what is inspected."""
    found: dict[str, Files] = {}
    for name, target in trees().items():
        for at, files in enumerate(target.seeds):
            found[f"{name} {at}"] = {
                path.replace("tree/", "run/", 1).replace("rdr/", "run/", 1): data for path, data in files.items()
            }
    found["golden"] = {"run.h5": golden_bytes()}
    found["steps of statistics"] = made(lambda folder: write_statistics(folder / "run", 4, 30))
    found["ranks"] = made(_ranks)
    return found


def _ranks(folder: Path) -> None:
    dumped(folder / "run", one_op(), steps=3)
    shutil.copytree(folder / "run" / "rank_0", folder / "run" / "rank_1")


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.choice((0, 1, len(data) // 2, max(0, len(data) - 1), rng.randrange(len(data) + 1)))]


HARMS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "cut": _cut,
    "garbled": changed_bytes,
    "noise": lambda data, rng: rng.randbytes(len(data)),
    "zeros": lambda data, _: bytes(len(data)),
}


def case(seed: int, number: int, folder: Path) -> tuple[str, str]:
    """Makes a case in ``folder``: its name, and what was done, with the file's name."""
    rng = random.Random(f"{seed}-{number}")
    name, files = rng.choice(sorted(layouts().items()))
    harm = rng.choice([*HARMS, "removed", "folder removed", "one step left"])
    path = rng.choice(sorted(files))
    kept = dict(files)
    if harm == "removed":
        del kept[path]
    elif harm == "folder removed":
        gone = path.rpartition("/")[0]
        kept = {each: data for each, data in kept.items() if not each.startswith(f"{gone}/")} if gone else kept
    elif harm == "one step left":
        gone = path.rpartition("/")[0]
        above = gone.rpartition("/")[0]
        kept = {e: d for e, d in kept.items() if not e.startswith(f"{above}/") or e.startswith(f"{gone}/")}
    else:
        kept[path] = HARMS[harm](kept[path], rng)
    hold(kept, folder)
    return name, f"{harm} {path}"


def hold(files: Files, folder: Path) -> None:
    """Makes ``folder`` hold these files."""
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    if not any(folder.iterdir()):
        (folder / "run").mkdir()


@cache
def whole(name: str) -> str:
    """What the command says of a layout that nobody spoilt."""
    with TemporaryDirectory() as folder:
        hold(layouts()[name], Path(folder))
        return inspected(Path(folder))[1]


def inspected(folder: Path) -> tuple[int, str]:
    """Exit code and output of the command."""
    code = 0

    def run() -> int:
        nonlocal code
        code = main(["inspect", str(next(iter(sorted(folder.iterdir())))), "--notes"])
        return code

    said = captured(run).replace(str(folder), "@")
    return code, said


def slots(said: str) -> int:
    """How many slots a report counts."""
    head = said.partition(" slots")[0].rpartition("(")[2]
    return int(head) if head.isdecimal() else 0


def wrong(name: str, harm: str, code: int, said: str) -> str:
    """What is wrong with what the command says; empty if nothing is."""
    if "Traceback" in said:
        return "a traceback"
    before = whole(name)
    if "removed" in harm and _is_unknowable(name, harm):
        return ""
    new = [line for line in said.splitlines() if line not in before.splitlines()]
    if slots(said) < slots(before) and code == 0 and not any(word in line for line in new for word in _SAYS):
        return f"{slots(before)} slots became {slots(said)}, and nothing is said"
    if not slots(said) and not code:
        return "nothing was read, and all is well"
    return ""


def _is_unknowable(name: str, harm: str) -> bool:
    """Whether nothing else names a file that is gone: no graph, no step around it, no rank."""
    alone = name.startswith(("tree-asynchronous", "tree-mapped", "tree-statistics", "tree-msprobe"))
    constant = name.startswith("tree-real") and ".input.1." in harm  # the graph holds it; not every dump has it
    return alone or constant or (name == "steps of statistics" and re.search(r"/[03]/statistic.csv$", harm) is not None)


def run(seed: int, number: int) -> Counter[str]:
    """Runs cases and prints what is wrong; counts by kind of harm, and by what is wrong."""
    found: Counter[str] = Counter()
    for at in range(number):
        with TemporaryDirectory() as folder:
            name, harm = case(seed, at, Path(folder))
            try:
                code, said = inspected(Path(folder))
                problem = wrong(name, harm, code, said)
            except Exception as error:  # what a command lets through is the finding
                problem = f"{type(error).__name__}: {error}"
        found[harm.split(" ")[0]] += 1
        if problem:
            found["wrong"] += 1
            print(f"{at} {name}: {harm}: {problem}")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 30))
    parser.add_argument("--number", type=int, default=200)
    given = parser.parse_args()
    print(f"seed {given.seed}: {dict(run(given.seed, given.number))}")
