"""HDF5 files that are damaged, or more than a golden store is: a kind each of what attacks on libhdf5 have used.

``python -m tests.store.hdf5_kinds`` gives all of them to ``msdump show``, and prints what came of it.
"""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import h5py
import numpy as np

from tests.faults.hostile import main_quietly, wrong
from tests.fuzz.repaired import lookup3

WHOLE = Path(__file__).with_name("data") / "schema1.h5"
Make = Callable[[], bytes]
_V110 = ("v110", "v110")


# --- structures of a store of schema 1, changed under checksums that fit --------------------------------------------


def headers(raw: bytes) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Each object header: where it begins, where its checksum lies, and place and length of its messages' bodies."""
    for match in re.finditer(rb"OHDR\x02", raw):
        start = match.start()
        flags = raw[start + 5]
        at = start + 6 + 16 * bool(flags & 0x20) + 4 * bool(flags & 0x10)
        width = 1 << (flags & 3)
        at, end = at + width, at + width + int.from_bytes(raw[at : at + width], "little")
        found = []
        while at + 4 <= end:
            length = int.from_bytes(raw[at + 1 : at + 3], "little")
            found.append((at, length))
            at += 4 + length
        yield start, end, found


def sealed(raw: bytearray) -> bytes:
    """The file with the checksums of its superblock and headers made right."""
    raw[44:48] = lookup3(bytes(raw[:44])).to_bytes(4, "little")
    for start, end, _ in headers(WHOLE.read_bytes()):
        raw[end : end + 4] = lookup3(bytes(raw[start:end])).to_bytes(4, "little")
    return bytes(raw)


def patched(at: int, value: bytes) -> Make:
    """The store with other bytes at a place."""

    def make() -> bytes:
        raw = bytearray(WHOLE.read_bytes())
        raw[at : at + len(value)] = value
        return sealed(raw)

    return make


_NAMES = {1: "dataspace", 2: "link info", 3: "datatype", 5: "fill value", 6: "link", 8: "layout", 10: "group info",
          11: "filters", 12: "attribute", 22: "references"}  # fmt: skip


def changed_messages() -> Iterator[tuple[str, Make]]:
    """The first message of each kind, in each way that a message can be wrong."""
    raw, met = WHOLE.read_bytes(), set[int]()
    for _, _, messages in headers(raw):
        for at, length in messages:
            kind = raw[at]
            if kind in met:
                continue
            met.add(kind)
            name, body = _NAMES[kind], at + 4
            for other in sorted({*range(24), 255} - {kind}):
                yield f"{name} becomes message {other}", patched(at, bytes([other]))
            yield f"{name} is shared", patched(at + 3, b"\x02")
            yield f"{name} must be understood", patched(at + 3, b"\x88")
            for size in (0, 1, length - 1, length + 1, 0xFFFF):
                yield f"{name} has {size} bytes", patched(at + 1, (size % 65536).to_bytes(2, "little"))
            for fill in (0, 0x7F, 0x80, 0xFF):
                yield f"{name} is all {fill:02x}", patched(body, bytes([fill]) * length)
            for place in range(min(length, 12)):
                for value in (0xFF, raw[body + place] ^ 1):
                    yield f"{name}, byte {place} is {value:02x}", patched(body + place, bytes([value]))


