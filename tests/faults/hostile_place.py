"""A directory in which one hostile file after the other is given to every command that reads such files, and to every
public function that takes a golden; and what must not be about how they end."""

from __future__ import annotations

import io
import os
import shutil
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.errors import HarnessError, told
from harness.report import page
from harness.store import GoldenStore, change_one, manifest, rewrite, update
from tests.dump.build import dumped, one_op
from tests.faults import sessions, steps
from tests.fuzz.commands import main
from tests.store.helpers import ASCEND, CPU, run_data
from tests.test_escape import is_clean

#: A command prints at most so many bytes about a file of some kilobytes, and leaves files of at most so many.
MOST, MOST_LEFT = 1 << 18, 1 << 22

#: Words of a command, its exit code (-1 for an exception), what it printed, what it said on standard error.
Ended = tuple[list[str], int, str, str]


class Place:
    """A directory with a golden, a bundle, a tree and a stored comparison.

    Args:
        home: an empty directory.
        whole: makes a golden of a seed.
    """

    def __init__(self, home: Path, whole: Callable[[int], bytes]) -> None:
        self.home = home
        for name in ("golden", "bundle", "other", "made"):
            (home / name).mkdir()
        self.file = home / "golden" / "x.h5"
        self.file.write_bytes(whole(0))
        manifest.rebuild(home / "golden")
        for name in ("y.h5", "other/x.h5"):
            (home / name).write_bytes(whole(1))
        dumped(home / "tree", one_op())
        sides = f"{self.file}::cpu/tensor", f"{home}/y.h5::cpu/tensor"
        if main_quietly(["diff", *sides, "--json", f"{home}/d.json"])[0] != 1:
            raise AssertionError("the comparison that judge is given was not made")

    def golden(self, raw: bytes) -> Iterator[Ended]:
        """Gives a golden to every command but those that run pytest, and to the functions."""
        self.file.write_bytes(raw)
        for name in ("bundle/x.h5", "made/x.h5"):
            (self.home / name).write_bytes(raw)
        at, made, other, x = self.home, self.home / "made", f"{self.home}/y.h5::cpu/tensor", f"{self.file}::cpu/tensor"
        ranks = f"{self.file}::gpu/tensor"
        for words in (
            ["show", str(self.file), "--all"], ["show", str(self.file), "--text", "*"], ["show", f"{at}/golden"],
            ["show", x, "--operator", "*layer1*"],
            ["check", f"{at}/tree", str(self.file), "--run", "cpu/tensor"],
            ["diff", x, other], ["diff", other, x], ["diff", x, other, "--csv", "-"],
            ["diff", x, other, "--report", f"{made}/page.html"],
            ["diff", x, other, "--json", f"{made}/e.json"], ["judge", f"{made}/e.json", "--rtol", "1e-3"],
            ["audit", str(self.file)], ["learn", str(self.file), other, "--run", "cpu/tensor", "--force", "--dry-run"],
            ["learn", f"{at}/y.h5", x, "--run", "cpu/tensor", "--force", "--dry-run"],
            ["ranks", ranks], ["ranks", ranks, f"{at}/y.h5::gpu/tensor"], ["ranks", f"{at}/y.h5::gpu/tensor", ranks],
            ["inspect", x], ["inspect", x, "--json", "-"], ["inspect", x, "--report", f"{made}/health.html"],
            *(["convert", x, f"{made}/v.{kind}"] for kind in ("npz", "safetensors", "json")),
            ["convert", x, f"{made}/onnx", "--to", "onnx"],
            ["extract", x, other, "-o", f"{made}/test_e.py"], ["extract", other, x, "-o", f"{made}/test_e.py"],
            ["doctor", str(at)], ["verify", f"{at}/golden"], ["import", f"{at}/tree", f"{made}/x.h5"],
            ["review", f"{at}/bundle", "--golden", f"{at}/other", "--list"],
            ["accept", f"{at}/bundle", "--golden", f"{at}/new"], ["verify", f"{made}", "--fix"],
            ["report", "--join", f"{made}/joined.html", f"{made}/page.html"],
        ):  # fmt: skip
            yield words, *main_quietly(words)
        yield from self._functions(raw)
        yield from self._left()

    def _functions(self, raw: bytes) -> Iterator[Ended]:
        """Gives a golden to the functions that take one; an error of ours is a line."""
        made = self.home / "made" / "x.h5"
        changes: dict[str, Callable[[], object]] = {
            "rewrite": lambda: rewrite(made, compression="gzip"),
            "update": lambda: update(made, "Net", {CPU: run_data(2)}),
            "change_one": lambda: change_one(made, "Net", {ASCEND: None}, describe=True),
            "manifest": lambda: manifest.rebuild(made.parent),
        }
        reads: dict[str, Callable[[], object]] = {
            "GoldenStore": lambda: _all_of(self.file),
            "page": lambda: page(f"{self.file}::cpu/tensor", f"{self.home}/y.h5::cpu/tensor"),
        }
        for name, call in {**reads, **changes}.items():
            if name in changes:
                made.write_bytes(raw)
            yield [name], *_quietly(lambda call=call: _code(call))  # type: ignore[misc]

    def _left(self) -> Iterator[Ended]:
        """Removes what the commands left; too much of it is told."""
        for path in (self.home / "made", self.home / "new"):
            size = sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
            if size > MOST_LEFT:
                yield ["files"], -1, "", f"{size} bytes are left: {sorted(os.listdir(path))}"
            shutil.rmtree(path, ignore_errors=True)
        (self.home / "made").mkdir()

    def manifest(self, raw: bytes) -> Iterator[Ended]:
        """Gives a manifest to every command that reads one."""
        (self.home / "golden" / "x.manifest.json").write_bytes(raw)
        for words in (
            ["verify", f"{self.home}/golden"],
            ["accept", f"{self.home}/golden", "--golden", f"{self.home}/new"],
            ["review", f"{self.home}/golden", "--golden", f"{self.home}/other", "--list"],
            ["doctor", str(self.home)],
        ):
            yield words, *main_quietly(words)
        yield from self._left()

    def comparison(self, raw: bytes) -> Iterator[Ended]:
        """Gives a stored comparison to judge."""
        (self.home / "d.json").write_bytes(raw)
        words = ["judge", f"{self.home}/d.json", "--rtol", "1e-3"]
        yield words, *main_quietly(words)

    def project(self) -> Path:
        """A project whose test has a golden, for ``sessions``."""
        folder = self.home / "project"
        folder.mkdir()
        sessions._made(folder)
        return folder / "golden" / "test_it" / "test_one.h5"

    def values(self, golden: Path, raw: bytes) -> Iterator[Ended]:
        """Gives a golden of values to the functions that judge and keep values."""
        kept, described = golden.read_bytes(), golden.with_name("test_one.manifest.json").read_bytes()
        for at, values in enumerate(({"table": {"sine": [1.0, 2.0], "count": 5}}, {"table": [1.5], "text": "x"})):
            golden.write_bytes(raw)
            yield [f"harness.check, {at}"], *_quietly(lambda: _code(lambda: harness.check(golden, values)))  # noqa: B023
            yield [f"harness.write, {at}"], *_quietly(lambda: _code(lambda: harness.write(golden, values)))  # noqa: B023
            golden.write_bytes(kept)
            golden.with_name("test_one.manifest.json").write_bytes(described)

    def sessions(self, golden: Path, raw: bytes) -> Iterator[Ended]:
        """Gives a golden to the commands that run pytest, each in a fork, and to the gate."""
        kept, folder = golden.read_bytes(), golden.parents[2]
        described = {path: path.read_bytes() for path in folder.rglob("*.json")}
        for words in (["regen"], ["prune"], ["graft", "test_it.py::test_one"], ["--msdump"]):
            golden.write_bytes(raw)
            act = _plain(words) if words[0] in ("graft", "--msdump") else sessions._session("1", *words)
            ended = steps.run(lambda act=act: act(folder), under=folder)  # type: ignore[misc]
            yield words, -1 if ended.code is None else ended.code, ended.output, ""
            for path, content in {golden: kept, **described}.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)


