"""What runs of a store have in common lies in the file once."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from harness.store import GoldenStore, RunData, RunId, update
from tests.store.helpers import network

TEXTS = {"graphs/a.ir": b"graph\n" * 100, "execution_order/a.csv": b"node\n"}
MODES = ("async-npy", "full", "tensor")


def place(item: h5py.Group | h5py.Dataset) -> int:
    """Address of an object's header: the same for every hard link to it."""
    return int(h5py.h5o.get_info(item.id).addr)


def made(path: Path, change: bool) -> Path:
    """Three runs; in the last one tensor differs if ``change``."""
    records = network()
    other = network()
    if change:
        other[-1].values = np.array(other[-1].load()) + 1
        other[-1].digest = None
    runs = {RunId("cpu", mode): RunData(other if mode == "tensor" else records, TEXTS) for mode in MODES}
    update(path, "net", runs)
    return path


def test_equal_runs_are_one_run_under_several_names(tmp_path: Path) -> None:
    with h5py.File(made(tmp_path / "a.h5", change=False)) as file:
        for name in ("index", "names", "tensors", "graphs/a.ir", "execution_order/a.csv"):
            assert len({place(file[f"runs/cpu/{mode}/{name}"]) for mode in MODES}) == 1
    alone = tmp_path / "alone.h5"
    update(alone, "net", {RunId("cpu", "full"): RunData(network(), TEXTS)})
    assert (tmp_path / "a.h5").stat().st_size < alone.stat().st_size + 2000


def test_only_what_differs_is_there_again(tmp_path: Path) -> None:
    path = made(tmp_path / "a.h5", change=True)
    with h5py.File(path) as file:
        places = {name: {place(file[f"runs/cpu/{mode}/{name}"]) for mode in MODES} for name in ("index", "names")}
        assert [len(found) for found in places.values()] == [2, 1]
        leaves: dict[str, set[int]] = {}
        for mode in MODES:
            file[f"runs/cpu/{mode}/tensors"].visititems(
                lambda name, item: leaves.setdefault(name, set()).add(place(item))
            )
        changed = network()[-1].key
        twice = {name for name, found in leaves.items() if len(found) == 2}
        last = f"rank{changed.rank}/graph{changed.graph}/iteration{changed.iteration}/{changed.operator}/"
        assert last + changed.slot_name in {name.partition("@")[0] for name in twice}
        assert all(last.startswith(name + "/") or name.startswith(last) for name in twice)
    with GoldenStore.open(path) as store:
        assert store.verify() == []
        values = [[r.load() for r in store.run("cpu", mode).records()] for mode in MODES]
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(values[0], values[1], strict=True))  # type: ignore[arg-type]
    assert not np.array_equal(values[0][-1], values[2][-1])  # type: ignore[arg-type]


def test_a_run_that_is_taken_out_leaves_the_others_whole(tmp_path: Path) -> None:
    path = made(tmp_path / "a.h5", change=False)
    update(path, "net", {RunId("cpu", "async-npy"): None})
    with GoldenStore.open(path) as store:
        assert [run.mode for run in store.runs()] == ["full", "tensor"]
        assert store.verify() == []
        assert store.run("cpu", "full").artefacts() == TEXTS


@pytest.mark.parametrize("change", [False, True])
def test_one_run_after_another_gives_the_same_bytes(tmp_path: Path, change: bool) -> None:
    whole = made(tmp_path / "a.h5", change)
    with GoldenStore.open(whole) as store:
        for mode in reversed(MODES):
            update(tmp_path / "b.h5", "net", {RunId("cpu", mode): store.run("cpu", mode)})
    assert (tmp_path / "b.h5").read_bytes() == whole.read_bytes()
