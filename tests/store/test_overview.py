"""What is read without libhdf5 is what libhdf5 reads; what is not ours, or not whole, is left to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import StoreError
from harness.store import GoldenStore, RunData, update
from harness.store.h5read import Headers, NotOurs
from harness.store.overview import Overview, look
from tests.store.helpers import ARTEFACTS, ASCEND, CPU, edit_index, record, run_data


@contextmanager
def seen(path: Path) -> Iterator[Overview | None]:
    """The overview of a file."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield look(descriptor, path.stat().st_size)
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_it_says_what_libhdf5_says(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "x.h5"
    runs = {CPU: run_data(), ASCEND: run_data(1, level="digest")}
    update(path, "nét", runs, compression=compression)  # type: ignore[arg-type]
    with seen(path) as overview, h5py.File(path) as file:
        assert overview is not None
        assert overview.sound
        assert overview.runs() == (ASCEND, CPU)
        assert (overview.network, overview.compression) == ("nét", compression)
        for run in overview.runs():
            group, found = file[f"runs/{run}"], overview.run(run)
            assert found is not None
            assert found.index.rows.tobytes() == group["index"][()].tobytes()
            assert [name.encode() for name in found.index.names] == group["names"][()].tolist()
            assert (found.level, found.checksum) == (group.attrs["level"].decode(), group.attrs["checksum"].decode())
            assert found.artefacts == ARTEFACTS
        assert overview.run(CPU._replace(mode="other")) is None


@settings(max_examples=30, deadline=None)
@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300), st.binary(max_size=600)
    )
)
def test_any_texts(tmp_path_factory: pytest.TempPathFactory, texts: dict[str, bytes]) -> None:
    path = tmp_path_factory.mktemp("texts") / "x.h5"
    texts = {f"graphs/{number}{name.replace('/', '')}": text for number, (name, text) in enumerate(texts.items())}
    update(path, "net", {CPU: RunData([record(np.arange(3, dtype=np.float32))], texts)})
    with seen(path) as overview:
        assert overview is not None
        found = overview.run(CPU)
        assert found is not None
        assert found.artefacts == texts


def test_a_run_that_is_not_as_it_was_written_is_left_to_libhdf5(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: RunData([record(np.arange(3, dtype=np.float32))], {}, {"note": "as it was"})})
    raw = path.read_bytes()
    assert raw.count(b"as it was") == 1
    path.write_bytes(raw.replace(b"as it was", b"as it now"))
    with seen(path) as overview:
        assert overview is not None
        assert overview.run(CPU) is None
    with GoldenStore.open(path) as store, pytest.raises(StoreError, match="checksum"):
        _ = store.run(*CPU).attrs


def test_the_network_is_taken_from_sound_headers_only(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    update(path, "the network", {CPU: run_data()})
    path.write_bytes(path.read_bytes().replace(b"the network", b"our network"))
    with seen(path) as overview:
        assert overview is not None
        assert not overview.sound
    with pytest.raises(StoreError, match=r"damaged|cannot be opened|not a whole"), GoldenStore.open(path) as store:
        _ = store.network


def test_what_libhdf5_edited_is_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data()})
    edit_index(path, 0, "max", 3.5)
    with seen(path) as overview:
        assert overview is None or overview.run(CPU) is None
    with GoldenStore.open(path) as store:
        assert store.run(*CPU).index.rows["max"][0] == 3.5


def test_no_other_hdf5_file_is_ours(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w", libver="latest") as file:
        file["a"] = np.arange(4)
    descriptor = os.open(tmp_path / "x.h5", os.O_RDONLY)
    try:
        with pytest.raises(NotOurs):
            Headers(descriptor, (tmp_path / "x.h5").stat().st_size)
    finally:
        os.close(descriptor)


def test_a_check_that_holds_needs_no_libhdf5(tmp_path: Path) -> None:
    update(tmp_path / "x.h5", "net", {CPU: RunData([record(np.arange(5, dtype=np.float32))])})
    code = """
import sys
from harness.compare import check
from harness.errors import StoreError
from harness.store import GoldenStore
with GoldenStore.open(sys.argv[1]) as store:
    run = store.run("cpu", "tensor")
    assert check(run, run).holds and run.tensor(0).sum() == 10
assert "h5py" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "x.h5")], check=True)
