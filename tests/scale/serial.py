"""Trees of every layout, whole or damaged, and all that a command says and writes of them."""

from __future__ import annotations

import io
import random
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache, partial
from pathlib import Path

import pytest

from harness.cli import main
from tests.fuzz.mutations import changed_bytes
from tests.fuzz.trees import trees

#: Layouts of which there are trees.
#: what a command is asked to write, and how
FILES = ("x.json", "x.csv", "x.html")
WRITTEN = ("--json", "x.json", "--csv", "x.csv", "--report", "x.html")
KINDS = ("tree", "tree-mapped", "tree-statistics", "tree-asynchronous", "tree-real", "tree-msprobe")
_RANK = re.compile(r"rank_0(?=/)|(?<=/)rank(?=/)|(?<=\d{14}/)0(?=/)")
_ITERATION = re.compile(r"(/Net/0/)0(?=/)")
#: What of standard error is about the cluster.
_OWN = re.compile(r"^msdump: (\d+ workers? at .*|.* no worker sees rank .*)\n", re.MULTILINE)


@cache
def bases(kind: str) -> Sequence[Mapping[str, bytes]]:
    """Small trees of a layout."""
    return trees()[kind].seeds


def write(tree: Path, kind: str, ranks: Sequence[int], iterations: int, seed: int, damage: int = 0) -> None:
    """A tree in which every rank has values of its own.

    Args:
        tree: is made again.
        seed: of what is chosen; trees of one seed are equal but for their ``damage``.
        damage: how many files are cut, changed, emptied or taken away.
    """
    rng = random.Random(seed)
    base = rng.choice(bases(kind))
    shutil.rmtree(tree, ignore_errors=True)
    for rank in ranks:
        for path, content in base.items():
            name = _RANK.sub(partial(_named, rank), path)
            copies = range(iterations) if _ITERATION.search(name) else range(1)
            for copy in copies:
                target = tree / _ITERATION.sub(rf"\g<1>{copy}", name).partition("/")[2]
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(_moved(path, content, rank + copy))
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    for number in range(damage):
        _damage(rng.choice(files), random.Random(f"{seed} {number}"))


def _named(rank: int, found: re.Match[str]) -> str:
    return {"rank": f"rank{rank}", "0": str(rank)}.get(found[0], f"rank_{rank}")


def _moved(path: str, content: bytes, by: int) -> bytes:
    """A tensor's last bytes, other in each rank and iteration."""
    if not path.endswith(".npy") or len(content) < 136 or not by:
        return content
    return content[:-4] + bytes([content[-4] ^ (by & 0x7F)]) + content[-3:]


def _damage(path: Path, rng: random.Random) -> None:
    if not path.exists():
        return
    content, kind = path.read_bytes(), rng.randrange(5)
    if kind == 0:
        path.unlink()
    elif kind == 1:
        path.write_bytes(content[: rng.randrange(len(content) + 1)])
    elif kind == 2:
        path.write_bytes(b"")
    elif kind == 3 and path.suffix == ".npy" and len(content) > 136:
        path.write_bytes(content[:-4] + rng.randbytes(4))
    else:
        path.write_bytes(changed_bytes(content, rng))


def said(folder: Path, *words: str, files: Sequence[str] = (), keep: bytes | None = None) -> tuple[object, ...]:
    """What a command says, its exit code, and what it leaves in files.

    Args:
        folder: the command's working directory.
        files: that it may write; they are taken away first.
        keep: what they hold in the beginning instead.
    """
    for name in files:
        (folder / name).unlink(missing_ok=True)
        if keep is not None:
            (folder / name).write_bytes(keep)
    out, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, chdir(folder), redirect_stdout(out), redirect_stderr(errors):
        patch.setenv("MSDUMP_PROGRESS", "0")  # lines that come by the clock
        code = main(list(words))
    left = {name: (folder / name).read_bytes() if (folder / name).exists() else None for name in files}
    return code, out.getvalue(), _OWN.sub("", errors.getvalue()), left
