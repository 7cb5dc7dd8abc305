"""Stores of schema 1, written before h5py wrote them, are read as they always were; damage in them is named."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from harness.errors import StoreError
from harness.stats import digest
from harness.store import GoldenStore, rewrite, schema1, update
from tests.store.helpers import ARTEFACTS, ASCEND, CPU, contents, network, plain, run_data

DATA = Path(__file__).with_name("data")
Damage = Callable[[h5py.File], None]
#: The newest schema this project knows, and one more.
NEWER = 3


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of two runs, as version 260854b wrote it."""
    shutil.copy(DATA / "schema1.h5", tmp_path / "x.h5")
    return tmp_path / "x.h5"


def everything(path: Path) -> None:
    """Reads all there is."""
    contents(path)
    with GoldenStore.open(path) as store:
        for run in store.runs():
            store.run(*run).artefacts()
            _ = store.run(*run).attrs
        _ = store.compression


def test_it_is_read_and_written_anew(path: Path) -> None:
    fresh = path.with_name("y.h5")
    with GoldenStore.open(path) as store:
        assert (store.schema, store.network, store.compression) == (1, "net", "none")
        assert store.verify() == []
        assert store.run(*CPU).artefacts() == dict(sorted(ARTEFACTS.items()))
        assert list(plain(store.run(*CPU).records())) == list(plain(network()))
    before = contents(path)
    assert rewrite(path).changed
    update(fresh, "net", {CPU: run_data(), ASCEND: run_data(1, level="digest")})
    assert path.read_bytes() == fresh.read_bytes()
    assert contents(path) == before


def test_regenerating_one_run_brings_the_store_up_to_date(path: Path) -> None:
    before = contents(path)
    assert update(path, "net", {CPU: run_data()}).changed
    with GoldenStore.open(path) as store:
        assert (store.schema, store.verify()) == (2, [])
    assert contents(path) == before


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
SLOT = "objects/" + digest(network()[0].load(), "Float32").hex()  # type: ignore[arg-type]


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


def long(group: h5py.Group, name: str) -> None:
    """A text of 300 MiB in 300 KiB."""
    content = zlib.compress(bytes(300 << 20), 1)
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((300 << 20,))
    plist.set_shuffle()
    plist.set_deflate(4)
    made = h5py.h5d.create(group.id, name.encode(), h5py.h5t.STD_U8LE, h5py.h5s.create_simple((300 << 20,)), dcpl=plist)
    made.write_direct_chunk((0,), content)