def _plain(words: Sequence[str]) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        from harness.cli import graft

        graft.subprocess = sessions._InProcess  # type: ignore[assignment, attr-defined]
        sessions._surroundings(folder, "1")
        load = [] if sessions.INSTALLED else ["-p", sessions.PLUGIN]
        told = [*load, *words, "-q", "-p", "no:cacheprovider"]
        sys.exit(int(pytest.main(told)) if words[0] == "--msdump" else main(words))

    return act


def _all_of(path: Path) -> None:
    """Reads everything a golden has, by every method of its class; what must not be raises."""
    with GoldenStore.open(path) as store:
        for each in store.runs():
            run = store.run(*each)
            found: list[Callable[[], Any]] = [
                lambda run=run: [record.load() for record in run.records()],  # type: ignore[misc]
                run.artefacts, run.tables, run.problems, lambda run=run: run.declared,  # type: ignore[misc]
                lambda run=run: run.operators, lambda run=run: run.gaps, lambda run=run: run.identity,  # type: ignore[misc]
                lambda run=run: run.stored_parts(),  # type: ignore[misc]
            ]  # fmt: skip
            for call in found:
                try:
                    call()
                except HarnessError as error:
                    print(error)
        store.verify()


def _code(call: Callable[[], object]) -> int:
    try:
        call()
    except AssertionError as error:
        return 1 if isinstance(error, harness.DiffersError) else _raised()
    except HarnessError as error:
        print(f"msdump: {told(error)}", file=sys.stderr)
        return 2
    except Exception:
        return _raised()
    return 0


