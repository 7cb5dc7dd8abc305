"""Pieces of a golden: files beside it, each with the tensors of one part in their stored form, written by workers.

Nobody but the driver writes the golden; it takes the pieces' bytes over in the order of the serial writer, so that the
golden has the same bytes. Workers that do not see the golden's directory send values instead.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xxhash

from harness.atomic import reason, temporary_directory
from harness.errors import StoreError, StoreWriteError, TreeError
from harness.records import SlotKey
from harness.scale.wire import OutOfReach, Part, Tree
from harness.scale.work import loaded_slots, told
from harness.stats import digest
from harness.store.layout.objects import Stored, stored_dtype, to_stored
from harness.store.layout.schema import Compression

_TOKEN = "token"


class Folder(NamedTuple):
    """Where pieces go.

    Attributes:
        path: beside the golden.
        token: content of a file in it; where a worker finds another one, it sees another directory.
        compression: the golden's.
    """

    path: str
    token: str
    compression: Compression


class Placed(NamedTuple):
    """A tensor in a piece.

    Attributes:
        path: of the piece.
        at, size: its bytes in it; ``packed``: whether they are compressed.
        content: digest of these bytes.
    """

    path: str
    at: int
    size: int
    packed: bool
    content: bytes

    def stored(self, dtype: str, shape: tuple[int, ...]) -> Stored:
        """The stored form of the tensor.

        Args:
            dtype, shape: of the tensor.

        Raises:
            StoreError: the piece is not what was written.
        """
        try:
            raw = np.memmap(self.path, np.uint8, "r", self.at, (self.size,)) if self.size else np.empty(0, np.uint8)
        except (OSError, ValueError) as error:
            raise StoreError(f"{self.path}: a piece of the import cannot be read: {error}") from None
        if xxhash.xxh3_128_digest(raw.data) != self.content:
            raise StoreError(f"{self.path}: a piece of the import changed after it was written")
        return Stored(stored_dtype(dtype), shape, raw, self.packed)


@told
def piece(
    tree: Tree, part: Part, wanted: tuple[tuple[SlotKey, bytes], ...], folder: Folder
) -> list[Placed] | OutOfReach:
    """Writes some tensors of a part to a piece; nothing, if this worker does not see the folder.

    Args:
        wanted: slots and their digests.
    """
    try:
        if Path(folder.path, _TOKEN).read_text("utf-8") != folder.token:
            return []
    except OSError:
        return []
    name = os.path.join(folder.path, "-".join(map(str, part)))
    beside, digests, found, at = f"{name}.{secrets.token_hex(4)}", dict(wanted), dict[SlotKey, Placed](), 0
    try:
        with open(beside, "wb") as file:
            slots = loaded_slots(tree, part, frozenset(digests))
            if slots is None:
                return OutOfReach()
            for record, array in slots:
                if digest(array, record.dtype) != digests[record.key]:
                    raise TreeError(f"{tree.place}: rank {part.rank} changed while it was read")
                stored = to_stored(array, record.dtype, folder.compression)
                raw = np.frombuffer(stored.raw, np.uint8)
                file.write(raw.data)
                found[record.key] = Placed(name, at, raw.size, stored.packed, xxhash.xxh3_128_digest(raw.data))
                at += raw.size
        os.replace(beside, name)
    except OSError as error:
        raise StoreWriteError(f"{folder.path}: a piece of the golden could not be written ({reason(error)})") from None
    return [found[key] for key, _ in wanted]


@contextmanager
def folder_beside(golden: Path, compression: Compression) -> Iterator[Folder | None]:
    """A directory beside a golden for its pieces, removed in the end; None where there can be none."""
    try:
        context: Any = temporary_directory(f".{golden.name}.pieces-", golden.absolute().parent)
        folder = context.__enter__()
    except OSError:
        yield None
        return
    try:
        token = secrets.token_hex(16)
        Path(folder, _TOKEN).write_text(token, "utf-8")
        yield Folder(str(folder), token, compression)
    finally:
        context.__exit__(None, None, None)


def by_part(coming: Iterable[tuple[Part, SlotKey, bytes]]) -> dict[Part, tuple[tuple[SlotKey, bytes], ...]]:
    """The slots of each part, in order."""
    found: dict[Part, list[tuple[SlotKey, bytes]]] = {}
    for part, key, content in coming:
        found.setdefault(part, []).append((key, content))
    return {part: tuple(each) for part, each in found.items()}
