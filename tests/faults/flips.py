"""``python -m tests.faults.flips [COUNT]``: one bit flipped in a golden, its manifest, or a dump tree: what notices?

Each flip of a golden goes through ``verify`` and one of ``check`` (of an equal tree, and of one that differs), ``diff``
and what the gate does with it; each of a tree through ``check`` or ``diff``. Each has to name the damage, or to say
what it says without the flip; where all say that, what is compared must be what it was: then the flip is irrelevant.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from benchmarks._pages import put
from harness import dtypes
from harness.backends.align import lay_beside
from harness.capture import read_tree
from harness.compare.policy import Party
from harness.compare.policy import judge as decide
from harness.errors import HarnessError
from harness.explain import settle
from harness.store import GoldenStore, manifest
from harness.store.layout.contents import USER_BLOCK, read_contents
from tests.dump.build import dumped, one_op, tensor
from tests.fuzz.commands import main
from tests.fuzz.engine import captured, home
from tests.fuzz.trees import made

BATCH = 250
NAMED, IRRELEVANT = "named", "proven irrelevant"
Region = tuple[str, int, int]


@dataclass(frozen=True)
class Said:
    """What a command said: its exit code, and its text."""

    code: int
    text: str


def _command(*arguments: str) -> Callable[[Path], Said]:
    def run(folder: Path) -> Said:
        codes: list[int] = []
        given = [each.replace("@", f"{folder}/") for each in arguments]
        text = captured(lambda: codes.append(main(given)) or codes[0])
        return Said(codes[0], text)

    return run


def _gate(folder: Path) -> Said:
    """What the gate does with a run and its golden (``pytest_msdump.judge``), without pytest around it."""
    try:
        found = Party(list(read_tree(folder / "tree").records()), "cpu", "tensor", emulated=True)
        with GoldenStore.open(folder / "golden" / "x.h5") as store:
            judged = decide(Party.of_run(store.run("cpu", "tensor")), found, None, lay=lay_beside, settle=settle)
            return Said(judged.code, judged.verdict)
    except HarnessError as error:
        return Said(2, str(error))


VERIFY = _command("verify", "@golden")
CHECKS = {
    "check": _command("check", "@tree", "@golden/x.h5"),
    "check of another": _command("check", "@other", "@golden/x.h5"),
    "diff": _command("diff", "@golden/x.h5::cpu/tensor", "@tree"),
    "gate": _gate,
}


def _whole(folder: Path) -> None:
    arrays = [tensor(dtypes.float32, (2, 3), at) for at in range(2)]
    dumped(folder / "tree", one_op(arrays=arrays))
    dumped(folder / "other", one_op(arrays=[arrays[0], arrays[1] + np.float32(1)]))
    (folder / "golden").mkdir()
    told = captured(lambda: main(["import", str(folder / "tree"), str(folder / "golden" / "x.h5")]))
    assert (folder / "golden" / "x.h5").exists(), told
    manifest.rebuild(folder / "golden")


def regions(name: str, whole: bytes) -> list[Region]:
    """The parts of a file that are flipped each as often as the others."""
    if name.endswith(".h5"):
        return _regions_of_store(whole)
    if name.endswith(".npy"):
        start = 10 + int.from_bytes(whole[8:10], "little")
        return [(".npy: header", 0, start), (".npy: values", start, len(whole))]
    kind = re.sub(r"\d+", "N", name.rpartition("/")[2])
    return [(kind, 0, len(whole))] if whole else []


def _regions_of_store(whole: bytes) -> list[Region]:
    with TemporaryFile() as file:
        file.write(whole)
        file.flush()
        contents = read_contents(whole[:USER_BLOCK], file.fileno(), len(whole))
    found = [(f"golden: part {at}", part.offset, part.offset + part.size) for at, part in enumerate(contents.parts)]
    end = max(stop for _, _, stop in found)
    third = max(1, (len(whole) - USER_BLOCK) // 3)
    rest = [(f"golden: third {at + 1}", USER_BLOCK + at * third, USER_BLOCK + (at + 1) * third) for at in range(3)]
    return [
        ("golden: first block", 0, USER_BLOCK), *rest, *(each for each in found if each[1] < each[2]),
        ("golden: contents", end, len(whole)),
    ]  # fmt: skip


def _read(folder: Path) -> list[Any]:
    """All that a golden says, and all that is compared of a tree: its slots in their order, and what is damaged."""
    found: list[Any] = []
    with GoldenStore.open(folder / "golden" / "x.h5") as store:
        for name in store.runs():
            run = store.run(*name)
            found += [(name, run.level, run.attrs, run.checksum, run.artefacts(), *map(_record, run.records()))]
    # Where a run comes from stands in the manifest alone, and no verdict hangs on it.
    found += [{**run, "provenance": None} for run in manifest.runs_of(manifest.read(folder / "golden")).values()]
    capture = read_tree(folder / "tree")
    found += [_record(record)[:-1] for record in capture.records()]
    return [*found, [str(problem) for problem in capture.problems]]


def _record(record: Any) -> tuple[Any, ...]:
    values = record.load()
    return record.key, record.dtype, tuple(record.shape), None if values is None else values.tobytes(), record.source


class Bench:
    """The files, and what is said of them while they are whole."""

    def __init__(self) -> None:
        self.files: Mapping[str, bytes] = made(_whole)
        self.regions = [
            (name, region)
            for name, content in self.files.items()
            if not name.startswith("other/")
            for region in regions(name, content)
        ]

    def put(self, folder: Path) -> None:
        """Writes all files."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def flipped(self, folder: Path, number: int, seed: int, before: Mapping[str, Said], read: list[Any]) -> str:
        """Flips one bit, and gives ``REGION<tab>COMMAND<tab>OUTCOME``."""
        rng = random.Random(f"{seed}-{number}")
        name, (region, start, end) = rng.choice(self.regions)
        others = list(CHECKS) if name.startswith("golden") else ["check", "diff"]  # the gate reads no tree
        at, bit, which = rng.randrange(start, end), rng.randrange(8), rng.choice(others)
        data = bytearray(self.files[name])
        data[at] ^= 1 << bit
        path = folder / name
        path.write_bytes(data)
        try:
            outcome = self._judged(folder, name, which, before, read)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            outcome = f"SILENT: {type(error).__name__} at {Path(last.filename).name}:{last.lineno}: {error}"
        finally:
            path.write_bytes(self.files[name])
        return f"{region}\t{which}\t{outcome if outcome in (NAMED, IRRELEVANT) else f'{outcome} ({name} {at}.{bit})'}"

    def _judged(self, folder: Path, name: str, which: str, before: Mapping[str, Said], read: list[Any]) -> str:
        said = CHECKS[which](folder)
        told = said != before[which]
        if told and said.code == before[which].code and which != "gate":
            told = bool(_new_lines(said, before[which]))
        if said.code not in (before[which].code, 1, 2) or "Traceback" in said.text:
            return f"SILENT: {which} ended with {said.code}: {said.text[-200:]!r}"
        if said.code != before[which].code and name.startswith("golden") and said.code != 2:
            return f"SILENT: another verdict of {which}, {before[which].code} -> {said.code}: {said.text[:300]!r}"
        verified = VERIFY(folder) if name.startswith("golden") else before["verify"]
        if told or verified.code != before["verify"].code:
            return NAMED
        try:
            same = _read(folder) == read
        except HarnessError:
            return NAMED  # reading it at all is refused
        return IRRELEVANT if same else f"SILENT: what is read is another, and {which} says nothing"


