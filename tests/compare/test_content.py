"""Contents are compared with as little reading as possible; verdicts and digests do not depend on how."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import dtypes
from harness.capture import npy, read_tree, tree_records
from harness.compare import Comparison, check, content
from harness.compare.table import row
from harness.errors import RecordError, TreeError
from harness.records import Record, Streamed
from harness.stats import digest
from tests.examples import examples
from tests.store.helpers import record

Array = np.ndarray[Any, np.dtype[Any]]


class Read(Streamed):
    """Values that can be had whole, or block by block in memory that is used again."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __call__(self) -> Array:
        return self._array.copy()

    def pieces(self) -> Iterator[Array] | None:
        return self.blocks(5, 0)

    def head(self) -> bytes:
        return self._array.tobytes()[: 3 + self._array.size % 5]

    def blocks(self, size: int, start: int) -> Iterator[Array]:
        flat = self._array.reshape(-1)
        memory = np.empty(size, flat.dtype)
        for at in range(start, flat.size, size):
            part = memory[: flat[at : at + size].size]
            part[:] = flat[at : at + size]
            yield part
            memory.view(np.uint8)[:] = 0xA5


@pytest.fixture(autouse=True, scope="module")
def small_blocks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in ("measure", "admission", "bulk"):
            patch.setattr(import_module(f"harness.compare.{module}"), "BLOCK", 4)
        patch.setattr(import_module("harness.compare.content"), "_BLOCK", 4)
        yield


def seen(comparison: Comparison) -> str:
    return repr(([row(slot) for slot in comparison.slots], comparison.order, dict(comparison.digests)))


@st.composite
def pairs(draw: Any) -> tuple[Array, Array]:
    kind = draw(st.sampled_from([dtypes.float32, dtypes.float16, dtypes.int32, dtypes.complex64, dtypes.bool_]))
    size = draw(st.sampled_from([1, 3, 4, 9]))
    one = draw(hnp.arrays(np.uint8, size * kind.itemsize, elements=st.integers(0, 1 if kind.kind == "b" else 255)))
    other = one.copy()
    for at in draw(st.lists(st.integers(0, other.size - 1), max_size=2)):
        other[at] ^= 1
    return one.view(kind.numpy), other.view(kind.numpy)


@examples(40, 40)
@pytest.mark.parametrize("measured", [True, False])
@pytest.mark.parametrize("tolerance", [None, "default", 100.0], ids=str)
@given(arrays=st.lists(pairs(), min_size=1, max_size=3), known=st.sampled_from(["", "one", "other", "both"]))
def test_blocks_give_what_arrays_give(
    tolerance: Any, measured: bool, arrays: list[tuple[Array, Array]], known: str
) -> None:
    sides: list[list[Record]] = []
    for side, mine in enumerate(("one", "other")):
        records = [record(pair[side], f"Default/Op-op{at}") for at, pair in enumerate(arrays)]
        if known in (mine, "both"):
            for each in records:
                each.digest = digest(each.values, each.dtype)  # type: ignore[arg-type]
        sides.append(records)
    whole = check(*sides, tolerance, measured=measured)
    parts = [[replace(each, values=Read(each.values)) for each in side] for side in sides]  # type: ignore[arg-type]
    assert seen(check(*parts, tolerance, measured=measured)) == seen(whole)
    assert seen(check(parts[0], sides[1], tolerance, measured=measured)) == seen(whole)
    assert list(whole.digests.values()) == [
        (digest(a.values, a.dtype), digest(b.values, b.dtype))
        for a, b in zip(*sides, strict=True)  # type: ignore[arg-type]
    ]


def test_digests_are_made_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = [record(np.arange(9, dtype=np.float32)) for _ in range(2)]
    for each in sides:
        each.values = Read(each.values)  # type: ignore[arg-type]
    asked: list[Any] = []
    monkeypatch.setattr(content, "digest", lambda array, dtype: asked.append(array) or digest(array, dtype))
    monkeypatch.setattr(content, "Digester", None)
    comparison = check(sides[:1], sides[1:])
    assert comparison.holds
    assert len(comparison.digests) == 1
    assert not asked


@pytest.mark.parametrize(("size", "hashed"), [(2000, 0), (9, 1)])
def test_small_tensors_that_were_read_are_hashed_at_once(
    size: int, hashed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their records, and what is told of their files, are not kept."""
    values = np.arange(size, dtype=np.float32)
    sides = [record(values) for _ in range(2)]
    for each in sides:
        each.values = values.copy
    asked: list[Any] = []
    monkeypatch.setattr(content, "digest", lambda array, dtype: asked.append(array) or digest(array, dtype))
    comparison = check(sides[:1], sides[1:])
    assert len(asked) == hashed
    (key,) = comparison.digests
    assert comparison.digests[key] == (digest(values, "Float32"),) * 2


def test_neither_values_nor_digest_is_an_error_on_either_side() -> None:
    there, gone = record(np.ones(3, np.float32)), record(np.ones(3, np.float32))
    gone.values = None
    for sides in ([there], [gone]), ([gone], [there]), ([], [gone]), ([gone], []):
        with pytest.raises(RecordError, match="neither values nor a digest"):
            check(*sides)


def trees(path: Path, *arrays: Array) -> list[Path]:
    found = []
    for side, array in enumerate(arrays):
        directory = path / str(side) / "rank_0" / "Net" / "0" / "0"
        directory.mkdir(parents=True)
        np.save(directory / "Add.Default_Add-op0.0.0.17.output.0.DefaultFormat.Float32.npy", array)
        found.append(path / str(side))
    return found


def test_large_files_are_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_records, "EAGER_BYTES", 100)
    monkeypatch.setattr(npy, "_HEAD", 200)
    one = np.arange(33, dtype=np.float32).reshape(3, 11)
    other = one.copy()
    other[2, 10] += 1e-4
    paths = trees(tmp_path, one, one, other)
    sides = [list(read_tree(path).records()) for path in paths]
    monkeypatch.setattr(npy, "load", None)
    assert check(sides[0], sides[1]).holds
    slot = check(sides[0], sides[2], 1e-5).slots[0]
    assert slot.measurement is not None
    assert slot.measurement.worst is not None
    assert (slot.measurement.unequal, slot.measurement.worst.index) == (1, (2, 10))
    assert check(sides[0], read_tree(paths[2]), 1e-5, measured=False).slots[0].reason.startswith("values differ")
    first = next(iter(read_tree(paths[0]).records()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(npy, "blocks", lambda *_: iter(()))  # what opening the files read is enough
        other[0, 0] = 7
        (changed,) = trees(tmp_path / "more", other)
        assert content.agree(first, next(iter(read_tree(changed).records()))) == (False, None, None)
    (file,) = paths[1].rglob("*.npy")
    file.write_bytes(file.read_bytes()[:-4])
    with pytest.raises(TreeError, match="bytes where there were"):
        check(sides[0], sides[1])
    file.unlink()
    with pytest.raises(TreeError, match="No such file"):
        check(sides[0], sides[1])
