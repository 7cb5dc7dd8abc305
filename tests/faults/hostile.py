"""Goldens, manifests, comparisons and pages of which one value has another type or size, under digests that fit; and
what every command says of them.

``python -m tests.faults.hostile [--seed N] [--goldens N] [--sessions N]`` gives all of them (or N of each kind, drawn)
to all commands, and N goldens of each kind to those that run pytest; it prints what came of it. ``--page PAGE`` writes
the table between its marks there.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks._pages import put
from harness.store import RunData, RunId, update
from tests.faults.hostile_place import Place, findings
from tests.fuzz import repaired
from tests.store.helpers import ARTEFACTS, ASCEND, CPU, declared, edit_index, edit_table, network

ATTRS: dict[str, Any] = {
    "emulated": False,
    "imported": True,
    "rules": {
        "ms_version": "2.7.0", "compiled": ["net.a"], "injected": ["nan in Default/x"], "written_by": "MindSpore",
        "device_target": "CPU", "graph": "as MindSpore 2.10.0 CPU", "settings": {"threads": 1},
    },
    "tolerance": {"default": "exact", "float32": {"rtol": 1e-5, "atol": 0.0}, "MatMul": [1e-4, 1e-6], "*": 1e-3},
    "learned": {"runs": 3, "margin": 2.0},
}  # fmt: skip


#: The run of two ranks.
RANKS = RunId("gpu", "tensor")


class Nested(NamedTuple):
    """Lists within lists, so many."""

    depth: int


#: Values of each type, and the odd ones of each.
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 7, 2**31, 2**64, 10**400, 1.5, -0.0, float("inf"), float("nan"), "", "x", "\ud800",
    "9" * 5000, "a/" * 5000, "\x1b[2J\n", [], [1], [[[]]], ["x", None], [float("nan")], {}, {"a": 1}, {"": {}},
    {"default": []}, Nested(31), Nested(900), Nested(100_000),
)  # fmt: skip

_HEAD = "| kind | files | commands and functions | runs | refused | findings |\n|---|---|---|---|---|---|\n"


@dataclass(frozen=True)
class Hostile:
    """A file with one odd value.

    Attributes:
        where: the place of the value.
        value: the value, in words.
        raw: the file.
    """

    where: str
    value: str
    raw: bytes

    def __str__(self) -> str:
        return f"{self.where} = {self.value}"


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value within a value."""
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, below in items:
        yield from paths(below, (*at, name))


def changed(whole: Any, at: Sequence[Any], value: Any) -> bytes:
    """JSON text of a value, with another one at a place, however deep that is nested."""
    found = holder = [copy.deepcopy(whole)]
    for name in (place := [0, *at])[:-1]:
        holder = holder[name]
    holder[place[-1]] = "\0here"
    text = "[" * value.depth + "]" * value.depth if isinstance(value, Nested) else json.dumps(value)
    return json.dumps(found[0]).replace(json.dumps("\0here"), text).encode()


def odd_values(whole: Any, where: str, below: Sequence[Any] = ()) -> Iterator[tuple[str, str, bytes]]:
    """Each value of a JSON value below a place, replaced by each odd one: its place, the odd value, the text."""
    for at in paths(whole):
        if at[: len(below)] == tuple(below):
            for value in ODD:
                name = ".".join(map(str, (where, *at)))
                yield name, ascii(value)[:40], changed(whole, at, value)