DAMAGES: dict[str, tuple[Damage, str]] = {
    "foreign": (set_attribute("format", np.bytes_(b"somebody's")), "is not a golden store"),
    "no format": (set_attribute("format", None), "the attribute 'format' is missing"),
    "format is a number": (set_attribute("format", 3), "unexpected type"),
    "format is many": (set_attribute("format", np.array([b"a", b"b"])), "unexpected type"),
    "newer": (set_attribute("schema", NEWER), r"schema version \d+ was written by a newer pytest-msdump"),
    "never": (set_attribute("schema", 0), "schema version 0 is not known"),
    "schema is text": (set_attribute("schema", np.bytes_(b"1")), "unexpected type"),
    "compression": (lambda f: set_attribute("compression", np.bytes_(b"lzf"))(f), "unknown compression 'lzf'"),
    "level": (set_attribute("level", np.bytes_(b"most"), "runs/cpu/tensor"), "unknown level 'most'"),
    "attrs not JSON": (set_attribute("attrs", np.bytes_(b"{"), "runs/cpu/tensor"), "attrs: not JSON"),
    "attrs no object": (set_attribute("attrs", np.bytes_(b"[]"), "runs/cpu/tensor"), "attributes are a list"),
    "attrs no UTF-8": (set_attribute("attrs", np.bytes_(b"\xff"), "runs/cpu/tensor"), "is not UTF-8"),
    "runs is not a group": (replace_by("runs", dataset(data=1)), "runs"),
    "no index": (replace_by(INDEX, nothing), "index: it is missing"),
    "index of another type": (replace_by(INDEX, dataset(data=np.zeros(12))), "index: .* not of the type"),
    "index is a group": (replace_by(INDEX, lambda g, n: g.create_group(n)), "should be a dataset"),
    "no names": (replace_by(NAMES, nothing), "names: it is missing"),
    "names are numbers": (replace_by(NAMES, dataset(data=np.zeros(12))), "not a table of strings"),
    "names are objects": (replace_by(NAMES, dataset(data=["a", "b"])), "names: .* never uses its type object"),
    "too few names": (replace_by(NAMES, dataset(data=np.array([b"a"]))), "points beyond the table of names"),
    "slot missing": (replace_by(SLOT, nothing), "its tensor is missing"),
    "slot soft": (replace_by(SLOT, soft), "soft or external link"),
    "slot external": (replace_by(SLOT, external), "soft or external link"),
    "index soft": (replace_by(INDEX, soft), "soft or external link"),
    "runs external": (replace_by("runs", external), "soft or external link"),
    "text soft": (replace_by(TEXT, soft), "soft or external link"),
    "slot virtual": (replace_by(SLOT, virtual), "virtual or compact"),
    "slot's bytes elsewhere": (replace_by(SLOT, elsewhere), "in another file"),
    "slot of another dtype": (replace_by(SLOT, dataset(data=np.zeros((3, 5)))), "index says .* the stored array is"),
    "slot of another shape": (replace_by(SLOT, dataset(data=np.zeros((5, 3), "f4"))), "but the stored array is"),
    "slot of other values": (replace_by(SLOT, dataset(data=np.zeros((3, 5), "f4"))), "the golden is damaged"),
    "slot of objects": (replace_by(SLOT, dataset(data=["a"])), "never uses its type object"),
    "slot unwritten and huge": (replace_by(SLOT, unwritten), "bytes are not in the file"),
    "slot a bomb": (replace_by(SLOT, huge), r"its chunk of 4 bytes cannot hold \d+"),
    "text a bomb": (replace_by(TEXT, long), r"its chunk of \d+ bytes cannot hold 314572800"),
    "slot in small chunks": (replace_by(SLOT, dataset(data=np.zeros((3, 5), "f4"), chunks=(1, 5))), "chunked in a way"),
    "slot lzf": (replace_by(SLOT, dataset(data=np.zeros((3, 5), "f4"), compression="lzf")), "chunked in a way"),
}  # fmt: skip


#: What the look at the structure says before libhdf5 reads anything, of the same damages.
BEFORE = r"lie in a heap|soft or external link|of kind 7|in another file|is virtual|filter 32000"


def damaged(path: Path, name: str) -> None:
    with h5py.File(path, "r+", libver=("v110", "v110")) as file:
        DAMAGES[name][0](file)


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_a_store_error_that_names_the_file(path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged(path, name)
    monkeypatch.setattr("harness.store.listed.refuse_odd_structure", lambda *_: None)
    monkeypatch.setattr("harness.store.listed.listed", schema1.listing)
    with pytest.raises(StoreError, match=DAMAGES[name][1]) as caught:
        everything(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).count(str(path)) == 1


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", [each for each in DAMAGES if each not in ("text a bomb", "slot a bomb")])
def test_the_same_damage_where_libhdf5_is_apart(path: Path, name: str) -> None:
    damaged(path, name)
    with pytest.raises(StoreError, match=f"{DAMAGES[name][1]}|{BEFORE}") as caught:
        everything(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_cycle_of_groups_ends(path: Path) -> None:
    with h5py.File(path, "r+", libver=("v110", "v110")) as file:
        file["runs/cpu/tensor/rdr/again"] = file["runs/cpu/tensor/rdr"]
    with GoldenStore.open(path) as store, pytest.raises(StoreError, match="more than 64 groups deep"):
        store.run(*CPU).artefacts()
