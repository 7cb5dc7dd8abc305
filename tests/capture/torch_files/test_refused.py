"""Files of `torch.save` and safetensors files that are damaged in ways no other test has: one error each."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest

from harness.capture.named_tensors import safetensors
from harness.capture.torch_files import archive as archives
from harness.capture.torch_files import items, program, tensors
from harness.errors import TreeError
from tests.capture.torch_files.build import archive, name, number, one


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
