"""Messages between a rank and the coordinator: a head of JSON, and blocks of bytes.

A message is its length and that of its head (8 bytes each, big-endian), the head, and the blocks one after the other;
the head's ``sizes`` says how long each is. Nothing in a message is code.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

_LENGTHS = struct.Struct(">QQ")
#: a message beyond this is refused: 64 GiB
_LARGEST = 1 << 36
#: bytes read at once
PIECE = 1 << 20

Block = bytes | bytearray | memoryview


def pack(head: dict[str, Any], blocks: Sequence[Block] = ()) -> list[Block]:
    """The parts of a message, in order."""
    text = json.dumps({**head, "sizes": [len(block) for block in blocks]}).encode()
    return [_LENGTHS.pack(len(text) + sum(map(len, blocks)), len(text)), text, *blocks]


def send(connection: socket.socket, head: dict[str, Any], blocks: Sequence[Block] = ()) -> None:
    """Sends a message; ``OSError`` if the other side is gone."""
    for part in pack(head, blocks):
        connection.sendall(part)


class Reader:
    """Puts the messages of one connection together from the pieces that arrive."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, piece: bytes) -> None:
        """Takes what arrived."""
        self._bytes += piece

    def take(self) -> tuple[dict[str, Any], list[bytes]] | None:
        """The next whole message; None if there is none yet.

        Raises:
            ValueError: the bytes are no message.
        """
        if len(self._bytes) < _LENGTHS.size:
            return None
        whole, text = _LENGTHS.unpack_from(self._bytes)
        if text > whole or whole > _LARGEST:
            raise ValueError(f"a message cannot have {whole} bytes, {text} of them its head")
        end = _LENGTHS.size + whole
        if len(self._bytes) < end:
            return None
        at = _LENGTHS.size + text
        head = json.loads(self._bytes[_LENGTHS.size : at])
        if not isinstance(head, dict) or sum(head.get("sizes", ())) != whole - text:
            raise ValueError("a message's head does not say how long its blocks are")
        blocks = []
        for size in head["sizes"]:
            blocks.append(bytes(memoryview(self._bytes)[at : at + size]))
            at += size
        del self._bytes[:end]
        return head, blocks


def receive(connection: socket.socket, reader: Reader) -> tuple[dict[str, Any], list[bytes]]:
    """Waits for a message; ``OSError`` if the other side is gone."""
    while (message := reader.take()) is None:
        piece = connection.recv(PIECE)
        if not piece:
            raise ConnectionResetError("the connection was closed")
        reader.add(piece)
    return message
