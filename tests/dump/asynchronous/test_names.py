"""Names and directories of every generation."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dump.asynchronous import names
from harness.dump.asynchronous.layout import GraphRun, acl_dump, acl_dump_name, layout_of
from harness.dump.asynchronous.names import RawName, base_name, op_name, parse, style_of, write_named
from harness.dump.rules import GENERATIONS
from harness.dump.writer import MAPPING, Directory, Tree
from tests.dump.asynchronous.build import LATEST, config

FULL = "Default/network-WithLossCell/conv1-Conv2d/Conv2D-op12"
NOW = datetime(2026, 11, 20, 9, 8, 7)
PLACE = GraphRun(label=5, graph=2, run=1)


@pytest.mark.parametrize(
    ("generation", "name"),
    [
        ("1.0-1.2", "Default--network-WithLossCell--conv1-Conv2d--Conv2D-op12"),
        ("1.3-1.4", "Default--network-WithLossCell--conv1-Conv2d--Conv2D-op12"),
        ("1.5-1.7", "Conv2D-op12"),
        ("2.0-2.2", "Conv2D-op12"),
        ("2.4-2.6", "Default_network-WithLossCell_conv1-Conv2d_Conv2D-op12"),
        ("2.7-2.10", "Default_network-WithLossCell_conv1-Conv2d_Conv2D-op12"),
    ],
)
def test_names_of_operators(generation: str, name: str) -> None:
    assert op_name(FULL, style_of(generation)) == name


def test_every_generation_has_a_style() -> None:
    assert {style_of(generation) for generation in GENERATIONS} == {"joined", "short", "whole"}


@given(
    st.text(min_size=1, max_size=30),
    st.text(min_size=1, max_size=30),
    st.integers(0, 65535),
    st.integers(0, 65535),
    st.integers(0, 10**16),
)
def test_raw_names_are_read_back(op_type: str, name: str, task: int, stream: int, stamp: int) -> None:
    for style in ("joined", "short", "whole"):
        shown = op_name(name, style) or "_"
        made = base_name(op_type, shown, task, stream, stamp)
        found = parse(made)
        assert found is not None
        assert found[1:] == (shown, task, stream, stamp)
        assert not set(made) & set("/\\ \0\n")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Conv2D.Conv2D-op12.2.7.161243956333802", RawName("Conv2D", "Conv2D-op12", 2, 7, 161243956333802)),
        ("Add.Default--Add-op1.3.1623124369613540", RawName("Add", "Default--Add-op1", 3, 65535, 1623124369613540)),
        ("Add.A_lxslice0.2.9.1670205071724946.4.487.0.0", RawName("Add", "A_lxslice0", 2, 9, 1670205071724946)),
        ("Opdebug.Node_OpDebug.0.3.1673383728094391", RawName("Opdebug", "Node_OpDebug", 0, 3, 1673383728094391)),
        ("mapping.csv", None),
        ("statistic.csv", None),
        ("acl_dump_0.json", None),
        ("123456", None),
        ("Add.Add-op0.0.0.16.input.0.DefaultFormat.float32.npy", None),
        (".12-ab.part", None),
        ("Add.Add-op0.0.0." + "9" * 30, None),
        ("Add..0.0.1", None),
        ("Add.Add-op0.1", None),
        ("Add.Add-op0.١.٢.٣", None),
    ],
)  # fmt: skip
def test_names_taken_apart(name: str, found: RawName | None) -> None:
    assert parse(name) == found


def directory_at(path: Path) -> Directory:
    directory = Tree(str(path)).open()
    assert directory is not None
    return directory


def test_names_too_long_or_unclear_are_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter([6, 6, 6, 7, 8])
    monkeypatch.setattr(names.secrets, "randbelow", lambda limit: next(numbers))
    directory, longest = directory_at(tmp_path), "n" * names.MAX_NAME_BYTES
    write_named(directory, longest, [b"0"])
    write_named(directory, longest + "n", [b"1"])
    write_named(directory, "Add.a/b.1.2.3", [b"2"])
    write_named(directory, longest, [b"3"], ".npy")
    assert (tmp_path / MAPPING).read_text() == f"7,{longest}n\n8,Add.a/b.1.2.3\n9.npy,{longest}.npy\n"
    assert [(tmp_path / n).read_text() for n in (longest, "7", "8", "9.npy")] == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    ("generation", "backend", "tensors", "records", "root"),
    [
        ("1.0-1.2", "ascend", ("device_3", "Net", "2", "5"), ("device_3", "debug_files", "5"), ("device_3",)),
        ("2.0-2.2", "ascend", ("rank_3", "Net", "2", "5"), ("rank_3", "debug_files", "5"), ("rank_3",)),
        (LATEST, "ascend-o2", *[("5", "20261120090807", "3", "Net", "2", "1")] * 2, ()),
    ],
)
def test_directories(
    generation: str, backend: str, tensors: tuple[str, ...], records: tuple[str, ...], root: tuple[str, ...],
    tmp_path: Path,
) -> None:  # fmt: skip
    found = layout_of(config(tmp_path, generation, backend), 3, NOW)
    assert (found.tensors(PLACE), found.records(PLACE), found.root) == (tensors, records, root)
    assert found.has_graphs == bool(root)


def test_what_is_handed_to_the_runtime(tmp_path: Path) -> None:
    assert acl_dump_name(3) == "acl_dump_3.json"
    settings = config(tmp_path)
    assert acl_dump(settings, None) == (
        '{"dump":{"dump_list":[],"dump_mode":"all","dump_op_switch":"on","dump_path":"' + str(tmp_path) + '",'
        '"dump_step":"2147483647"},"emulated":true}'
    )
    settings = config(tmp_path, input_output=2, dump_mode=1, kernels=["Default/Add-op0", "MatMul"], op_debug_mode=0)
    assert json.loads(acl_dump(settings, 7)) == {
        "dump": {
            "dump_list": [{"layer": ["Default/Add-op0", "MatMul"]}],
            "dump_mode": "output",
            "dump_op_switch": "on",
            "dump_path": f"{tmp_path}/7",
        },
        "emulated": True,
    }
    assert json.loads(acl_dump(config(tmp_path, op_debug_mode=4), 0))["dump"]["dump_scene"] == "lite_exception"
