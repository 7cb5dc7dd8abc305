"""HDF5 files that are no goldens, and goldens whose HDF5 half is another: structures that libhdf5 had faults in, and
what leads outside. Nothing of them may reach libhdf5.

Run as a program, with a directory of files, it gives each to the commands, in a process in which libhdf5 opens no file,
and prints what came of it as JSON.
"""

from __future__ import annotations

import io
import json
import random
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

#: What begins a structure of HDF5: superblock, object headers, heaps, trees, free space, indices of chunks.
SIGNATURES = (
    b"\x89HDF\r\n\x1a\n", b"OHDR", b"OCHK", b"FRHP", b"FHDB", b"FHIB", b"BTHD", b"BTLF", b"BTIN", b"TREE", b"SNOD",
    b"HEAP", b"GCOL", b"FSHD", b"FSSE", b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EASB", b"EADB", b"SMTB", b"SMLI",
)  # fmt: skip
#: What is done to the bytes behind a signature.
DAMAGES = ("zeros", "ones", "huge size", "cut", "another version", "drawn")
_SECRET = "outside/secret"


def rich(libver: str) -> bytes:
    """A file with each structure that a version of the format has, and everything that leads outside."""
    import h5py
    import numpy as np

    memory = io.BytesIO()
    with h5py.File(memory, "w", libver=libver, track_order=libver == "latest") as file:
        group = file.create_group("many")
        for at in range(40):
            group.create_dataset(f"a{at}", data=np.arange(at + 1))
            group.attrs[f"attribute{at}"] = "x" * 200  # kept in a fractal heap
        for name, kwargs in _DATASETS.items():
            file.create_dataset(name, **{"shape": (64,), "dtype": "f4", **kwargs})
        file["text"] = np.array(["a", "bb"], dtype=h5py.string_dtype())
        file.create_dataset("ragged", (3,), h5py.vlen_dtype("i4"))[1] = [1, 2]
        file["enum"] = np.array([0, 1], h5py.enum_dtype({"A": 0, "B": 1}, "i1"))
        file["compound"] = np.zeros(3, [("a", "i4"), ("b", "S7", (2,)), ("c", [("d", "f8")])])
        file["opaque"] = np.zeros(2, "V9")
        file["type"] = np.dtype("f8")
        file["referred"] = np.array([group.ref, file.ref], h5py.ref_dtype)
        file.create_dataset("region", (1,), h5py.regionref_dtype)[0] = file["plain"].regionref[2:5]
        file["soft"], file["loop"], file["away"] = h5py.SoftLink("/loop"), h5py.SoftLink("/loop"), h5py.SoftLink("/n")
        file["external link"] = h5py.ExternalLink(_SECRET, "/")
        layout = h5py.VirtualLayout((4,), "u1")
        layout[:] = h5py.VirtualSource(_SECRET, "secret", (4,))
        file.create_virtual_dataset("virtual", layout)
        _filtered(file)
    return memory.getvalue()


_DATASETS: dict[str, dict[str, Any]] = {
    "plain": {}, "resized": {"maxshape": (None,), "chunks": (7,)},
    "both ways": {"shape": (8, 8), "maxshape": (None, None)},
    "deflated": {"compression": "gzip"}, "lzf": {"compression": "lzf"}, "summed": {"fletcher32": True},
    "shuffled": {"shuffle": True, "compression": "gzip"},
    "scaled": {"scaleoffset": 3, "dtype": "i4"},
    "immense": {"shape": (2**40, 2**20), "chunks": (1, 1)}, "none": {"shape": None},
    "scalar": {"shape": ()}, "external": {"external": [(_SECRET, 0, 256)]},
    "filled": {"fillvalue": 9.0, "chunks": (4,)},
}  # fmt: skip


def _filtered(file: Any) -> None:
    """A dataset behind a filter that only a plugin has."""
    from h5py import h5d, h5p, h5s, h5t

    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk((4,))
    plist.set_filter(32_015, 1, (7, 7))
    h5d.create(file.id, b"plugin", h5t.NATIVE_INT32, h5s.create_simple((16,)), dcpl=plist)


def damaged(whole: bytes, signature: bytes, at: int, damage: str, rng: random.Random) -> bytes:
    """A file in which something is wrong behind a signature."""
    start, data = at + len(signature), bytearray(whole)
    size = min(rng.choice((1, 4, 8, 16)), len(data) - start)
    if damage == "cut":
        return bytes(data[: start + size])
    at = start + (1 if damage == "huge size" else 0)
    new = {"zeros": bytes(size), "ones": b"\xff" * size, "huge size": b"\xff" * 7 + b"\x7f"}.get(
        damage, rng.randbytes(size)
    )
    if damage == "another version":
        new = bytes([data[start] ^ rng.randrange(1, 256)])
    data[at : at + len(new)] = new
    return bytes(data[: len(whole)])


def kinds(golden: bytes, seed: int) -> Iterator[tuple[str, bytes, bool]]:
    """Names, files, and whether a file still has all that a golden says."""
    rng = random.Random(seed)
    bases = {"old": rich("earliest"), "new": rich("latest")}
    for label, base in bases.items():
        yield f"{label}, whole", base, False
        for shift in (512, 1024, 2048):
            yield f"{label}, from {shift} on", bytes(shift) + base, False
            yield f"{label}, behind a golden's first {shift} bytes", golden[:512].ljust(shift, b"\0") + base, False
        yield from ((f"{label}, {name}", raw, False) for name, raw in _all_damages(base, rng))
    yield "a golden and a file behind it", golden + bases["new"], False
    for name, raw in _all_damages(golden, rng):
        yield f"golden, {name}", raw, not name.endswith("cut")


def _all_damages(base: bytes, rng: random.Random) -> Iterator[tuple[str, bytes]]:
    for signature in SIGNATURES:
        places = [found.start() for found in re.finditer(re.escape(signature), base)]
        if places:
            for damage in DAMAGES:
                yield f"{signature[:4]!r}, {damage}", damaged(base, signature, rng.choice(places), damage, rng)


def _refused(*_: Any, **__: Any) -> Any:
    raise AssertionError("libhdf5 was asked to open a file")


def _main(folder: Path) -> None:
    import h5py

    from harness.cli import main

    for name in ("open", "is_hdf5", "open_file_image"):
        if hasattr(h5py.h5f, name):
            setattr(h5py.h5f, name, _refused)
    h5py.File = _refused

    found: dict[str, list[tuple[str, int, str, str]]] = {}
    (folder / "bundle").mkdir()
    for path in sorted(folder.glob("*.h5")):
        other, given, bundle = f"{folder}/other/x.h5::cpu/tensor", f"{path}::cpu/tensor", f"{folder}/bundle"
        Path(bundle, "y.h5").write_bytes(path.read_bytes())
        for words in (
            ["show", str(path), "--run", "cpu/tensor"], ["diff", given, other], ["diff", other, given],
            ["check", f"{folder}/tree", str(path), "--run", "cpu/tensor"], ["audit", given], ["inspect", given],
            ["convert", given, f"{folder}/v.npz"], ["learn", given, other, "--force", "--dry-run"],
            ["verify", bundle], ["review", bundle, "--golden", f"{folder}/other", "--list"],
        ):  # fmt: skip
            out, err = io.StringIO(), io.StringIO()
            with redirect_stdout(out), redirect_stderr(err):
                code = main(words)
            found.setdefault(path.name, []).append((words[0], code, out.getvalue(), err.getvalue()))
    print(json.dumps(found))


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
