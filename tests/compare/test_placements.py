"""Layouts of several ranks beside one rank: what a table of placements declares is joined, reduced, cut or left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.cli import main
from harness.compare.shards import Shard, parse_all
from harness.dtypes import TORCH_FORMAT
from harness.errors import ScaleError
from harness.records import Record, SlotKey
from harness.store import RunData, RunId, update

Array = np.ndarray[Any, np.dtype[Any]]
PLACEMENTS = (
    "Shard(0)",
    "Shard(-1)",
    "Interleaved(0, 3)",
    "Vocabulary(0)",
    "Partial(sum)",
    "Partial(mean)",
    "Replicate",
)


def cut(whole: Array, placement: str, ranks: int) -> list[Array]:
    """What each rank holds of a tensor."""
    if placement.startswith("Shard"):
        return np.array_split(whole, ranks, int(placement[6:-1]))
    if placement.startswith("Interleaved"):
        blocks = [np.split(each, ranks) for each in np.split(whole, 3)]
        return [np.concatenate([block[rank] for block in blocks]) for rank in range(ranks)]
    if placement.startswith("Vocabulary"):
        rows = -(-len(whole) // ranks)
        padded = np.concatenate([whole, np.full((rows * ranks - len(whole), *whole.shape[1:]), 7, whole.dtype)])
        return np.split(padded, ranks)
    if placement == "Partial(sum)":
        return [whole * np.float32(rank == 0) + np.float32(0) for rank in range(ranks)]
    return [whole.copy() for _ in range(ranks)]


def store(path: Path, tensors: dict[str, list[Array]]) -> str:
    """A run of as many ranks as there are parts of each tensor."""
    ranks = len(next(iter(tensors.values())))
    records = [
        Record(SlotKey(rank, 0, 0, name, 0, "output", 0), "Parameter", "Float32", each[rank].shape, TORCH_FORMAT,
               np.ascontiguousarray(each[rank]))
        for rank in range(ranks) for name, each in tensors.items()
    ]  # fmt: skip
    update(path, "net", {RunId("torch", "tensor"): RunData(records)})
    return str(path)


def drawn(seed: int, ranks: int) -> tuple[dict[str, Array], dict[str, str]]:
    """Tensors of a network, and a placement of each."""
    draw = np.random.default_rng(seed)
    placed = {f"layer{at}.weight": str(draw.choice(PLACEMENTS)) for at in range(4)}
    size = 3 * ranks
    return {
        name: draw.normal(size=(size - ("Vocabulary" in how), size)).astype(np.float32) for name, how in placed.items()
    }, placed


def table(path: Path, placed: dict[str, str]) -> str:
    """A table of placements as a file."""
    lines = [f"{name}:output.0 = {how}" for name, how in placed.items()]
    path.write_text("# where the parts lie\n\n" + "\n".join(lines) + "\n")
    return f"@{path}"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ranks", [2, 4])
def test_right_layouts_hold_and_a_fault_has_its_rank(
    tmp_path: Path, seed: int, ranks: int, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, placed = drawn(seed, ranks)
    one = store(tmp_path / "one.h5", {name: [each] for name, each in whole.items()})
    parts = {name: cut(each, placed[name], ranks) for name, each in whole.items()}
    shards = table(tmp_path / "layout.txt", placed)
    good = store(tmp_path / "good.h5", parts)
    assert main(["diff", one, good, "--exact", "--shard", shards]) == 0, placed
    draw = np.random.default_rng(100 + seed)
    name, rank = f"layer{draw.integers(4)}.weight", int(draw.integers(ranks))
    parts[name][rank] = parts[name][rank] + 0
    parts[name][rank][0, 0] += 3
    bad = store(tmp_path / "bad.h5", parts)
    capsys.readouterr()
    assert main(["diff", one, bad, "--shard", shards]) == 1, placed
    said = capsys.readouterr().out
    assert f"First divergence: {f'rank {rank}, ' * (placed[name] == 'Replicate' and rank > 0)}" in said
    assert name in said
    if placed[name].startswith(("Shard", "Interleaved", "Vocabulary")):
        assert f"Held by rank {rank}, there at [0, 0]" in said, (placed[name], said)


def test_groups_of_ranks(tmp_path: Path) -> None:
    whole = np.arange(16, dtype=np.float32).reshape(4, 4)
    one = store(tmp_path / "one.h5", {"w": [whole]})
    halves = np.split(whole, 2)
    both = store(tmp_path / "both.h5", {"w": [halves[0], halves[0], halves[1], halves[1]]})
    assert main(["diff", one, both, "--shard", "w:output.0=Shard(0)@0,2|1,3"]) == 0
    assert main(["diff", one, both, "--shard", "w:output.0=Shard(0)"]) == 1


def test_what_is_left_out_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = np.ones((2, 2), np.float32)
    one = store(tmp_path / "one.h5", {"w": [value], "x": [value]})
    two = store(tmp_path / "two.h5", {"w": [value, value], "x": [value * 2, value * 3]})
    assert main(["diff", one, two, "--shard", "x:*=Ignore"]) == 0
    assert "left out by the table of placements: 1 and 2 of" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["w:o=Shard", "w:o=Shard(a)", "w:o=Partial(xor)", "w:o=Interleaved(0)", "w:o=Rows(1)",
                                  "w:o=Replicate(1)", "w=Shard(0)", "@nowhere.txt"])  # fmt: skip
def test_what_is_no_placement(text: str) -> None:
    with pytest.raises(ScaleError, match="--shard"):
        parse_all([text])


def test_placements_are_read() -> None:
    assert Shard.parse("a:b=-1") == Shard("a:b", -1)
    assert Shard.parse("a:b = Interleaved(0, 3)@0,1|2,3") == Shard("a:b", 0, "Interleaved", 3, "sum", ((0, 1), (2, 3)))
