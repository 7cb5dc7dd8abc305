"""Files that people exchange in place of dump trees: those of PyTorch, numpy, safetensors and ONNX; msprobe's dumps of
PyTorch; mapping files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from harness.capture import read_tree
from harness.capture.mapping_files import read_mappings
from tests.capture.logs.build import inspector
from tests.capture.logs.test_logs import WRITERS
from tests.capture.msprobe_build import call, dump, scalar, tensor
from tests.capture.named_tensors.test_named_tensors import as_onnx, as_safetensors
from tests.capture.torch_files.build import Writer, number
from tests.fuzz import repaired
from tests.fuzz.engine import Target
from tests.fuzz.trees import made

ARRAY = np.arange(6, dtype=np.float32).reshape(2, 3)
LOGGED = {"mm": ARRAY, "relu": ARRAY[:0]}
_MAPPING = b"""TopLayer:
  network: module
Cell:
  "a.b": c # comment
"""
_FUNCTIONS = b"- ms_api: Mint.softmax\n  pt_api: Torch.softmax\n  ms_args: [0, 1]\n  pt_args: [0, dim]\n"


def _read(path: Path) -> str:
    """Every record of a file or tree."""
    capture, count = read_tree(path), 0
    for record in capture.records():
        record.load()
        count += 1
    for text in capture.artefacts.values():
        assert isinstance(text, bytes)
    return f"{count} slots"


def _torch() -> tuple[Mapping[str, bytes], ...]:
    alone, named = Writer(), Writer()
    whole = alone.bytes(alone.tensor(ARRAY, "Float32", parameter=True))
    items = {"w": named.tensor(ARRAY, "Float32", strides=(1, 2)), "n": number(3), "l": b"](" + number("x") + b"Ne"}
    return {"x.pt": whole}, {"x.pt": named.bytes(named.mapping(items))}


def _npz(path: Path) -> None:
    path.mkdir(exist_ok=True)
    np.savez(path / "x.npz", a=ARRAY, b=np.asfortranarray(ARRAY), c=np.array(3))


def _probe(root: Path) -> None:
    kept = tensor(data_name="Functional.f.0.forward.output.0.pt")
    data = {
        "Functional.f.0.forward": call([tensor("torch.bfloat16"), scalar(1e-5), None], [kept], mode=scalar("tanh")),
        "Module.fc.Linear.forward.0": call([tensor()], [tensor(md5="00ff00ff")]) | {"parameters": {"w": tensor()}},
    }
    parents = {"Functional.f.0.forward": "Module.fc.Linear.forward.0"}
    stack = {"0": [["Functional.f.0.forward"], ["File net.py, line 3, in forward, \n x"]]}
    dump(root / "tree", data, rank="proc17", task="tensor", beside={"construct.json": parents, "stack.json": stack})
    folder = root / "tree" / "step0" / "proc17" / "dump_tensor_data"
    folder.mkdir()
    writer = Writer()
    (folder / "Functional.f.0.forward.output.0.pt").write_bytes(writer.bytes(writer.tensor(ARRAY, "Float32")))


def _raw(root: Path) -> None:
    folder = root / "tree" / "Net" / "device_0" / "iteration_1"
    folder.mkdir(parents=True)
    ARRAY.tofile(folder / "Default--fc--MatMul-op1_output_0_shape_2_3_Float32_DefaultFormat.bin")
    order = root / "tree" / "Net" / "device_0" / "execution_order"
    order.mkdir()
    (order / "ms_execution_order_graph_0.csv").write_text("Default/fc/MatMul-op1\n")


def exchanged() -> dict[str, Target]:
    """By name."""
    named = {"w": ARRAY, "n": np.array(3)}
    onnx = {
        "tree/test_data_set_0/input_0.pb": as_onnx("x", ARRAY, True, True),
        "tree/test_data_set_0/output_0.pb": as_onnx("y", ARRAY, False, False),
    }
    alone = {"x.json": json.dumps({"framework": "pytorch", "data": {"a.0.debug": tensor()}}).encode()}
    logs = {
        f"log-{kind}": Target(
            ({name: write(LOGGED).encode()},), lambda f, name=name: _read(f / name), weight=10, told="slots"
        )
        for kind, (name, write) in WRITERS.items()
    }
    gaps = {"x.csv": inspector({"mm": 0.5}).encode()}
    mappings: tuple[Mapping[str, bytes], ...] = ({"x.yaml": _MAPPING}, {"x.yaml": _FUNCTIONS})
    return {
        "torch-file": Target(_torch(), lambda f: _read(f / "x.pt"), weight=40, told="slots"),
        "npz": Target((made(_npz),), lambda f: _read(f / "x.npz"), weight=10, told="3 slots"),
        "safetensors-file": Target(
            ({"x.safetensors": as_safetensors(named)},), lambda f: _read(f / "x.safetensors"),
            {"x.safetensors": repaired.safetensors}, weight=10, told="2 slots",
        ),
        "onnx-data": Target((onnx,), lambda f: _read(f / "tree"), weight=20, told="2 slots"),
        "dump-json": Target((alone,), lambda f: _read(f / "x.json"), weight=10, told="1 slots"),
        "tree-msprobe-torch": Target(
            (made(_probe),), lambda f: _read(f / "tree"), trees=True, weight=10, told="7 slots"
        ),
        "tree-bin-files": Target((made(_raw),), lambda f: _read(f / "tree"), trees=True, weight=4, told="1 slots"),
        **logs,
        "log-executorch": Target((gaps,), lambda f: _read(f / "x.csv"), weight=4, told="1 slots"),
        "mapping": Target(mappings, lambda f: str(read_mappings([f / "x.yaml"])), weight=20),
    }  # fmt: skip
