"""The observer with constants, unused entries, full disks and paths that cannot be created."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import dtypes
from harness.dump import writer
from harness.errors import DumpWriteError
from harness.graph import constant
from tests.dump.build import Net, dumped, fields, npy_files, one_op, tensor


class TestConstants:
    def net(self) -> Net:
        net = one_op()
        for value in (1, tensor(dtypes.float16, (4, 4)), np.zeros((0,), np.float32)):
            net.graph.constants.append(constant(value))
        net.graph.constant_base = 5
        return net

    def test_tensor_constants_are_written_once(self, tmp_path: Path) -> None:
        net = self.net()
        dumped(tmp_path, net, steps=3)
        (path,) = (tmp_path / "rank_0" / "Net" / "0" / "constants").iterdir()
        assert fields(path)[:4] == ["Parameter", "data-6", "0", "0"]
        assert fields(path)[5:] == ["output", "0", "DefaultFormat", "Float16", "npy"]
        assert np.array_equal(np.load(path), net.graph.constants[1].value)

    @pytest.mark.parametrize(
        ("changes", "written"),
        [
            ({"input_output": 1}, False),
            ({"dump_mode": 1, "kernels": ["Add"]}, False),
            ({"dump_mode": 1, "kernels": ["data"]}, True),
            ({"dump_mode": 1, "kernels": ["name-regex(Default/data-6)"]}, True),
            ({"op_debug_mode": 4}, False),
            ({"iteration": "9"}, False),
        ],
    )
    def test_selection_holds_for_them(self, tmp_path: Path, changes: dict[str, Any], written: bool) -> None:
        dumped(tmp_path, self.net(), **changes)
        assert (tmp_path / "rank_0" / "Net" / "0" / "constants").exists() == written


class TestFaults:
    def test_an_entry_that_matched_nothing_is_reported_once(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        watcher = dumped(tmp_path, one_op(), steps=3, dump_mode=1, kernels=["Nothing", "Add"])
        watcher.closed()
        assert caplog.text.count("'Nothing' matched nothing") == 1
        assert "'Add'" not in caplog.text

    def test_a_full_disk_stops_the_run_and_keeps_what_was_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        net = one_op()
        dumped(tmp_path, net)
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        real = os.writev
        calls = iter([False] * 4 + [True] * 100)

        def writev(fd: int, buffers: Any) -> int:
            if next(calls):
                raise OSError(28, "No space left on device")
            return real(fd, buffers)

        monkeypatch.setattr(writer.os, "writev", writev)
        with pytest.raises(DumpWriteError, match="No space left on device"):
            dumped(tmp_path, one_op(), steps=2)
        monkeypatch.undo()
        after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        assert not [path for path in after if path.suffix == ".part"]
        assert all(after[path].startswith(data) for path, data in before.items())  # one file is appended to
        for path in npy_files(tmp_path):
            np.load(path)

    def test_a_path_that_cannot_be_made_is_no_error_of_the_run(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        (tmp_path / "file").write_text("in the way")
        dumped(tmp_path / "file" / "tree", one_op(), steps=3)
        assert caplog.text.count("nothing is dumped there") == 1
        assert [path.name for path in tmp_path.iterdir()] == ["file"]

    def test_a_net_name_that_is_too_long_leaves_the_metadata(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        dumped(tmp_path, one_op(), steps=3, net_name="n" * 256)
        assert not npy_files(tmp_path)
        assert (tmp_path / "rank_0" / ".dump_metadata" / "config.json").exists()
        assert caplog.text.count("File name too long") == 1
