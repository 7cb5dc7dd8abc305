"""The texts of every kind of recorder, byte for byte, and what a second export does to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.memory.addresses import Address, Addresses
from harness.rdr.config import RdrConfig
from harness.rdr.container import Recorders
from harness.rdr.listing import artefacts
from harness.rdr.recorders import RECORDERS
from harness.rdr.recorders.execution_order import OrderEntry, order_text
from harness.rdr.recorders.graph import GraphTexts
from harness.rdr.recorders.memory import MemoryRecorder, kernel_text
from harness.rdr.recorders.stream_order import StreamEntry, stream_order_text
from harness.rdr.recorders.task_info import Task, task_text

HEAD = "================== execution order =================="
SIN = OrderEntry("@kernel_graph0:y{[0]: ValueNode<Primitive> PrimFunc_Sin, [1]: param_x}", 4294967295, 0)
COS = OrderEntry("@kernel_graph0:CNode_7{[0]: ValueNode<Primitive> PrimFunc_Cos, [1]: y}", 4294967295, 0)
TWO = f"""{HEAD}
execution_order size: 2
0:
\t@kernel_graph0:y{{[0]: ValueNode<Primitive> PrimFunc_Sin, [1]: param_x}}
\t4294967295
\t0
1:
\t@kernel_graph0:CNode_7{{[0]: ValueNode<Primitive> PrimFunc_Cos, [1]: y}}
\t4294967295
\t0
{HEAD}
"""
MATMUL = Addresses((Address(0x7F0000001000, 32), Address(0x7F0000002000, 48)), (), (Address(0x7F0000003000, 24),))
MATMUL_TEXT = """Default/fc-Dense/MatMul-op0
kernel_inputs 2
&0x7f0000001000 #32
&0x7f0000002000 #48
kernel_workspaces 0
kernel_outputs 1
&0x7f0000003000 #24

