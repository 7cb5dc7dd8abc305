"""Regenerates one golden store over and over, in child processes that get killed: run by ``test_store_kill``.

Usage: ``python regenerate.py DIRECTORY ROUNDS SEED``. Prints one line, a JSON object of what was seen. The parent
imports everything once and forks: a kill costs a fork instead of an interpreter.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

from harness.records import Record, SlotKey
from harness.store import GoldenStore, RunData, RunId, manifest, update

CPU, KEPT = RunId("cpu", "tensor"), RunId("kept", "tensor")


def records(seed: int) -> list[Record]:
    """40 slots of 32 KiB, each array used twice."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(20):
        array = rng.standard_normal(8192).astype(np.float32)
        for slot in range(2):
            key = SlotKey(0, 0, 0, f"Default/layer{number}-Dense/MatMul-op{number}", 0, "output", slot)
            made.append(Record(key, "MatMul", "Float32", array.shape, values=array))
    return made


def regenerate(path: Path, seed: int) -> None:
    """One regeneration of one of two runs, and of the manifest."""
    update(path, "net", {CPU: RunData(records(seed), {"graphs/g.ir": b"%d\n" % seed * 5000})})
    manifest.rebuild(path.parent)


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def forever(path: Path) -> None:
    """The child: new content each time, as fast as it goes."""
    seed = os.getpid()
    while True:
        seed += 1
        regenerate(path, seed % 2)


def inspect(path: Path, allowed: dict[str, int], seen: Counter[str]) -> None:
    """What a killed child left behind."""
    name = sha(path)
    seen[f"content {allowed[name]}" if name in allowed else "half-new"] += 1
    with GoldenStore.open(path) as store:
        seen["damaged"] += bool(store.verify())
    try:
        manifest.read(path.parent)
    except ValueError:
        seen["damaged"] += 1
    left = {p.name for p in path.parent.iterdir()} - {path.name, manifest.NAME}
    seen["interrupted"] += bool(left)
    strangers = {n for n in left if not n.startswith((f".{path.name}.", f".{manifest.NAME}."))}
    seen["strange files"] += len(strangers)


def main(directory: Path, rounds: int, seed: int) -> None:
    path, rng, seen = directory / "x.h5", random.Random(seed), Counter[str]()
    update(path, "net", {KEPT: RunData(records(99))})
    allowed = {}
    for content in (0, 1):
        started = time.monotonic()
        regenerate(path, content)
        lasts = time.monotonic() - started
        allowed[sha(path)] = content
    for _ in range(rounds):
        child = os.fork()
        if child == 0:
            forever(path)
        time.sleep(rng.uniform(0, 3 * lasts))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        inspect(path, allowed, seen)
    regenerate(path, 0)
    left = {p.name for p in directory.iterdir()} - {path.name, manifest.NAME}
    print(json.dumps({**seen, "left": sorted(left), "after": allowed[sha(path)]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