def _raised() -> int:
    traceback.print_exc()
    return -1


def _quietly(call: Callable[[], int]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = call()
        except BaseException:
            code = _raised()
    return code, out.getvalue(), err.getvalue()


def main_quietly(words: Sequence[str]) -> tuple[int, str, str]:
    """The exit code of a command, what it printed, and what it said on standard error; -1 for an exception."""
    return _quietly(lambda: main(words))


def wrong(code: int, out: str, err: str) -> str:
    """What must not be about a command's ending; empty if nothing is."""
    if code not in (0, 1, 2) or "Traceback" in err:
        return f"exit {code}: {err.strip().splitlines()[-1][:150] if err.strip() else 'nothing said'}"
    if code == 2 and not out and (err.count("\n") != 1 or not err.startswith("msdump: ")):
        return f"{err.count(chr(10))} lines: {err[:150]!r}"
    if len(out) + len(err) > MOST:
        return f"{len(out) + len(err)} characters"
    return "" if is_clean(out + err, "\n\t") else "a control character"


def wrong_session(code: int, out: str) -> str:
    """Likewise of a session of pytest, which tells failures in its own report."""
    if code not in (0, 1, 2) or "INTERNALERROR" in out or "Traceback (most" in out:
        lines = [line for line in out.splitlines() if line.strip()]
        return f"exit {code}: {lines[-1][:150] if lines else 'nothing said'}"
    if len(out) > MOST:
        return f"{len(out)} characters"
    return "" if is_clean(out, "\n\t") else "a control character"


def findings(given: object, ended: Iterable[Ended], refused: Counter[str]) -> Iterator[str]:
    """What must not be, of all commands; counts the refusals of each."""
    pytest_runs = ("regen", "prune", "graft", "--msdump")
    for words, code, out, err in ended:
        refused[words[0]] += code == 2 or (words[0] in pytest_runs and code == 1)
        if told := wrong_session(code, out) if words[0] in pytest_runs else wrong(code, out, err):
            yield f"{given}: {' '.join(words[:1])}: {told}"
