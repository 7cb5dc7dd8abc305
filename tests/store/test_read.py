"""Reading: a golden is data from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import StoreError
from harness.store import GoldenStore, RunData, update
from harness.store.schema import SCHEMA
from tests.store.helpers import ARTEFACTS, ASCEND, CPU, contents, edit_index, network, plain, record, run_data

Damage = Callable[[h5py.File], None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of two runs."""
    update(tmp_path / "x.h5", "net", {CPU: run_data(), ASCEND: run_data(1, level="digest")})
    return tmp_path / "x.h5"


def everything(path: Path) -> None:
    """Reads all there is."""
    contents(path)
    with GoldenStore.open(path) as store:
        for run in store.runs():
            store.run(*run).artefacts()
            _ = store.run(*run).attrs
        _ = store.compression


def test_values_load_on_demand_and_only_while_open(path: Path) -> None:
    with GoldenStore.open(path) as store:
        lazy = list(store.run(*CPU).records())
        assert callable(lazy[0].values)
        assert list(plain(lazy)) == list(plain(network()))
    with pytest.raises(StoreError, match="the store is closed"):
        _ = store.root
    with pytest.raises(StoreError):
        lazy[0].load()


def test_a_store_replaced_while_open_is_read_as_it_was(path: Path) -> None:
    with GoldenStore.open(path) as store:
        update(path, "net", {CPU: run_data(5)})
        assert list(plain(store.run(*CPU).records())) == list(plain(network()))
    assert contents(path)[CPU] == list(plain(network(5)))


def test_a_read_only_file_in_a_read_only_directory(path: Path) -> None:
    expected = contents(path)
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert contents(path) == expected
    finally:
        path.parent.chmod(0o700)


