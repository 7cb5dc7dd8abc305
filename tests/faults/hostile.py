"""Goldens, manifests, comparisons and pages of which one value has another type or size, under digests that fit; and
what every command says of them.

``python -m tests.faults.hostile [--seed N] [--goldens N]`` gives all of them (or N, drawn) to all commands, and prints
what came of it.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import random
import shutil
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from harness.store import RunData, manifest, update
from tests.dump.build import dumped, one_op
from tests.fuzz import repaired
from tests.fuzz.commands import main
from tests.store.helpers import ARTEFACTS, ASCEND, CPU, declared, edit_index, edit_table, network
from tests.test_escape import is_clean

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


class Nested(NamedTuple):
    """Lists within lists, so many."""

    depth: int


#: Values of each type, and the odd ones of each.
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 7, 2**31, 2**64, 10**400, 1.5, -0.0, float("inf"), float("nan"), "", "x", "\ud800",
    "9" * 5000, "a/" * 5000, "\x1b[2J\n", [], [1], [[[]]], ["x", None], [float("nan")], {}, {"a": 1}, {"": {}},
    {"default": []}, Nested(31), Nested(900), Nested(100_000),
)  # fmt: skip

#: A command prints at most so many bytes about a file of some kilobytes.
MOST = 1 << 18


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
    """A golden with two runs and every attribute."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.h5")
        digests = RunData(network(seed), attrs=ATTRS, level="digest")
        update(path, "net", {CPU: RunData(network(seed), ARTEFACTS, ATTRS, declared=declared()), ASCEND: digests})
        return path.read_bytes()


def odd_attributes() -> Iterator[Hostile]:
    """Goldens: each attribute of a run, and each value in it, replaced by each odd value."""
    yield from odd_contents(("runs", "cpu/tensor", "attrs"))


def odd_contents(below: Sequence[Any] = ()) -> Iterator[Hostile]:
    """Goldens: each value of the table of contents below a place, replaced by each odd value."""
    whole = whole_golden()
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
        for text in (
            "",
            "[",
            "NaN",
            "9" * 400,
            "[" * 400,
            '{"$array":["Float32",[9e9],"="]}',
            "\x1b[2J",
            "../x",
            "a" * 70_000,
        ):
            path.write_bytes(whole_golden())
            try:
                edit_table(path, "texts", at, "", text)
            except IndexError:
                return
            yield Hostile(f"texts[{at}]", ascii(text)[:40], path.read_bytes())


