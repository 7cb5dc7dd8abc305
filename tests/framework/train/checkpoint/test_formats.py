"""Both file formats: what is written is read, and damage is one clear error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import dtypes
from harness.errors import CheckpointError, DtypeError
from harness.framework.train.checkpoint import ckpt, safetensors
from harness.framework.train.checkpoint.content import Content, Entry

shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


@st.composite
def entries(draw: st.DrawFn, texts: bool = True) -> Entry:
    if texts and draw(st.booleans()):
        # A text of numpy ends before its last null character.
        return Entry.of(draw(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))))
    kind = draw(st.sampled_from([each for each in dtypes.ALL if each is not dtypes.complex128]))
    shape = draw(shapes)
    raw = draw(st.binary(min_size=(size := int(np.prod(shape, dtype=int)) * kind.itemsize), max_size=size))
    values = np.frombuffer(raw, np.uint8) & 1 if kind is dtypes.bool_ else np.frombuffer(raw, kind.numpy)
    return Entry(kind, values.astype(kind.numpy).reshape(shape))


def contents(texts: bool = True) -> st.SearchStrategy[Content]:
    return st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), entries(texts), max_size=4)


def same(one: Content, other: Content) -> None:
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].dtype is other[name].dtype
        assert one[name].array.shape == other[name].array.shape
        if one[name].dtype is None:
            assert str(one[name].array) == str(other[name].array)
        else:
            assert one[name].array.tobytes() == other[name].array.tobytes()


@given(contents(), st.booleans(), st.integers(1, 40))
def test_ckpt_gives_back_what_was_written(content: Content, crc: bool, slice_size: int) -> None:
    data = b"".join(ckpt.encode(content, crc=crc, slice_size=slice_size))
    found = ckpt.decode(data, "x.ckpt", crc=True)
    same(content, found)
    assert list(found) == list(content)


@given(contents(texts=False))
def test_safetensors_gives_back_what_was_written(content: Content) -> None:
    content.pop("__metadata__", None)
    data = b"".join(safetensors.encode(content, {"format": "ms"}))
    found, metadata = safetensors.decode(data, "x.safetensors")
    same(content, found)
    assert metadata == {"format": "ms"}
    assert int.from_bytes(data[:8], "little") % 8 == 0


SMALL: Content = {
    "weight": Entry.of(np.arange(6, dtype=np.float32).reshape(2, 3)),
    "step": Entry.of(3),
    "on": Entry.of(True),
}


def read_or_refuse(read: Callable[..., object], data: bytes) -> None:
    """Any other exception, and a message that does not name the file, is a failure."""
    refused: CheckpointError | None = None
    try:
        read(data, "x")
    except CheckpointError as error:
        refused = error
    assert refused is None or str(refused).startswith("x: ")


@given(st.data())
def test_any_damage_is_an_error_or_other_content(data: st.DataObject) -> None:
    whole = bytearray(b"".join(ckpt.encode(SMALL)))
    other = bytearray(b"".join(safetensors.encode(SMALL, {})))
    for given_, read in ((whole, ckpt.decode), (other, safetensors.decode)):
        for _ in range(data.draw(st.integers(1, 3))):
            given_[data.draw(st.integers(0, len(given_) - 1))] = data.draw(st.integers(0, 255))
        cut = bytes(given_[: data.draw(st.integers(0, len(given_)))])
        read_or_refuse(read, cut)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (ckpt.decode, safetensors.decode):
        read_or_refuse(read, data)


def test_a_check_sum_finds_a_changed_bit() -> None:
    data = bytearray(b"".join(ckpt.encode(SMALL, crc=True)))
    assert data[-17:-10] == b"crc_num"
    data[25] ^= 1
    with pytest.raises(CheckpointError, match="check sum"):
        ckpt.decode(bytes(data), "x", crc=True)


def test_the_bytes_are_mindspore_s() -> None:
    """Recorded from MindSpore 2.10.0."""
    content = {"p": Entry.of(np.array([1, 2], np.int16))}
    assert b"".join(ckpt.encode(content)) == b"\n\x14\n\x01p\x12\x0f\x08\x02\x12\x05Int16\x1a\x04\x01\x00\x02\x00"
    several = {"e": Entry.of(1), "l": Entry.of(0.5), "b": Entry.of(True)}
    header = (
        b'{"__metadata__":{"format":"ms"},"e":{"dtype":"I64","shape":[],"data_offsets":[0,8]},'
        b'"l":{"dtype":"F32","shape":[],"data_offsets":[8,12]},"b":{"dtype":"BOOL","shape":[],"data_offsets":[12,13]}}'
    )
    data = b"".join(safetensors.encode(several, {"format": "ms"}))
    assert data[8 : 8 + len(header)] == header


@pytest.mark.parametrize("value", ["text", np.zeros(1, np.complex128)])
def test_what_safetensors_cannot_hold(value: object) -> None:
    with pytest.raises(DtypeError, match="safetensors"):
        list(safetensors.encode({"x": Entry.of(value)}, {}))
