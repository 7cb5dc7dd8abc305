"""Every command gives the serial answer, byte for byte, on trees of every layout, damaged and of uneven ranks.

What a cluster does with tasks is done here, in this process, and by real workers: 1, 2 and 4 of them.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scale import cluster as clusters
from tests.examples import examples
from tests.scale import serial
from tests.scale.clusters import NOBODY, far
from tests.scale.hosts import msdump, run
from tests.scale.nursery import Nursery
from tests.scale.trees import read_in_blocks

pytest.importorskip("distributed", reason="Dask is not installed (extra 'scale')")
pytestmark = pytest.mark.scale


def commands(golden: Path) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Commands in turn, and the files that each writes."""
    yield ("import", "good", "g.h5"), ("g.h5",)
    yield ("diff", "good", "bad", *serial.WRITTEN), serial.FILES
    yield ("ranks", "bad", "--equal", "*:output.0", "--equal", "*Mul*"), ()
    if golden.exists():
        yield ("check", "bad", "g.h5"), ()
        yield ("audit", "g.h5"), ()
        yield ("verify", "."), ()
        yield ("learn", "g.h5", "bad", "good", "--force"), ("g.h5",)


def apart(alone: Iterable[object], together: Iterable[object]) -> str:
    """Where what was said and written differs, in short: pytest compares long texts for minutes, and hypothesis has it
    do so for each example that fails."""
    for one, other in zip(map(str, alone), map(str, together), strict=True):
        if one != other:
            at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
            shown = slice(max(0, at - 60), at + 200)
            return f"at {at}: {one[shown]!r} alone, {other[shown]!r} together"
    return ""


def both(folder: Path, kind: str, seed: int, *shared: str) -> None:
    """Trees of a seed, and every command alone and with ``shared`` options."""
    rng = random.Random(f"{kind} {seed}")
    ranks, others = (sorted(rng.sample(range(5), rng.randint(1, 3))) for _ in range(2))
    iterations, damage = rng.randint(1, 3), rng.choice((0, 1, 3))
    serial.write(folder / "good", kind, ranks, iterations, seed, rng.choice((0, 0, 1)))
    serial.write(folder / "bad", kind, rng.choice((ranks, others)), iterations, seed, damage)
    golden = folder / "g.h5"
    golden.unlink(missing_ok=True)
    for words, files in commands(golden):
        before = golden.read_bytes() if words[0] == "learn" else None
        alone = serial.said(folder, *words, files=files, keep=before)
        together = serial.said(folder, *words, *shared, files=files, keep=before)
        if NOBODY in str(together[2]):
            assert (alone[0], together[0]) == (2, 2), words
        else:
            assert not apart(alone, together), words


@given(kind=st.sampled_from(serial.KINDS), seed=st.integers(0, 10**6), large=st.booleans())
@examples(6, 200)
def test_parts_that_travel_give_the_serial_answer(
    tmp_path_factory: pytest.TempPathFactory, kind: str, seed: int, large: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "cluster", far)
        if large:
            read_in_blocks(patch)
        both(tmp_path_factory.mktemp("trees"), kind, seed, "--workers", "1")


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    found = Nursery(tmp_path_factory.mktemp("forks"))
    yield found
    found.close()


@pytest.mark.parametrize(("workers", "kinds"), [(1, serial.KINDS[:2]), (2, serial.KINDS[2:4]), (4, serial.KINDS[4:])])
def test_workers_give_the_serial_answer(
    forks: Nursery, tmp_path: Path, workers: int, kinds: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MSDUMP_SCALE_LIMIT", "600")
    _, address = forks.fork(kind="scheduler")
    for _ in range(workers):
        forks.fork(kind="worker", scheduler=address)
    for number, kind in enumerate(kinds):
        both(tmp_path, kind, 10 * workers + number, "--scheduler", address)


def test_processes_that_the_command_starts(tmp_path: Path) -> None:
    serial.write(tmp_path / "good", "tree", (0, 1, 3), 2, 7)
    serial.write(tmp_path / "bad", "tree", (0, 1, 3), 2, 7, 2)
    for words, files in (next(commands(tmp_path / "g.h5")), (("diff", "good", "bad", *serial.WRITTEN), serial.FILES)):
        said = []
        for more in ((), ("--workers", "2")):
            done = run(tmp_path, [sys.executable, "-m", "harness.cli", *words, *more])
            said.append((done.returncode, done.stdout, [(tmp_path / name).read_bytes() for name in files]))
            for name in files:
                (tmp_path / name).unlink()
        assert said[0] == said[1], done.stderr
    assert msdump(tmp_path, "diff", "good", "nothing", "--workers", "2").returncode == 2
