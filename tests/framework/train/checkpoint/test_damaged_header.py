"""Headers of safetensors that lie: about sizes, places, types, and what the file holds."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest

from harness.errors import CheckpointError
from harness.framework.train.checkpoint.safetensors import decode

ROW = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def whole(header: Any, body: bytes = bytes(8)) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def test_a_header_that_fits() -> None:
    content, metadata = decode(whole({"a": ROW, "__metadata__": {"x": "y"}}, np.float32([1, 2]).tobytes()), "f")
    np.testing.assert_array_equal(content["a"].array, np.float32([1, 2]))
    assert metadata == {"x": "y"}
    assert decode(whole({"__metadata__": None}, b""), "f") == ({}, {})


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (bytes(7), "7 bytes are no safetensors"), (struct.pack("<Q", 9) + b"{}", "a header of 9 bytes"),
        (struct.pack("<Q", 2**63) + bytes(99), "a header of"), (whole(b"["), "cannot be read"),
        (whole(b"\xff"), "cannot be read"), (whole(b"[" * 100_000), "cannot be read"), (whole([]), "is not an object"),
        (whole({"__metadata__": [1]}), "texts by name"), (whole({"__metadata__": {"a": 1}}), "texts by name"),
        (whole({}), "do not fill the file's 8 bytes"), (whole({"a": ROW}, bytes(9)), "do not fill the file's 9 bytes"),
        (whole({"a": ROW | {"dtype": "F33"}}), "row of the header"),
        (whole({"a": ROW | {"dtype": []}}), "row of the header"),
        (whole({"a": 3}), "row of the header"), (whole({"a": ROW | {"shape": 3}}), "row of the header"),
        (whole({"a": ROW | {"shape": ["x"]}}), "row of the header"),
        (whole({"a": ROW | {"data_offsets": [0]}}), "row of the header"),
        (whole({"a": ROW | {"shape": [float("inf")]}}), "row of the header"),
        (whole({"a": ROW | {"data_offsets": [-1, 7]}}), "does not lie in the file"),
        (whole({"a": ROW | {"data_offsets": [8, 0]}}), "does not lie in the file"),
        (whole({"a": ROW | {"data_offsets": [1, 9]}}), "does not lie in the file"),
        (whole({"a": ROW | {"shape": [-1, -2]}}), "does not lie in the file"),
        (whole({"a": ROW | {"shape": [3]}}), r"8 bytes cannot be .* of shape \(3,\)"),
        (whole({"a": ROW | {"shape": [2**40, 2**40]}}), "8 bytes cannot be"),
    ],
    ids=range(24),
)  # fmt: skip
def test_headers_that_lie(data: bytes, why: str) -> None:
    with pytest.raises(CheckpointError, match=why):
        decode(data, "f")