def test_missing_things_are_named(path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.h5: there is no such golden store"):
        GoldenStore.open(path.with_name("nothing.h5"))
    with (
        GoldenStore.open(path) as store,
        pytest.raises(
            StoreError, match=r"no run gpu/tensor is stored here; there are: ascend-o0/statistic, cpu/tensor"
        ),
    ):
        store.run("gpu", "tensor")


@pytest.mark.parametrize("content", [b"", b"\0" * 5000, b"\x89HDF\r\n\x1a\n", b"no HDF5"], ids=range(4))
def test_what_is_no_hdf5(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.h5").write_bytes(content)
    with pytest.raises(StoreError, match=r"x\.h5: not a whole HDF5 file"):
        GoldenStore.open(tmp_path / "x.h5")


def test_a_directory_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a whole HDF5 file"):
        GoldenStore.open(tmp_path)


def test_every_truncation_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    for size in range(0, len(whole), len(whole) // 40):
        path.write_bytes(whole[:size])
        with pytest.raises(StoreError):
            GoldenStore.open(path)


def set_attribute(name: str, value: Any, where: str = "/") -> Damage:
    def damage(file: h5py.File) -> None:
        del file[where].attrs[name]
        if value is not None:
            file[where].attrs[name] = value

    return damage


def replace_by(where: str, make: Callable[[h5py.Group, str], Any]) -> Damage:
    def damage(file: h5py.File) -> None:
        group, name = file[where].parent, where.rpartition("/")[2]
        del group[name]
        make(group, name)

    return damage


INDEX, NAMES, TEXT = (f"runs/cpu/tensor/{name}" for name in ("index", "names", "rdr/empty.txt"))
SLOT = "runs/cpu/tensor/tensors/rank0/graph0/iteration0/Default/layer0-Dense/MatMul-op0/output.0"


def soft(group: h5py.Group, name: str) -> None:
    group[name] = h5py.SoftLink("/objects")


def external(group: h5py.Group, name: str) -> None:
    group[name] = h5py.ExternalLink("/etc/hostname.h5", "/")


def virtual(group: h5py.Group, name: str) -> None:
    layout = h5py.VirtualLayout((3, 5), np.float32)
    layout[:] = h5py.VirtualSource("other.h5", "x", (3, 5))
    group.create_virtual_dataset(name, layout)


def elsewhere(group: h5py.Group, name: str) -> None:
    group.create_dataset(name, (3, 5), np.float32, external=[("/etc/passwd", 0, 60)])


def dataset(**more: Any) -> Callable[[h5py.Group, str], None]:
    return lambda group, name: group.create_dataset(name, **more) and None


def nothing(group: h5py.Group, name: str) -> None:
    """Leaves it out."""


def unwritten(group: h5py.Group, name: str) -> None:
    h5py.h5d.create(group.id, name.encode(), h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((1 << 20, 1 << 20)))


def huge(group: h5py.Group, name: str) -> None:
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((1 << 15, 1 << 14))
    plist.set_shuffle()
    plist.set_deflate(4)
    space = h5py.h5s.create_simple((1 << 15, 1 << 14))
    made = h5py.h5d.create(group.id, name.encode(), h5py.h5t.IEEE_F32LE, space, dcpl=plist)
    made.write_direct_chunk((0, 0), b"tiny")


DAMAGES: dict[str, tuple[Damage, str]] = {
    "foreign": (set_attribute("format", np.bytes_(b"somebody's")), "is no golden store"),
    "no format": (set_attribute("format", None), "the attribute 'format' is missing"),
    "format is a number": (set_attribute("format", 3), "unexpected type"),
    "format is many": (set_attribute("format", np.array([b"a", b"b"])), "unexpected type"),
    "newer": (set_attribute("schema", SCHEMA + 1), r"schema version \d+ was written by a newer pytest-msdump"),
    "never": (set_attribute("schema", 0), "schema version 0 is not known"),
    "schema is text": (set_attribute("schema", np.bytes_(b"1")), "unexpected type"),
    "compression": (lambda f: set_attribute("compression", np.bytes_(b"lzf"))(f), "unknown compression 'lzf'"),
    "level": (set_attribute("level", np.bytes_(b"most"), "runs/cpu/tensor"), "unknown level 'most'"),
    "attrs no JSON": (set_attribute("attrs", np.bytes_(b"{"), "runs/cpu/tensor"), "attrs: no JSON"),
    "attrs no object": (set_attribute("attrs", np.bytes_(b"[]"), "runs/cpu/tensor"), "not a JSON object"),
    "attrs no UTF-8": (set_attribute("attrs", np.bytes_(b"\xff"), "runs/cpu/tensor"), "no UTF-8"),
    "runs is no group": (replace_by("runs", dataset(data=1)), "runs"),
    "no index": (replace_by(INDEX, nothing), "index: it is missing"),
    "index of another type": (replace_by(INDEX, dataset(data=np.zeros(12))), "index: .* not of the type"),
    "index is a group": (replace_by(INDEX, lambda g, n: g.create_group(n)), "should be a dataset"),
    "no names": (replace_by(NAMES, nothing), "names: it is missing"),
    "names are numbers": (replace_by(NAMES, dataset(data=np.zeros(12))), "no table of strings"),
    "names are objects": (replace_by(NAMES, dataset(data=["a", "b"])), "names: its type object is none"),
    "too few names": (replace_by(NAMES, dataset(data=np.array([b"a"]))), "points beyond the table of names"),
    "slot missing": (replace_by(SLOT, nothing), "its tensor is missing"),
    "slot soft": (replace_by(SLOT, soft), "soft or external link"),
    "slot external": (replace_by(SLOT, external), "soft or external link"),
    "index soft": (replace_by(INDEX, soft), "soft or external link"),
    "runs external": (replace_by("runs", external), "soft or external link"),
    "text soft": (replace_by(TEXT, soft), "soft or external link"),
    "slot virtual": (replace_by(SLOT, virtual), "virtual or compact"),
    "slot's bytes elsewhere": (replace_by(SLOT, elsewhere), "in another file"),
    "slot of another dtype": (replace_by(SLOT, dataset(data=np.zeros((3, 5)))), "index says .* stored is an array"),
    "slot of another shape": (replace_by(SLOT, dataset(data=np.zeros((5, 3), "f4"))), "index says .* stored is"),
    "slot of other values": (replace_by(SLOT, dataset(data=np.zeros((3, 5), "f4"))), "the golden is damaged"),
    "slot of objects": (replace_by(SLOT, dataset(data=["a"])), "its type object is none"),
    "slot unwritten and huge": (replace_by(SLOT, unwritten), "bytes are not in the file"),
    "slot a bomb": (replace_by(SLOT, huge), r"its chunk of 4 bytes cannot hold \d+"),
    "slot in small chunks": (replace_by(SLOT, dataset(data=np.zeros((3, 5), "f4"), chunks=(1, 5))), "chunked in a way"),
    "slot lzf": (replace_by(SLOT, dataset(data=np.zeros((3, 5), "f4"), compression="lzf")), "chunked in a way"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_a_store_error_that_names_the_file(path: Path, name: str) -> None:
    damage, said = DAMAGES[name]
    with h5py.File(path, "r+") as file:
        damage(file)
    with pytest.raises(StoreError, match=said) as caught:
        everything(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).count(str(path)) == 1


def test_a_cycle_of_groups_ends(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file["runs/cpu/tensor/rdr/again"] = file["runs/cpu/tensor/rdr"]
    with GoldenStore.open(path) as store, pytest.raises(StoreError, match="more than 64 groups deep"):
        store.run(*CPU).artefacts()


def test_verify_names_everything_that_is_wrong(path: Path) -> None:
    with GoldenStore.open(path) as store:
        assert store.verify() == []
    edit_index(path, 2, "digest", b"\1" * 16)
    edit_index(path, 1, "max", 3.5, ASCEND)
    with GoldenStore.open(path) as store:
        problems = store.verify()
    assert len(problems) == 3
    assert "run ascend-o0/statistic: it was altered after it was written" in problems[0]
    assert "run cpu/tensor: it was altered after it was written" in problems[1]
    assert "Default/layer0-Dense/MatMul-op0 output.0: the golden is damaged: the index says digest 0101" in problems[2]


def test_verify_goes_on_after_a_run_that_cannot_be_read(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file["runs/ascend-o0/statistic/index"]
    edit_index(path, 0, "digest", b"\1" * 16)
    with GoldenStore.open(path) as store:
        assert len(store.verify()) == 3


def test_changed_values_are_noticed_when_read(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    value = np.float32(1.2345678)
    update(path, "net", {CPU: RunData([record(value)])})
    raw = path.read_bytes()
    assert raw.count(value.tobytes()) == 1
    path.write_bytes(raw.replace(value.tobytes(), np.nextafter(value, np.float32(2)).tobytes()))
    with GoldenStore.open(path) as store, pytest.raises(StoreError, match=r"output\.0: the golden is damaged"):
        store.run(*CPU).tensor(0)


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, bytes, Any]]:
    """Stores to damage: path, bytes, contents."""
    made = []
    for compression in ("none", "gzip"):
        path = tmp_path_factory.mktemp("fuzz") / "x.h5"
        update(path, "net", {CPU: run_data(), ASCEND: run_data(1, level="digest")}, compression=compression)
        made.append((path, path.read_bytes(), (contents(path), ARTEFACTS)))
    return made


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_damage_is_noticed_or_harmless(originals: list[tuple[Path, bytes, Any]], data: st.DataObject) -> None:
    path, whole, expected = data.draw(st.sampled_from(originals))
    raw = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at] = data.draw(st.sampled_from([0, 255, raw[at] ^ 1, raw[at] ^ 128]))
    path.write_bytes(raw)
    try:
        with GoldenStore.open(path) as store:
            problems = store.verify()
        found = (contents(path), ARTEFACTS)
        with GoldenStore.open(path) as store:
            texts = [store.run(*run).artefacts() for run in store.runs()]
    except StoreError:
        return
    assert problems or (found == expected and texts == [ARTEFACTS] * 2)


def test_closing_leaves_no_file_open(path: Path) -> None:
    def opened() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = opened()
    for _ in range(3):
        with GoldenStore.open(path) as store:
            store.run(*CPU).tensor(0)
        with pytest.raises(StoreError), GoldenStore.open(path) as store:
            store.run("no", "run")
    assert opened() == before