def _new_lines(said: Said, before: Said) -> set[str]:
    return set(said.text.splitlines()) ^ set(before.text.splitlines())


def run(
    count: int, seed: int, each: Callable[[Counter[str]], None] = lambda _: None, found: Counter[str] | None = None
) -> Counter[str]:
    """How often which region had which outcome.

    Args:
        each: is shown it as it grows.
        found: what an earlier call was shown last; this one goes on behind it.
    """
    found = Counter() if found is None else found
    bench = Bench()
    with home() as top:
        folder = top / "in"
        bench.put(folder)
        before = {name: command(folder) for name, command in CHECKS.items()} | {"verify": VERIFY(folder)}
        assert [before[name].code for name in (*CHECKS, "verify")] == [0, 1, 0, 0, 0], before
        read = _read(folder)
        for first in range(found.total(), count, BATCH):
            notes = top / "told"
            child = os.fork()
            if child == 0:
                try:
                    with notes.open("w") as file:
                        for number in range(first, min(count, first + BATCH)):
                            file.write(bench.flipped(folder, number, seed, before, read).replace("\n", " ") + "\n")
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            lines = notes.read_text().splitlines()
            found.update(lines)
            if len(lines) < min(count, first + BATCH) - first:
                found[f"?\t?\tSILENT: flip {first + len(lines)} of seed {seed} ended the process"] += 1
            bench.put(folder)
            each(found)
    return found


def table(found: Counter[str]) -> str:
    """Rows by region, and what was silent."""
    rows: dict[str, Counter[str]] = {}
    for line, times in found.items():
        region, _, outcome = line.split("\t")
        rows.setdefault(region, Counter())[outcome if outcome in (NAMED, IRRELEVANT) else "silent"] += times
    lines = [f"| region | flips | {NAMED} | {IRRELEVANT} | silent |", "|---|---|---|---|---|"]
    rows = dict(sorted(rows.items())) | {"all": sum(rows.values(), Counter())}
    lines += [
        f"| {name} | {row.total()} | {row[NAMED]} | {row[IRRELEVANT]} | {row['silent']} |" for name, row in rows.items()
    ]
    return "\n".join([*lines, ""])


def silent(found: Counter[str]) -> list[str]:
    """What nothing noticed."""
    return [line for line in found if "SILENT" in line]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.faults.flips", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kept", type=Path, help="keeps what was found; the next run goes on from there")
    parser.add_argument("--page")
    given = parser.parse_args()
    kept = Counter(json.loads(given.kept.read_text())) if given.kept and given.kept.exists() else None
    result = run(given.count, given.seed, lambda all: given.kept and given.kept.write_text(json.dumps(all)), kept)
    if given.page is None:
        print(table(result))
    print(*silent(result)[:40], sep="\n")
    sys.exit(bool(silent(result)) or (given.page is not None and not put(given.page, "flips", table(result))))