def changed_frames() -> Iterator[tuple[str, Make]]:
    """The superblock, and the frame of the root's header."""
    raw = WHOLE.read_bytes()
    root = int.from_bytes(raw[36:44], "little")
    for name, at, values in (
        ("superblock version", 8, (0, 1, 3, 4, 255)), ("offset size", 9, (0, 4, 16, 255)),
        ("length size", 10, (0, 4, 16, 255)), ("consistency flags", 11, (1, 2, 255)),
        ("header version", root + 4, (0, 1, 3, 255)), ("header flags", root + 5, (1, 2, 3, 4, 0x10, 0x20, 0xFF)),
    ):  # fmt: skip
        for value in values:
            yield f"{name} {value}", patched(at, bytes([value]))
    far = {"itself": root, "nothing": 2**64 - 1, "the end": len(raw), "beyond": 2**40, "the superblock": 0}
    for name, where in far.items():
        yield f"root at {name}", patched(36, where.to_bytes(8, "little"))
        yield f"end of file at {name}", patched(28, where.to_bytes(8, "little"))
        yield f"base at {name}", patched(12, where.to_bytes(8, "little"))
        yield f"extension at {name}", patched(20, where.to_bytes(8, "little"))
    for cut in (0, 8, 47, 48, 100, len(raw) // 2, len(raw) - 1):
        yield f"cut after {cut} bytes", lambda cut=cut: raw[:cut]  # type: ignore[misc]
    yield "links in a cycle", _linked(root)
    yield "all links to the end", _linked(len(raw))
    yield "links to the middle of a header", _linked(root + 7)


def _linked(target: int) -> Make:
    def make() -> bytes:
        raw = bytearray(WHOLE.read_bytes())
        for _, _, messages in headers(bytes(raw)):
            for at, length in messages:
                if raw[at] == 6:
                    raw[at + length - 4 : at + length + 4] = target.to_bytes(8, "little")
        return sealed(raw)

    return make


# --- what HDF5 has, and stores do not --------------------------------------------------------------------------------


def built(fill: Callable[[h5py.File], object], **how: object) -> Make:
    """A file that h5py fills; ``format`` and ``schema`` say that it is a store."""

    def make() -> bytes:
        file = io.BytesIO()
        with h5py.File(file, "w", **{"libver": _V110, **how}) as made:
            made.attrs["format"], made.attrs["network"] = np.bytes_(b"msdump golden store"), np.bytes_(b"n")
            made.attrs["schema"] = 1
            fill(made)
        return file.getvalue()

    return make


def _virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout((3,), "f4")
    layout[:] = h5py.VirtualSource("/etc/other.h5", "x", (3,))
    file.create_virtual_dataset("objects", layout)


def _filtered(number: int) -> Callable[[h5py.File], None]:
    def fill(file: h5py.File) -> None:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((4,))
        plist.set_filter(number, h5py.h5z.FLAG_OPTIONAL, (1, 2, 3, 4, 5))
        h5py.h5d.create(file.id, b"objects", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((4,)), dcpl=plist)

    return fill


def _chunked(limits: tuple[int | None, ...], **more: object) -> Callable[[h5py.File], object]:
    return lambda file: file.create_dataset(
        "objects", data=np.zeros((40,) * len(limits)), chunks=(1,) * len(limits), maxshape=limits, **more
    )


def _references(file: h5py.File) -> None:
    file["a"] = np.zeros(3)
    file["objects"] = np.array([file["a"].ref], h5py.ref_dtype)
    file["regions"] = np.array([file["a"].regionref[:2]], h5py.regionref_dtype)


def _nested_types(depth: int) -> Callable[[h5py.File], object]:
    dtype = np.dtype("i1")
    for _ in range(depth):
        dtype = np.dtype([("a", dtype)])
    return lambda file: file.create_dataset("objects", (1,), dtype)


def _named_type(file: h5py.File) -> None:
    file["type"] = np.dtype("f4")
    file.create_dataset("objects", (3,), file["type"])


FOREIGN: dict[str, Make] = {
    "external link": built(lambda file: file.__setitem__("runs", h5py.ExternalLink("/etc/passwd", "/"))),
    "soft link": built(lambda file: file.__setitem__("runs", h5py.SoftLink("/"))),
    "link to itself": built(lambda file: file.__setitem__("runs", file["/"])),
    "external storage": built(
        lambda file: file.create_dataset("objects", (3,), "f4", external=[("/etc/passwd", 0, 12)])
    ),
    "virtual dataset": built(_virtual),
    **{f"filter {number}": built(_filtered(number)) for number in (256, 305, 307, 32000, 32001, 32013, 32015, 65535)},
    "fletcher32": built(lambda file: file.create_dataset("objects", (4,), "i4", chunks=(4,), fletcher32=True)),
    "scaleoffset": built(lambda file: file.create_dataset("objects", (4,), "i4", chunks=(4,), scaleoffset=2)),
    "lzf": built(lambda file: file.create_dataset("objects", (4,), "i4", chunks=(4,), compression="lzf")),
    "many links (fractal heap)": built(lambda file: [file.create_group(f"runs/{at}") for at in range(40)]),
    "many attributes (fractal heap)": built(lambda file: [file.attrs.__setitem__(f"a{at}", at) for at in range(40)]),
    "huge attribute": built(lambda file: file.attrs.__setitem__("attrs", np.zeros(7000))),
    "text in a global heap": built(lambda file: file.attrs.__setitem__("level", "text")),
    "texts in a global heap": built(lambda file: file.create_dataset("objects", data=["a", "b"])),
    "sequences": built(lambda file: file.create_dataset("objects", (3,), h5py.vlen_dtype("i4"))),
    "references": built(_references),
    "named type": built(_named_type),
    "compact": built(lambda file: h5py.h5d.create(
        file.id, b"objects", h5py.h5t.STD_I8LE, h5py.h5s.create_simple((4,)), dcpl=_compact())),
    "enumeration": built(lambda file: file.create_dataset("objects", (3,), h5py.enum_dtype({"a": 1}, "u1"))),
    "opaque": built(lambda file: file.create_dataset("objects", (3,), h5py.opaque_dtype(np.dtype("M8[s]")))),
    "array type": built(lambda file: file.create_dataset("objects", (3,), np.dtype(("i1", (4, 4))))),
    "types in types": built(_nested_types(40)),
    "many axes": built(lambda file: file.create_dataset("objects", (1,) * 32, "i1")),
    "no space": built(lambda file: file.create_dataset("objects", data=h5py.Empty("f4"))),
    "fixed array": built(_chunked((40,))),
    "extensible array": built(_chunked((None,))),
    "B-tree of chunks": built(_chunked((None, None))),
    "B-tree of chunks, version 1": built(_chunked((None,)), libver="earliest"),
    "symbol table and local heap": built(lambda file: file.create_group("runs"), libver="earliest"),
    "newest layout": built(_chunked((None,)), libver="latest"),
    "pages": built(lambda file: file.create_group("runs"), fs_strategy="page", fs_persist=True, fs_page_size=4096),
    "free space": built(lambda file: file.create_group("runs"), fs_strategy="fsm", fs_persist=True),
    "creation order": built(lambda file: file.create_group("runs", track_order=True)),
    "a user block": built(lambda file: file.create_group("runs"), userblock_size=512),
    "no store": lambda: built(lambda file: file.attrs.__delitem__("format"))(),
    "other schema": built(lambda file: file.attrs.__setitem__("schema", 99)),
    "nothing else": built(lambda file: None),
}  # fmt: skip


def _compact() -> object:
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    return plist


def broken(make: Make) -> Iterator[tuple[str, Make]]:
    """The signatures of trees and heaps in a file, and what follows each, damaged."""
    raw = make()
    for sign in (b"TREE", b"SNOD", b"HEAP", b"GCOL", b"FRHP", b"FHDB", b"FHIB", b"BTHD", b"BTLF", b"BTIN", b"FAHD",
                 b"FADB", b"EAHD", b"EAIB", b"EASB", b"EADB", b"OCHK", b"FSHD", b"FSSE", b"SMTB"):  # fmt: skip
        at = raw.find(sign)
        if at < 0:
            continue
        for name, place, value in (("sign", 0, b"XXXX"), ("version", 4, b"\xff"), ("first bytes", 5, b"\xff" * 8),
                                   ("next bytes", 13, b"\xff" * 16), ("all", 4, b"\0" * 40)):  # fmt: skip
            yield (
                f"{sign.decode()}, {name}",
                lambda at=at, place=place, value=value: (  # type: ignore[misc]
                    raw[: at + place] + value + raw[at + place + len(value) :]
                ),
            )


@cache
def kinds() -> dict[str, Make]:
    """All kinds, by name."""
    found = {**dict(changed_frames()), **dict(changed_messages()), **FOREIGN}
    for name, make in FOREIGN.items():
        found |= {f"{name}: {damage}": damaged for damage, damaged in broken(make)}
    return found


def outcome(make: Make, path: Path) -> tuple[str, str]:
    """What ``msdump show --all`` says of a file, without its name and numbers; and what is wrong with that."""
    path.write_bytes(make())
    code, out, err = main_quietly(["show", "--all", str(path)])
    told = re.sub(r"\d+", "N", err.strip().replace(str(path), "FILE"))
    return told[:110] or "shown", wrong(code, out, err)


def _main(folder: Path) -> int:
    every, found, bad = kinds(), Counter[str](), 0
    for name, make in every.items():
        told, amiss = outcome(make, folder / "x.h5")
        bad += bool(amiss)
        found[f"WRONG {name}: {amiss}" if amiss else told] += 1
    for told, times in found.most_common():
        print(f"{times:5} {told}")
    print(f"{len(every)} kinds, {bad} wrong")
    return int(bad > 0)


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        sys.exit(_main(Path(made)))
