"""Runs of one network by granularity, rank and variant lie in one store, beside each other."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import h5py
import pytest

from harness.errors import StoreError
from harness.store import GoldenStore, manifest, update
from harness.store.verify import verify
from tests.store.helpers import CPU, contents, plain, run_data

KEYS = [
    CPU,
    CPU._replace(granularity="modules"),
    CPU._replace(rank=3),
    CPU._replace(granularity="sentinel", variant="b"),
]


def test_runs_lie_beside_each_other_in_any_order_of_writing(tmp_path: Path) -> None:
    whole = tmp_path / "whole.h5"
    update(whole, "net", {run: run_data(seed) for seed, run in enumerate(KEYS)})
    assert sorted(contents(whole)) == sorted(KEYS)
    for number, order in enumerate(permutations(range(len(KEYS)))):
        if number % 5 == 0:
            path = tmp_path / f"{number}.h5"
            for at in order:
                update(path, "net", {KEYS[at]: run_data(at)})
            assert path.read_bytes() == whole.read_bytes()
    for number, run in enumerate(KEYS):
        with GoldenStore.open(whole) as store:
            assert list(plain(store.run(*run).records())) == list(plain(run_data(number).records))
    with h5py.File(whole) as file:
        assert {"index", "modules", "rank3", "sentinel"} <= set(file["runs/cpu/tensor"])
        assert "index" in file["runs/cpu/tensor/sentinel/@b"]


def test_manifests_know_them(tmp_path: Path) -> None:
    update(tmp_path / "x.h5", "net", {run: run_data(seed) for seed, run in enumerate(KEYS)})
    manifest.rebuild(tmp_path, {manifest.RunKey("x.h5", run): {"seed": at} for at, run in enumerate(KEYS)})
    assert {key.run: told["seed"] for key, told in manifest.provenance_of(tmp_path).items()} == dict(
        zip(KEYS, range(4), strict=True)
    )
    assert verify(tmp_path).problems == []


def test_a_run_that_is_not_there_is_named(tmp_path: Path) -> None:
    update(tmp_path / "x.h5", "net", {CPU: run_data()})
    with GoldenStore.open(tmp_path / "x.h5") as store, pytest.raises(StoreError, match="no run cpu/tensor/modules"):
        store.run("cpu", "tensor", "modules")
    with pytest.raises(StoreError, match="unknown granularity 'layers'"):
        update(tmp_path / "x.h5", "net", {CPU._replace(granularity="layers"): run_data()})
