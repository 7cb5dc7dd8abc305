"""Files written without libhdf5 are read by it, whatever is in them."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import zlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.errors import StoreError
from harness.store.h5write import FileWriter

Array = np.ndarray[Any, np.dtype[Any]]


def put(file: FileWriter, array: Array) -> Any:
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return file.contiguous(array.dtype, array.shape, raw)


def put_packed(file: FileWriter, array: Array) -> Any:
    shuffled = np.ascontiguousarray(array.reshape(-1).view(np.uint8).reshape(-1, array.itemsize).T)
    return file.packed(array.dtype, array.shape, zlib.compress(shuffled.tobytes()), 6)


def example(path: Path) -> None:
    with FileWriter(path) as file:
        file.root.set_text("text", "héllo")
        file.root.set_text("empty", "")
        file.root.set_int("number", -(2**40))
        both = put(file, np.arange(6, dtype="<f4").reshape(2, 3))
        both.set_text("kind", "shared")
        file.root.group(b"a/b").link(b"one", both)
        file.root.group("c/ä ö".encode()).link(b"two", both)
        file.root.link(b"scalar", put(file, np.array(7, "<i8")))
        file.root.link(b"nothing", put(file, np.empty((0, 3), "<f8")))
        file.root.link(b"packed", put_packed(file, np.zeros((50, 40), "<u2")))
        file.root.group(b"bare")


def test_what_goes_in_comes_out(tmp_path: Path) -> None:
    example(tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5") as file:
        assert set(file) == {"a", "c", "scalar", "nothing", "packed", "bare"}
        assert {name: file.attrs[name] for name in file.attrs} == {
            "text": "héllo".encode(), "empty": b"", "number": -(2**40),
        }  # fmt: skip
        assert file["a/b/one"] == file["c/ä ö/two"]
        assert file["a/b/one"][()].tolist() == [[0, 1, 2], [3, 4, 5]]
        assert file["a/b/one"].attrs["kind"] == b"shared"
        assert h5py.h5o.get_info(file["a/b/one"].id).rc == 2
        assert h5py.h5o.get_info(file["scalar"].id).rc == 1
        assert file["scalar"][()] == 7
        assert file["nothing"].shape == (0, 3)
        assert (file["packed"][()] == 0).all()
        assert file["packed"].compression == "gzip"
        assert file["packed"].shuffle
        assert list(file["bare"]) == []


def test_bytes_never_change(tmp_path: Path) -> None:
    """The pin of the file format: whoever changes these bytes changes every golden store there is."""
    path = tmp_path / "x.h5"
    with FileWriter(path) as file:
        dataset = put(file, np.array([1.5, -2.0], "<f4"))
        dataset.set_text("t", "x")
        file.root.group(b"a").link(b"b", dataset)
        file.root.link(b"c", dataset)
        file.root.link(b"d", file.packed(np.dtype("<i2"), (4,), b"\x78\x01", 4))
    assert hashlib.sha256(path.read_bytes()).hexdigest() == (
        "e77d11772fd62af152200d12f1b2f17271bab24232349ac1b09ec574d31e7fb8"
    )


def test_the_order_of_adding_links_does_not_matter(tmp_path: Path) -> None:
    contents = []
    for number, names in enumerate(([b"a", b"b", b"c/d"], [b"c/d", b"b", b"a"])):
        with FileWriter(tmp_path / f"{number}.h5") as file:
            dataset = put(file, np.arange(3))
            for name in names:
                group, _, leaf = name.rpartition(b"/")
                (file.root.group(group) if group else file.root).link(leaf, dataset)
        contents.append((tmp_path / f"{number}.h5").read_bytes())
    assert contents[0] == contents[1]


def test_arrays_lie_aligned_and_can_be_mapped(tmp_path: Path) -> None:
    arrays = [np.arange(n + 1, dtype="<u1") for n in range(9)] + [np.arange(5.0)]
    with FileWriter(tmp_path / "x.h5") as file:
        for number, array in enumerate(arrays):
            file.root.link(b"%d" % number, put(file, array))
    raw = np.memmap(tmp_path / "x.h5", np.uint8, "r")
    with h5py.File(tmp_path / "x.h5") as file:
        for number, array in enumerate(arrays):
            at = file[str(number)].id.get_offset()
            assert at % 8 == 0
            assert raw[at : at + array.nbytes].tobytes() == array.tobytes()


names = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=300)
arrays = hnp.arrays(
    st.sampled_from(["<f2", "<f4", "<f8", "<i1", "<u4", "<i8", "?", "<c8", "<c16", "S3"]),
    hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4),
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(names.filter(lambda name: name != "."), arrays, max_size=8), st.text(max_size=100))
def test_any_names_and_arrays(tmp_path_factory: pytest.TempPathFactory, content: dict[str, Array], text: str) -> None:
    path = tmp_path_factory.mktemp("h5") / "x.h5"
    text = text.replace("\0", "")
    with FileWriter(path) as file:
        file.root.set_text("t", text)
        for name, array in content.items():
            file.root.link(name.encode(), put(file, array))
    with h5py.File(path) as file:
        assert set(file) == set(content)
        assert file.attrs["t"].decode() == text
        for name, array in content.items():
            assert file[name].dtype == array.dtype
            assert np.asarray(file[name][()], array.dtype).tobytes() == array.tobytes()


@pytest.mark.parametrize("shape", [(1,), (70_000,), (3, 300), (2,) * 20], ids=str)
@pytest.mark.parametrize("dtype", ["<f8", "S1000"])
def test_chunks_of_every_extent(tmp_path: Path, shape: tuple[int, ...], dtype: str) -> None:
    if dtype == "S1000" and np.prod(shape) > 10**5:
        shape = shape[:9]
    array = np.zeros(shape, dtype)
    with FileWriter(tmp_path / "x.h5") as file:
        file.root.link(b"x", put_packed(file, array))
    with h5py.File(tmp_path / "x.h5") as file:
        assert np.array_equal(file["x"][()], array)


@pytest.mark.parametrize("count", [1, 17, 3000])
def test_groups_of_any_size(tmp_path: Path, count: int) -> None:
    with FileWriter(tmp_path / "x.h5") as file:
        dataset = put(file, np.array(1.0))
        group = file.root.group(b"g")
        for number in range(count):
            group.link(b"%d" % number, dataset)
    with h5py.File(tmp_path / "x.h5") as file:
        assert len(file["g"]) == count
        assert file[f"g/{count - 1}"][()] == 1.0


def test_h5py_can_go_on_writing(tmp_path: Path) -> None:
    """Nobody should, but a file that another library may not extend would be a broken one."""
    example(tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5", "r+") as file:
        del file["a/b/one"]
        file["c/more"] = np.arange(5)
        file["c/ä ö/two"].attrs["later"] = "x" * 200
        for number in range(40):
            file["bare"].create_group(str(number))
        file["scalar"][...] = 8
    with h5py.File(tmp_path / "x.h5") as file:
        assert file["c/ä ö/two"][()].shape == (2, 3)
        assert file["c/more"].shape == (5,)
        assert len(file["bare"]) == 40
        assert file["scalar"][()] == 8


@pytest.mark.skipif(shutil.which("h5dump") is None, reason="the HDF5 command-line tools are not installed")
def test_h5dump_reads_it(tmp_path: Path) -> None:
    example(tmp_path / "x.h5")
    done = subprocess.run(["h5dump", str(tmp_path / "x.h5")], capture_output=True, text=True, check=True)
    assert "HARDLINK" in done.stdout
    assert "(1,0): 3, 4, 5" in done.stdout
    assert done.stderr == ""


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    with FileWriter(tmp_path / "x.h5") as file:
        dataset = put(file, np.array(1))
        file.root.link(b"a", dataset)
        with pytest.raises(ValueError, match="taken"):
            file.root.link(b"a", dataset)
        with pytest.raises(ValueError, match="is a dataset"):
            file.root.group(b"a/b")


def test_names_beyond_64_kib_are_refused(tmp_path: Path) -> None:
    def write() -> None:
        with FileWriter(tmp_path / "x.h5") as file:
            file.root.group(b"x" * 2**16)

    with pytest.raises(StoreError, match="too long"):
        write()


def test_an_error_leaves_no_complete_file(tmp_path: Path) -> None:
    def write() -> None:
        with FileWriter(tmp_path / "x.h5") as file:
            file.root.link(b"a", put(file, np.array(1)))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    with pytest.raises(OSError, match="signature"):
        h5py.File(tmp_path / "x.h5")