@cache
def whole_golden(seed: int = 0) -> bytes:
    """A golden with three runs and every attribute."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.h5")
        digests = RunData(network(seed), attrs=ATTRS, level="digest")
        ranks = [replace(each, key=each.key._replace(rank=rank)) for rank in (0, 1) for each in network(seed)]
        runs = {CPU: RunData(network(seed), ARTEFACTS, ATTRS, declared=declared()), ASCEND: digests}
        update(path, "Net", {**runs, RANKS: RunData(ranks, attrs=ATTRS)})
        return path.read_bytes()


def odd_attributes(whole: bytes = b"") -> Iterator[Hostile]:
    """Goldens: each attribute of its runs, and each value in it, replaced by each odd value in all of them.

    Args:
        whole: the golden; by default ``whole_golden()``.
    """
    whole = whole or whole_golden()
    contents = json.loads(repaired.contents_of(whole))
    attrs = next(iter(contents["runs"].values()))["attrs"]
    for run in contents["runs"].values():
        run["attrs"] = "\0attrs"
    frame = json.dumps(contents).encode()
    for where, value, text in odd_values(attrs, "attrs"):
        yield Hostile(where, value, repaired.with_contents(whole, frame.replace(b'"\\u0000attrs"', text)))


def odd_contents(below: Sequence[Any] = (), whole: bytes = b"") -> Iterator[Hostile]:
    """Goldens: each value of the table of contents below a place, replaced by each odd value.

    Args:
        whole: the golden; by default ``whole_golden()``.
    """
    whole = whole or whole_golden()
    contents = json.loads(repaired.contents_of(whole))
    for where, value, text in odd_values(contents, "contents", below):
        yield Hostile(where, value, repaired.with_contents(whole, text))


def odd_rows() -> Iterator[Hostile]:
    """Goldens: each column of a row of the index, with each odd number."""
    from harness.store.layout.schema import INDEX_DTYPE

    numbers = (-(2**31), -2, -1, 0, 1, 5, 10**6, 2**31 - 1, 2**62, float("nan"), float("inf"), 255)
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.h5")
        for field in INDEX_DTYPE.names or ():
            for number in numbers if INDEX_DTYPE[field].kind != "V" else (b"", b"\xff" * 16):
                path.write_bytes(whole_golden())
                try:
                    edit_index(path, 2, field, number)
                except (ValueError, OverflowError):  # no number of that column
                    continue
                yield Hostile(f"index.{field}", ascii(number)[:40], path.read_bytes())
        yield from _odd_tables(path, numbers)


_TEXTS = ("", "[", "NaN", "9" * 400, "[" * 400, '{"$array":["Float32",[9e9],"="]}', "\x1b[2J", "../x", "a" * 70_000)


def _odd_tables(path: Path, numbers: Sequence[float]) -> Iterator[Hostile]:
    """Goldens: each column of a row of the tables of operators, and each of their texts."""
    from harness.store.layout.schema import TABLES

    for table, dtype in TABLES.items():
        for field in dtype.names or () if dtype is not None else ():
            for number in numbers:
                path.write_bytes(whole_golden())
                try:
                    edit_table(path, table, 0, field, number)
                except (ValueError, OverflowError):  # no number of that column
                    continue
                yield Hostile(f"{table}.{field}", ascii(number)[:40], path.read_bytes())
    for at in range(30):
        for text in _TEXTS:
            path.write_bytes(whole_golden())
            try:
                edit_table(path, "texts", at, "", text)
            except IndexError:
                return
            yield Hostile(f"texts[{at}]", ascii(text)[:40], path.read_bytes())


def _main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.hostile", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--goldens", type=int)
    parser.add_argument("--sessions", type=int, default=0)
    parser.add_argument("--page")
    given = parser.parse_args()
    rng, began, failed, rows = random.Random(given.seed), time.process_time(), 0, []
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        place = Place(Path(folder), whole_golden)
        described = json.loads((place.home / "golden/x.manifest.json").read_bytes())
        compared = json.loads((place.home / "d.json").read_bytes())
        compared["slots"] = compared["slots"][:1]
        kinds: dict[str, tuple[Iterable[Hostile], Any]] = {
            "attributes": (odd_attributes(), place.golden), "contents": (odd_contents(), place.golden),
            "rows": (odd_rows(), place.golden),
            "manifests": (map(Hostile, *zip(*odd_values(described, "manifest"), strict=True)), place.manifest),
            "comparisons": (map(Hostile, *zip(*odd_values(compared, "comparison"), strict=True)), place.comparison),
        }  # fmt: skip
        if given.sessions:
            golden = place.project()
            whole = golden.read_bytes()
            kinds["attributes, values"] = odd_attributes(whole), lambda raw: place.values(golden, raw)
            kinds["contents, values"] = odd_contents((), whole), lambda raw: place.values(golden, raw)
            kinds["attributes, sessions"] = odd_attributes(whole), lambda raw: place.sessions(golden, raw)
            kinds["contents, sessions"] = odd_contents((), whole), lambda raw: place.sessions(golden, raw)
        for kind, (inputs, give) in kinds.items():
            drawn, most = list(inputs), given.sessions if "sessions" in kind else given.goldens
            if most is not None and most < len(drawn):
                drawn = rng.sample(drawn, most)
            refused, runs = Counter[str](), Counter[str]()
            found = [told for each in drawn for told in findings(each, counted(give(each.raw), runs), refused)]
            failed += len(found)
            row = (kind, len(drawn), len(runs), runs.total(), refused.total(), len(found))
            rows.append(f"| {' | '.join(f'{each:,}' if isinstance(each, int) else each for each in row)} |\n")
            print(rows[-1], dict(refused), "\n", sep="", end="")
            print("".join(f"  {times} {told}\n" for told, times in Counter(found).most_common(200)), end="", flush=True)
            if kind in ("attributes", "contents", "rows"):
                place.file.write_bytes(whole_golden())
    print(f"{time.process_time() - began:.0f} CPU seconds, {failed} findings")
    if given.page:
        put(given.page, "hostile values", _HEAD + "".join(rows))
    return int(failed > 0)


def counted(ended: Iterable[Any], runs: Counter[str]) -> Iterator[Any]:
    """Counts the runs of each command."""
    for each in ended:
        runs[" ".join(each[0][:1])] += 1
        yield each


if __name__ == "__main__":
    sys.exit(_main())
