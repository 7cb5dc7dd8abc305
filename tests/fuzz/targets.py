"""Parsers of files from elsewhere, each with whole files to mutate."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from harness import dtypes
from harness.capture import npy
from harness.capture.recorder import readable
from harness.capture.statistic_rows import rows
from harness.compare.tolerance_file import read_tolerances
from harness.dump import parse as parse_dump
from harness.dump.asynchronous.dump_data import DumpFile
from harness.dump.msprobe.config import parse as parse_probe
from harness.errors import TreeError
from harness.framework.train.checkpoint import ckpt, safetensors
from harness.framework.train.checkpoint.content import Entry
from harness.framework.train.summary import records
from harness.graph import pb
from harness.graph.ir_parse import parse as parse_ir
from harness.rdr.read import execution_orders, memory_addresses
from harness.store import GoldenStore, update
from tests.dump.asynchronous.build import content, entry
from tests.dump.build import config_text
from tests.dump.msprobe.build import config_text as probe_text
from tests.store.helpers import CPU, run_data

Read = Callable[[Path], object]


class Target(NamedTuple):
    """A whole file, the end of its name, and what reads it."""

    seed: bytes
    suffix: str
    read: Read


def _npy(path: Path) -> None:
    try:
        npy.read(str(path))
    except (npy.Incomplete, ValueError) as error:  # what callers turn into a problem of the tree
        raise TreeError(str(error)) from None


def _store(path: Path) -> None:
    with GoldenStore.open(path) as store:
        for run in store.runs():
            for each in store.run(*run).records():
                each.load()
            store.run(*run).artefacts()
        store.verify()


def _dump_file(path: Path) -> None:
    with DumpFile(path) as file:
        for each in (*file.header.inputs, *file.header.outputs):
            file.host(each)


def _text(parse: Callable[[str], object]) -> Read:
    return lambda path: parse(path.read_bytes().decode("utf-8", "surrogateescape"))


_IR = b"# IR entry: @g\nsubgraph @g() {\n  %1(a) = Add(%0) {a: 1}\n      : (<Tensor[Float32], (2)>) -> (<null>)\n}\n"


def targets() -> dict[str, Target]:
    """By name."""
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    held = {"w": Entry(dtypes.float32, array), "b": Entry(dtypes.int32, np.arange(3, dtype=np.int32))}
    plain = io.BytesIO()
    np.save(plain, array)
    with TemporaryDirectory() as folder:
        update(Path(folder, "x.h5"), "net", {CPU: run_data()})
        golden = Path(folder, "x.h5").read_bytes()
    model = pb.CLASSES["ModelProto"](ir_version=1)
    model.graph.node.add(name="1", op_type="Add", source_address="In file net.py:1/")
    table = b"Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,\n"
    return {
        "npy": Target(plain.getvalue(), ".npy", _npy),
        "golden": Target(golden, ".h5", _store),
        "bin": Target(content([entry(array)], [entry(array)]), "", _dump_file),
        "pb": Target(model.SerializeToString(), ".pb", lambda path: readable("a.pb", path.read_bytes())),
        "ir": Target(_IR, ".ir", _text(parse_ir)),
        "statistic": Target(
            table + b'Add,a,0,0,1,output,0,8,float32,"(2,)",1.5,\n', ".csv", lambda p: list(rows(p.read_bytes()))
        ),
        "ckpt": Target(
            b"".join(ckpt.encode(held, crc=True)), ".ckpt", lambda p: ckpt.decode(p.read_bytes(), "f", crc=False)
        ),
        "safetensors": Target(
            b"".join(safetensors.encode(held, {})), "", lambda p: safetensors.decode(p.read_bytes(), "f")
        ),
        "summary": Target(records.framed(b"abc") * 3, "", lambda p: list(records.read(p.read_bytes(), "f"))),
        "tolerances": Target(b'[tolerance]\ndefault = "default"\nFloat32 = [1e-3, 1e-4]\n', ".toml", read_tolerances),
        "dump-config": Target(
            config_text(Path("/d"), {"enable": True}).encode(), ".json", lambda p: parse_dump(p.read_bytes())
        ),
        "msprobe-config": Target(probe_text("/d").encode(), ".json", lambda p: parse_probe(p.read_bytes())),
        "rdr-order": Target(b"a\n", ".txt", _text(execution_orders)),
        "rdr-memory": Target(
            b"a\nkernel_inputs 1\n&0x1 #2\nkernel_workspaces 0\nkernel_outputs 0\n\n", ".txt", _text(memory_addresses)
        ),
        "json": Target(json.dumps({"a": [1, {}]}).encode(), ".json", lambda p: parse_dump(p.read_bytes())),
    }
