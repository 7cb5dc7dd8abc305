"""Files of records: each with its length and two checksums, as in TensorFlow's event files.

A record: length (8 bytes, little-endian), masked CRC-32C of the length, the payload, its masked CRC-32C.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from harness.crc import masked_crc
from harness.errors import CheckpointError, SummaryWriteError


def framed(payload: bytes) -> bytes:
    """One record."""
    length = struct.pack("<Q", len(payload))
    return length + struct.pack("<I", masked_crc(length)) + payload + struct.pack("<I", masked_crc(payload))


def read(data: bytes, where: str) -> Iterator[bytes]:
    """The payloads of a file; ``CheckpointError`` for damage."""
    at = 0
    while at < len(data):
        if at + 12 > len(data):
            raise CheckpointError(f"{where}: the record at byte {at} is cut off")
        size, check = struct.unpack_from("<QI", data, at)
        if masked_crc(data[at : at + 8]) != check or at + 16 + size > len(data):
            raise CheckpointError(f"{where}: the length of the record at byte {at} is damaged")
        payload = data[at + 12 : at + 12 + size]
        if masked_crc(payload) != struct.unpack_from("<I", data, at + 12 + size)[0]:
            raise CheckpointError(f"{where}: the record at byte {at} is damaged")
        yield payload
        at += 16 + size


class RecordFile:
    """A file that grows by records during a run; its first record creates it, and it is read-only at the end.

    Args:
        folder: where it stands.
        suffix: end of its name: ``_MS`` or ``_lineage``.
        device: number of the device.
        prefix: start of its name.

    Attributes:
        path: of the file; None before it is made.
        is_empty: whether it has no record yet.
    """

    def __init__(self, folder: Path, suffix: str, device: int, prefix: str = "events") -> None:
        self._folder, self._suffix, self._device, self._prefix = folder, suffix, device, prefix
        self.is_empty = True
        self._started = int(time.time())
        self.path: Path | None = None

    def add(self, payload: bytes) -> None:
        """Adds a record; it is in the file when this returns.

        Raises:
            SummaryWriteError: it cannot be written; the file ends with the record before.
        """
        size = 0
        try:
            with open(self.reserve(), "ab") as file:
                size = os.fstat(file.fileno()).st_size
                file.write(framed(payload))
            self.is_empty = False
        except OSError as error:
            self._cut(size)
            raise SummaryWriteError(f"{self.path or self._folder}: the summary cannot be written: {error}") from error

    def reserve(self) -> Path:
        """The path; makes the file if it is not there yet."""
        if self.path is None:
            self.path = self._new_path()
        return self.path

    def _cut(self, size: int) -> None:
        """Removes the partial record that a full disk left."""
        if self.path is not None:
            with suppress(OSError):
                os.truncate(self.path, size)

    def _new_path(self) -> Path:
        """A free name: from the second of its start, or the next free one."""
        while True:
            name = (
                f"{self._prefix}.out.events.summary.{self._started}.{self._device}.{socket.gethostname()}{self._suffix}"
            )
            try:
                os.close(os.open(self._folder / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            except FileExistsError:
                self._started += 1
            else:
                return self._folder / name

    def close(self) -> None:
        """Makes the file read-only."""
        if self.path is not None:
            self.path.chmod(0o400)