"""


@pytest.fixture
def box(tmp_path: Path) -> Recorders:
    return Recorders(RdrConfig(True, 2, f"{tmp_path}/"), clock=lambda: "20260102030405")


def written(tmp_path: Path) -> dict[str, bytes]:
    return {found.path.name: found.read() for found in artefacts(tmp_path)}


def test_execution_orders_of_0_1_and_2_kernels() -> None:
    assert order_text([]) == f"{HEAD}\nexecution_order size: 0\n{HEAD}\n"
    one = TWO.replace("size: 2", "size: 1")
    assert order_text([SIN]) == one[: one.index("1:\n\t@")] + f"{HEAD}\n"
    assert order_text([SIN, COS]) == TWO


def test_addresses_with_and_without_workspace() -> None:
    assert kernel_text("Default/fc-Dense/MatMul-op0", MATMUL) == MATMUL_TEXT
    split = Addresses((Address(16, 24), Address(None, 0)), (Address(255, 7),), ())
    assert kernel_text("a", split) == (
        "a\nkernel_inputs 2\n&0x10 #24\nkernel_workspaces 1\n&0xff #7\nkernel_outputs 0\n\n"
    )


def test_a_kernel_that_comes_again_begins_a_new_step(box: Recorders, tmp_path: Path) -> None:
    assert box.record("mem_address_list", "RUNTIME_FRAMEWORK", "mem_address_list", [])
    recorder = box.find("RUNTIME_FRAMEWORK", "mem_address_list")
    assert isinstance(recorder, MemoryRecorder)
    for name in ("a", "b", "c", "a", "b"):
        recorder.add(name, MATMUL)
    recorder.add("", MATMUL)
    box.trigger()
    (content,) = written(tmp_path).values()
    assert content.decode() == kernel_text("a", MATMUL) + kernel_text("b", MATMUL)


def test_streams_as_json() -> None:
    assert stream_order_text([]) == "[]"
    full = StreamEntry("Default/Add-op1", "@kernel_graph0:CNode_1{...}", 2, 0, 5, (1, 2), (3,))
    text = stream_order_text([StreamEntry("Default/Add-op1", "@kernel_graph0:CNode_1{...}", 2, 0), full])
    assert text.startswith(
        '[\n  {\n    "event_id": 0,\n    "index": 0,\n    "logic_id": 0,\n'
        '    "node_info": "@kernel_graph0:CNode_1{...}",\n    "node_name": "Default/Add-op1",\n'
        '    "stream_id": 2\n  },\n'
    )
    assert text.endswith("  }\n]")
    first, second = json.loads(text)
    assert "label_id" not in first
    assert "active_stream_id" not in first
    assert (second["label_id"], second["active_stream_id"], second["event_id"]) == ("1,2", "3", 5)


def test_tasks() -> None:
    task = Task("Default/Add-op1", 0, 2, inputs=(Address(16, 4), Address(32, 4)), outputs=(Address(48, 4),))
    assert task_text(task) == (
        "op_name:Default/Add-op1\ntask_index:0\ttask_num:1\ttask0_stream_id:2\ttask0_type:0\ttask0_dump_flag:0\n"
        "input address:0x10(4)\t0x20(4)\t\noutput address:0x30(4)\t\n\n"
    )
    assert task_text(Task("n", 3, None)) == "op_name:n-NonTask\ntask_index:3\ttask_num:0\n\n"
    assert "workspace address:0x0(9)\t\n" in task_text(Task("n", 3, workspaces=(Address(None, 9),)))


#: kind, content, files of the first export, and of the second
TWICE: list[tuple[str, Any, list[tuple[str, int]]]] = [
    ("text", "text", [("txt", 2)]),
    ("graph_exec_order", (SIN,), [("txt", 2)]),
    ("stream_exec_order", (), [("json", 2)]),
    ("mem_address_list", [("a", MATMUL)], [("txt", 1)]),
    ("task_info", (Task("n", 3),), [("ir", 1)]),
]


@pytest.mark.parametrize(("kind", "content", "files"), TWICE)
def test_exported_twice(kind: str, content: Any, files: list[tuple[str, int]], box: Recorders, tmp_path: Path) -> None:
    box.record(kind, "SESSION", "name.0", content)
    box.trigger()
    first = written(tmp_path)
    box.trigger()
    second = written(tmp_path)
    assert list(first) == list(second) == [f"SESSION.name.0.20260102030405.{ext}" for ext, _ in files]
    for name, (_, times) in zip(first, files, strict=True):
        assert second[name] == first[name] * times
        assert first[name]


def test_a_graph_exported_twice(box: Recorders, tmp_path: Path) -> None:
    box.record("graph", "SESSION", "graph_build.0", GraphTexts("text\n", b"\x08\x01\x22", ".ir;.pb"))
    box.trigger()
    box.trigger()
    stem = "SESSION.graph_build.0.20260102030405"
    assert written(tmp_path) == {
        f"{stem}_0000.ir": b"text\n",
        f"{stem}_0001.ir": b"text\n",
        f"{stem}.pb": b"\x08\x01\x22",
    }


def test_a_graph_of_no_known_type(box: Recorders, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    box.record("graph", "SESSION", "x", GraphTexts("text", b"", "png"))
    box.trigger()
    assert not written(tmp_path)
    assert "Unknown save graph type: png" in caplog.text


def test_the_documented_graph_file(box: Recorders, tmp_path: Path) -> None:
    box.record("documented graph", "SESSION", "hwopt_d_before_graph_2", GraphTexts("text\n"))
    box.trigger()
    box.trigger()
    assert written(tmp_path) == {"hwopt_d_before_graph_2.ir": b"text\n"}


@pytest.mark.parametrize("kind", sorted(RECORDERS))
def test_content_of_a_wrong_type_is_the_callers_error(kind: str, box: Recorders) -> None:
    with pytest.raises(TypeError, match="object"):
        box.record(kind, "SESSION", "x", object())
