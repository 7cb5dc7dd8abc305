"""Changes below the checksums: a file is changed and its checksums are repaired, as an attacker could do."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
from dataclasses import replace
from tempfile import TemporaryFile

import numpy as np

from harness.framework.train.summary import records
from harness.store.layout.contents import USER_BLOCK, Contents, Part, part_digest, read_contents, user_block
from harness.store.layout.contents import _plain as plain_contents
from harness.store.layout.objects import packed_table
from tests.fuzz.mutations import changed_bytes, changed_json

_MASK = 0xFFFFFFFF


def _contents(whole: bytes) -> Contents:
    with TemporaryFile() as file:
        file.write(whole)
        file.flush()
        return read_contents(whole[:USER_BLOCK], file.fileno(), len(whole))


def contents_of(whole: bytes) -> bytes:
    """The text of a store's contents; ``StoreError`` of a damaged one."""
    return _text(_contents(whole))


def with_contents(whole: bytes, text: bytes) -> bytes:
    """The store with other contents, under digests that fit."""
    return _whole(bytearray(whole), text)


def golden(whole: bytes, rng: random.Random) -> bytes:
    """A store whose table, text or contents are others, under digests that fit."""
    contents = _contents(whole)
    data, parts = bytearray(whole), list(contents.parts)
    if rng.randrange(3):
        for _ in range(rng.choice((1, 1, 3))):
            at = rng.randrange(len(parts))
            part = parts[at]
            raw = changed_bytes(bytes(data[part.offset : part.offset + part.size]), rng)
            # What is packed stays so by its sizes, damaged; what is not has the digest of its new bytes.
            packed = part.size != part.nbytes
            size = part.nbytes if packed else len(raw) - len(raw) % part.itemsize
            digest = part.digest if packed else part_digest(raw[:size])
            parts[at] = Part(len(data), len(raw) if packed else size, size, part.itemsize, digest)
            data += raw if packed else raw[:size]
    text = _text(replace(contents, parts=parts))
    if not rng.randrange(2):
        text = changed_json(text, rng)
    return _whole(data, text)


def _text(contents: Contents) -> bytes:
    return json.dumps(plain_contents(contents), sort_keys=True).encode()


def _whole(data: bytearray, text: bytes) -> bytes:
    stored = packed_table(np.frombuffer(text, f"S{max(len(text), 1)}"))
    at, raw = len(data), bytes(stored.raw)
    return user_block(at + len(raw), at, stored) + bytes(data[USER_BLOCK:]) + raw


def archive(whole: bytes, rng: random.Random) -> bytes:
    """A zip archive whose members, their names or their kinds are others, under check sums that fit."""
    with zipfile.ZipFile(io.BytesIO(whole)) as given:
        members = [(info.filename, given.read(info)) for info in given.infolist()]
    at, kind = rng.randrange(len(members)), rng.randrange(6)
    name, content = members[at]
    how = zipfile.ZIP_STORED if rng.randrange(3) else zipfile.ZIP_DEFLATED
    if kind <= 1:
        members[at] = name, changed_json(content, rng) if name.endswith(".json") else golden(content, rng)
    elif kind == 2:
        members[at] = rng.choice(("../", "/", "a/../../", "C:\\", "..\\", "\x1b/", "\u202e/")) + name, content
    elif kind == 3:
        members.append((rng.choice((name, name.swapcase(), f"x/{name}", "x" * 300 + ".h5", ".h5")), content))
    elif kind == 4:
        members[at] = name, b"\0" * (1 << rng.choice((10, 20, 23)))
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", how) as made:
        for each, held in members:
            info = zipfile.ZipInfo(each)
            info.compress_type = how
            if kind == 5 and each == name:
                info.external_attr = rng.choice((0o120777, 0o010644, 0o140644, 0o060644, 0o040755)) << 16
                held = b"../../outside/secret"
            made.writestr(info, held)
    return data.getvalue()


def summary(whole: bytes, rng: random.Random) -> bytes:
    """A file of records: one payload changed, its length and check sums made again."""
    payloads = list(records.read(whole, "seed"))
    at = rng.randrange(len(payloads))
    payloads[at] = changed_bytes(payloads[at], rng)
    return b"".join(map(records.framed, payloads))


def safetensors(whole: bytes, rng: random.Random) -> bytes:
    """Another header under a length that fits."""
    return with_header(whole, changed_json(header_of(whole), rng))


def payload_of(whole: bytes) -> bytes:
    """The first record of a summary."""
    return next(iter(records.read(whole, "seed")))


def with_payload(whole: bytes, payload: bytes) -> bytes:
    """A summary whose first record is another."""
    _, *rest = records.read(whole, "seed")
    return b"".join(map(records.framed, (payload, *rest)))


def header_of(whole: bytes) -> bytes:
    """The header of a file of safetensors."""
    return whole[8 : 8 + int.from_bytes(whole[:8], "little")]


def with_header(whole: bytes, header: bytes) -> bytes:
    """The file with another header, under a length that fits."""
    return len(header).to_bytes(8, "little") + header + whole[8 + len(header_of(whole)) :]


def npy(whole: bytes, rng: random.Random) -> bytes:
    """Another shape, dtype or order in a header of the same length."""
    text = whole[10:].partition(b"\n")[0]
    sizes = b", ".join(str(rng.choice((0, 1, -1, 3, 4, 2**31, 2**63, 2**64, 10**30))).encode() for _ in range(
        rng.choice((0, 1, 2, 3, 70))))  # fmt: skip
    changed = rng.choice((
        re.sub(rb"\([^)]*\)", lambda _: b"(" + sizes + b")", text),
        re.sub(rb"'[<|][a-zA-Z]\d'", lambda _: b"'%s'" % rng.choice((b"|O", b"<f2", b"<V2", b"<U9", b">f4", b"<c16")),
               text),
        text.replace(b"False", rng.choice((b"True", b"None", b"0"))),
    ))  # fmt: skip
    changed = changed.rstrip().ljust(len(text)) + b"\n"
    return whole[:8] + len(changed).to_bytes(2, "little") + changed + whole[10 + len(text) + 1 :]