class Place:
    """A directory in which one hostile file after the other is given to every command."""

    def __init__(self, home: Path) -> None:
        self.home = home
        for name in ("golden", "bundle", "other"):
            (home / name).mkdir()
        self.file = home / "golden" / "x.h5"
        self.file.write_bytes(whole_golden())
        manifest.rebuild(home / "golden")
        (home / "y.h5").write_bytes(whole_golden(1))
        (home / "other" / "x.h5").write_bytes(whole_golden(1))
        dumped(home / "tree", one_op())
        if (
            main_quietly(["diff", f"{self.file}::cpu/tensor", f"{home}/y.h5::cpu/tensor", "--json", f"{home}/d.json"])[
                0
            ]
            != 1
        ):
            raise AssertionError("the comparison that judge is given was not made")

    def golden(self, raw: bytes) -> Iterator[tuple[list[str], int, str, str]]:
        """Gives a golden to every command."""
        self.file.write_bytes(raw)
        (self.home / "bundle" / "x.h5").write_bytes(raw)
        at, other, x = self.home, f"{self.home}/y.h5::cpu/tensor", f"{self.file}::cpu/tensor"
        for words in (
            ["show", str(self.file), "--all"], ["show", str(self.file), "--text", "*"], ["show", f"{at}/golden"],
            ["show", str(self.file), "--operator", "*MatMul*"],
            ["check", f"{at}/tree", str(self.file), "--run", "cpu/tensor"],
            ["diff", x, other], ["diff", other, x], ["diff", x, other, "--report", f"{at}/page.html"],
            ["diff", x, other, "--json", f"{at}/e.json"], ["judge", f"{at}/e.json", "--rtol", "1e-3"],
            ["audit", str(self.file)], ["learn", str(self.file), other, "--run", "cpu/tensor", "--force", "--dry-run"],
            ["learn", f"{at}/y.h5", x, "--run", "cpu/tensor", "--force", "--dry-run"],
            ["verify", f"{at}/golden"], ["review", f"{at}/bundle", "--golden", f"{at}/other", "--list"],
            ["accept", f"{at}/bundle", "--golden", f"{at}/new"],
            ["report", "--join", f"{at}/joined.html", f"{at}/page.html"],
        ):  # fmt: skip
            yield words, *main_quietly(words)
        for left in ("new", "page.html", "e.json"):
            _remove(at / left)

    def manifest(self, raw: bytes) -> Iterator[tuple[list[str], int, str, str]]:
        """Gives a manifest to every command that reads one."""
        (self.home / "golden" / "x.manifest.json").write_bytes(raw)
        for words in (
            ["verify", f"{self.home}/golden"],
            ["accept", f"{self.home}/golden", "--golden", f"{self.home}/new"],
        ):
            yield words, *main_quietly(words)
        _remove(self.home / "new")

    def comparison(self, raw: bytes) -> Iterator[tuple[list[str], int, str, str]]:
        """Gives a stored comparison to judge."""
        (self.home / "d.json").write_bytes(raw)
        words = ["judge", f"{self.home}/d.json", "--rtol", "1e-3"]
        yield words, *main_quietly(words)


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def main_quietly(words: Sequence[str]) -> tuple[int, str, str]:
    """The exit code of a command, what it printed, and what it said on standard error; -1 for an exception."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(words)
        except BaseException:
            code = -1
            traceback.print_exc()
    return code, out.getvalue(), err.getvalue()


def wrong(code: int, out: str, err: str) -> str:
    """What must not be about a command's ending; empty if nothing is."""
    if code not in (0, 1, 2) or "Traceback" in err:
        return f"exit {code}: {err.strip().splitlines()[-1][:150] if err.strip() else 'nothing said'}"
    if code == 2 and not out and (err.count("\n") != 1 or not err.startswith("msdump: ")):
        return f"{err.count(chr(10))} lines: {err[:150]!r}"
    if len(out) + len(err) > MOST:
        return f"{len(out) + len(err)} characters"
    return "" if is_clean(out + err, "\n\t") else "a control character"


def findings(given: Hostile, ended: Iterable[tuple[list[str], int, str, str]], refused: Counter[str]) -> Iterator[str]:
    """What must not be, of all commands; counts the refusals of each."""
    for words, code, out, err in ended:
        refused[words[0]] += code == 2
        if told := wrong(code, out, err):
            yield f"{given}: {words[0]}: {told}"


def _main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.hostile", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--goldens", type=int)
    given = parser.parse_args()
    rng, began, failed = random.Random(given.seed), time.process_time(), 0
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        place = Place(Path(folder))
        described = json.loads((place.home / "golden/x.manifest.json").read_bytes())
        compared = json.loads((place.home / "d.json").read_bytes())
        compared["slots"] = compared["slots"][:1]
        kinds: dict[str, tuple[Iterable[Hostile], Any]] = {
            "attributes": (odd_attributes(), place.golden), "contents": (odd_contents(), place.golden),
            "rows": (odd_rows(), place.golden),
            "manifests": (map(Hostile, *zip(*odd_values(described, "manifest"), strict=True)), place.manifest),
            "comparisons": (map(Hostile, *zip(*odd_values(compared, "comparison"), strict=True)), place.comparison),
        }  # fmt: skip
        for kind, (inputs, give) in kinds.items():
            drawn = list(inputs)
            if given.goldens is not None and given.goldens < len(drawn):
                drawn = rng.sample(drawn, given.goldens)
            refused: Counter[str] = Counter()
            found = [told for each in drawn for told in findings(each, give(each.raw), refused)]
            failed += len(found)
            print(f"{kind}: {len(drawn)} inputs; refused by {dict(refused)}; {len(found)} findings")
            print("".join(f"  {times} {told}\n" for told, times in Counter(found).most_common(200)), end="", flush=True)
            if kind in ("attributes", "contents", "rows"):
                place.file.write_bytes(whole_golden())
    print(f"{time.process_time() - began:.0f} CPU seconds, {failed} findings")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(_main())
