"""Files of `torch.save` and safetensors files that are damaged in ways no other test has: one error each."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from harness.capture.named_tensors import safetensors
from harness.capture.torch_files import StoredTensor, items, program, tensors
from harness.capture.torch_files import archive as archives
from harness.errors import TreeError
from tests.capture.torch_files.build import Writer, archive, name, number, numbers, one


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (number(1) + number(2) + b"t", "no mark"),
        (number(1) + b"(" + number(2) + b"e", "items of no list"),
        (b"\x80\x07", "protocol 7"),
        (b"0".join([number(1)] * (program.MOST_STEPS // 2 + 2)), f"more than {program.MOST_STEPS} instructions"),
    ],
    ids=["mark", "list", "protocol", "steps"],
)
def test_programs_that_are_refused(steps: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        program.read(b"\x80\x02" + steps + b".")


def test_a_parameter_of_no_tensor(tmp_path: Path) -> None:
    made = name("torch._utils", "_rebuild_parameter") + b"(" + number(1) + b"tR"
    (tmp_path / "a.pt").write_bytes(archive("archive", b"\x80\x02" + made + b".", []))
    with pytest.raises(ValueError, match="_rebuild_parameter makes, which is not read"):
        items(str(tmp_path / "a.pt"))


def test_a_file_that_is_cut_or_gone_when_its_tensor_is_read(tmp_path: Path) -> None:
    path = one(tmp_path / "a.pt", np.arange(1000, dtype=np.float32), "Float32")
    (found,) = items(str(path))
    whole = path.read_bytes()
    path.write_bytes(whole[:300])
    with pytest.raises(TreeError, match="the file is cut"):
        found.value()
    path.unlink()
    with pytest.raises(TreeError, match="No such file"):
        found.value()


def test_a_member_that_is_cut() -> None:
    member = archives.Member(start=2, size=10, crc=0)
    with pytest.raises(ValueError, match="the file is cut"):
        archives.content(io.BytesIO(b"12345"), member, 100)


def test_names_of_files_tell_their_kind() -> None:
    assert [tensors.is_stored(each) for each in ("a.pt", "b/c.pth", "a.pt.txt", "pt")] == [True, True, False, False]


@pytest.mark.parametrize("size", [0, 9, 40])
def test_a_safetensors_file_shorter_than_its_header(size: int, tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes((struct.pack("<Q", 1000) + b"{}" * 50)[:size])
    with pytest.raises(ValueError, match="a header longer than the file"):
        list(safetensors.items(str(tmp_path / "a.safetensors")))


@pytest.mark.parametrize("function", ["_rebuild_from_type_v2", "_rebuild_parameter_with_state"])
def test_a_tensor_within_another_call_is_not_taken_for_its_result(tmp_path: Path, function: str) -> None:
    writer = Writer()
    inner = writer.tensor(np.ones((2, 3), np.float32), "Float32")
    call = name("torch._utils" if "parameter" in function else "torch._tensor", function)
    (tmp_path / "a.pt").write_bytes(writer.bytes(call + b"(" + inner + b"\x88" + numbers((1, 2)) + b"}tR"))
    with pytest.raises(ValueError, match=r"described in an unknown way|which is not read|which makes no tensor"):
        items(str(tmp_path / "a.pt"))


def test_a_parameter_of_nothing_is_refused(tmp_path: Path) -> None:
    writer = Writer()
    (tmp_path / "a.pt").write_bytes(writer.bytes(name("torch._utils", "_rebuild_parameter") + b")R"))
    with pytest.raises(ValueError, match="_rebuild_parameter makes, which is not read"):
        items(str(tmp_path / "a.pt"))


def test_what_a_dictionary_says_of_itself_is_left_out(tmp_path: Path) -> None:
    """``state_dict`` gives a dictionary with an attribute, ``_metadata``."""
    writer = Writer()
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    stated = name("collections", "OrderedDict") + b")R(" + number("w") + writer.tensor(array, "Float32") + b"u"
    told = b"}" + number("_metadata") + b"}s"
    (tmp_path / "a.pt").write_bytes(writer.bytes(stated + told + b"b"))
    (item,) = items(str(tmp_path / "a.pt"))
    assert item.name == "w"
    assert isinstance(item.value, StoredTensor)
    np.testing.assert_array_equal(item.value(), array)
    (tmp_path / "b.pt").write_bytes(writer.bytes(number("w") + told + b"b"))
    with pytest.raises(ValueError, match="sets the state of an object that is not a tensor"):
        items(str(tmp_path / "b.pt"))


def test_members_with_notes_of_other_programs_are_read(tmp_path: Path) -> None:
    path = one(tmp_path / "a.pt", np.arange(3, dtype=np.float32), "Float32")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "b.pt", "w") as new:
        for each in old.infolist():
            each.extra = struct.pack("<2H4s", 0x9901, 4, b"note")
            new.writestr(each, old.read(each.filename))
    (item,) = items(str(tmp_path / "b.pt"))
    assert isinstance(item.value, StoredTensor)
    np.testing.assert_array_equal(item.value(), np.arange(3, dtype=np.float32))
