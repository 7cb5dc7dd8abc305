"""Parsers of files from elsewhere, each with whole files to change: those of single files here, of trees in ``trees``,
commands in ``commands``."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from harness import dtypes
from harness.capture import npy
from harness.capture.normalise import ir_text
from harness.capture.recorder import normalised, readable
from harness.capture.statistic_rows import rows
from harness.capture.statistic_table import table
from harness.compare.tolerance_file import read_tolerances
from harness.dump import parse as parse_dump
from harness.dump.asynchronous.dump_data import DumpFile
from harness.dump.msprobe.config import parse as parse_probe
from harness.errors import TreeError
from harness.framework.train.checkpoint import ckpt, safetensors
from harness.framework.train.checkpoint.content import Entry
from harness.framework.train.summary import records
from harness.graph import ir, pb
from harness.graph.form import form_of
from harness.graph.ir_parse import parse as parse_ir
from harness.memory import parse as parse_plan
from harness.rdr.read import execution_orders, memory_addresses
from harness.rdr.recorders.execution_order import HEADING
from harness.store import GoldenStore, manifest, update
from harness.store.bundle import accept
from harness.store.journal import recover
from tests.dump.asynchronous.build import content, device_entry, entry
from tests.dump.build import config_text, one_op
from tests.dump.msprobe.build import config_text as probe_text
from tests.fuzz import repaired
from tests.fuzz.engine import Target
from tests.fuzz.exchanged import exchanged
from tests.fuzz.mutations import Mutate
from tests.fuzz.trees import graphs, trees
from tests.store.helpers import ASCEND, CPU, run_data

CORPUS = Path(__file__).parent / "corpus"
DATA = Path(__file__).parents[1]
ARRAY = np.arange(12, dtype=np.float32).reshape(3, 4)
_TABLE = b"Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,\n"
_PLAN = b"""All Parameters:
index:\tsize:\tsource:\toutput_index:
%0P\t#16S\tx\t0

All Tensors:
index:\tsize:\treal_size:\toffset:\ttype:\tlifelong:\tlife_start:\tlife_end:
%0T\t#512S\t#8S\t&0\tCommon\tLifeLongNone\t0\t1\tDefault/Add-op0

All Nodes:
$0\tDefault/Add-op0\t0\tinputs[%0P, ]\toutputs[%0T, ]\tworkspace[]\tctrl_inputs[]\tctrl_outputs[]\tstreamID[@0]

All Union Tensors Info:

All Original Contiguous Tensors Info:

All Processed Contiguous Tensors Info:

All Stream Groups:

All Merged Blocks:
start_offset:\ttensor_size:
0\t512

Total Memory Size after reused:512
"""


def one(
    suffix: str, read: Callable[[Path], object], *seeds: bytes, own: Mutate | None = None, weight: int = 60
) -> Target:  # fmt: skip
    """A target that reads one file."""
    name = f"input{suffix}"
    return Target(
        tuple({name: seed} for seed in seeds), lambda folder: read(folder / name), {name: own} if own else {},
        weight=weight,
    )  # fmt: skip


def read_golden(path: Path) -> None:
    """All of a store."""
    try:
        with GoldenStore.open(path) as store:
            for run in store.runs():
                found = store.run(*run)
                for each in found.records():
                    each.load()
                found.artefacts()
                _ = found.operators, found.gaps
            store.verify()
    except FileNotFoundError as error:  # which commands say in one line
        raise TreeError(str(error)) from None


def _npy(path: Path) -> None:
    try:
        header, array = npy.read(str(path))
        assert array is not None
        assert array.nbytes + header.offset <= path.stat().st_size
    except (npy.Incomplete, ValueError) as error:  # what callers turn into a problem of the tree
        raise TreeError(str(error)) from None


def _dump_file(path: Path) -> None:
    with DumpFile(path) as file:
        for each in (*file.header.inputs, *file.header.outputs):
            file.host(each)


def _text(parse: Callable[[str], object]) -> Callable[[Path], object]:
    return lambda path: parse(path.read_bytes().decode("utf-8", "surrogateescape"))


def _ir(text: str) -> None:
    ir_text(text, "/")
    parse_ir(text)


def _pb(path: Path) -> None:
    raw = path.read_bytes()
    readable("a.pb", raw)
    normalised("pb", raw, "/")


def _statistic(path: Path) -> None:
    data = path.read_bytes()
    found = list(rows(data))
    columns = table(data)
    assert columns is None or len(found) == len(columns.texts), "rows are lost"


def _saved(array: Any, **more: Any) -> bytes:
    plain = io.BytesIO()
    np.lib.format.write_array(plain, array, **more)
    return plain.getvalue()


def golden_bytes(level: str = "tensors", seed: int = 0) -> bytes:
    """A small store."""
    with TemporaryDirectory() as folder:
        update(Path(folder, "x.h5"), "net", {CPU: run_data(seed), ASCEND: run_data(1, level=level)})
        return Path(folder, "x.h5").read_bytes()


def _manifest_files() -> Mapping[str, bytes]:
    with TemporaryDirectory() as folder:
        update(Path(folder, "x.h5"), "net", {CPU: run_data()})
        manifest.rebuild(Path(folder), {manifest.RunKey("x.h5", CPU): {"commit": "abc", "seed": 1}})
        files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
        whole = json.loads(files["x.manifest.json"])
        stores = {"y.h5": {name: whole[name] for name in ("network", "runs")}}
        return files | {manifest.NAME: json.dumps({"format": manifest.FORMAT, "version": 1, "stores": stores}).encode()}


def _manifests(folder: Path) -> None:
    manifest.provenance_of(folder)
    manifest.stale(folder)


def _model() -> bytes:
    model = pb.CLASSES["ModelProto"](ir_version=1)
    node = model.graph.node.add(name="1", op_type="Add", scope="Default", full_name="Default/Add-op0")
    node.source_address = "      # In file net.py:1/        return x + y/\n"
    node.input.add(name="x", type=0)
    attribute = node.attribute.add(name="a")
    attribute.value.str_val = "text"
    for size in (2, 3):
        node.output_type.tensor_type.shape.dim.add(size=size)
    data: bytes = model.SerializeToString()
    return data


def _bundle(folder: Path) -> None:
    accept(folder / "b.zip", folder / "golden")


def _bundled() -> Mapping[str, bytes]:
    with TemporaryDirectory() as folder:
        made = Path(folder)
        update(made / "x.h5", "net", {CPU: run_data(3)})
        manifest.rebuild(made)
        data = io.BytesIO()
        import zipfile

        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(made.iterdir()):
                archive.write(path, path.name)
        return {"b.zip": data.getvalue(), "golden/x.h5": golden_bytes()}


def _journal() -> Mapping[str, bytes]:
    made = _manifest_files()
    journal = {"format": "msdump journal 2", "files": ["x.h5", "x.manifest.json"], "remove": ["y.h5"], "fresh": []}
    return {
        "golden/.msdump-staged/journal.json": json.dumps(journal).encode(),
        "golden/.msdump-staged/x.h5": made["x.h5"],
        "golden/.msdump-staged/x.manifest.json": made["x.manifest.json"],
        "golden/y.h5": made["x.h5"],
    }


def _undoing() -> Mapping[str, bytes]:
    made = _manifest_files()
    journal = {"format": "msdump journal 2", "files": ["x.h5", "z.h5"], "remove": ["y.h5"], "fresh": ["z.h5"]}
    return {
        "golden/.msdump-staged/undo.json": json.dumps(journal).encode(),
        "golden/.msdump-staged/.kept/x.h5": made["x.h5"],
        "golden/.msdump-staged/.kept/y.h5": made["x.h5"],
        "golden/z.h5": made["x.h5"],
    }


def _stores() -> dict[str, Target]:
    held = (golden_bytes(), golden_bytes("digest"))
    packed, earlier = ((DATA / "store" / "data" / name).read_bytes() for name in ("h5py-3.11.h5", "schema2.h5"))
    return {
        "golden": one(".h5", read_golden, *held, packed, earlier, own=repaired.golden, weight=20),
        "manifest": Target((_manifest_files(),), _manifests, fixed=("x.h5",), weight=30),
        "bundle": Target((_bundled(),), _bundle, {"b.zip": repaired.archive}, weight=1, fixed=("golden/x.h5",)),
        "journal": Target((_journal(), _undoing()), lambda folder: recover(folder / "golden"), trees=True, weight=4),
    }


def _framework() -> dict[str, Target]:
    held = {"w": Entry(dtypes.float32, ARRAY), "b": Entry(dtypes.int32, np.arange(3, dtype=np.int32)),
            "s": Entry(None, np.array("text")), "n": Entry(dtypes.bool_, np.zeros((), np.bool_))}  # fmt: skip
    plain = {name: each for name, each in held.items() if each.dtype is not None}
    return {
        "ckpt": one(".ckpt", lambda p: ckpt.decode(p.read_bytes(), "f", crc=False),
                    b"".join(ckpt.encode(held, crc=True)), b"".join(ckpt.encode(plain, slice_size=16))),
        "safetensors": one("", lambda p: safetensors.decode(p.read_bytes(), "f"),
                           b"".join(safetensors.encode(plain, {"a": "b"})), own=repaired.safetensors),
        "summary": one("", lambda p: list(records.read(p.read_bytes(), "f")),
                       b"".join(map(records.framed, (b"abc", b"", b"x" * 40))), own=repaired.summary),
    }  # fmt: skip


def _settings() -> dict[str, Target]:
    dump = config_text(Path("/d"), {"enable": True}, kernels=["Default/Add-op0", "name-regex(.*)"], iteration="0|2-5")
    tolerances = (
        b'[tolerance]\ndefault = "default"\nFloat32 = [1e-3, 1e-4]\n',
        b'[tolerance]\n"Default/*/MatMul-op*" = { rtol = 1e-3, atol = 0.1 }\nMatMul = "exact"\n',
    )
    return {
        "tolerances": one(".toml", read_tolerances, *tolerances),
        "dump-config": one(".json", lambda p: parse_dump(p.read_bytes()), dump.encode()),
        "msprobe-config": one(
            ".json", lambda p: parse_probe(p.read_bytes()), probe_text("/d").encode(),
            probe_text("/d", "statistics", {"summary_mode": "md5", "list": ["a"]}, step=[0, "2-4"], rank=[0]).encode(),
        ),
    }  # fmt: skip


def _dumped() -> dict[str, Target]:
    graph = form_of(one_op().graph)
    half = np.arange(6, dtype=np.float16).reshape(1, 2, 3, 1)
    return {
        "npy": one(".npy", _npy, _saved(ARRAY), _saved(np.asfortranarray(ARRAY)), _saved(np.zeros((), np.bool_)),
                   _saved(ARRAY, version=(2, 0)), own=repaired.npy),
        "bin": one("", _dump_file, content([entry(ARRAY)], [entry(ARRAY)]), content([device_entry(half, "NC1HWC0")])),
        "pb": one(".pb", _pb, _model(), pb.write(graph), *graphs(".pb")),
        "ir": one(".ir", _text(_ir), ir.write(graph).encode(), *graphs(".ir")),
        "statistic": one(".csv", _statistic, _TABLE + b'Add,a,0,0,1,output,0,8,float32,"(2,)",1.5,\n' * 3),
        "memory-plan": one(".ir", _text(parse_plan), _PLAN),
        "rdr-order": one(".txt", _text(execution_orders),
                         f"{HEADING}\nexecution_order size: 1\n0:\n\tAdd\n\t0\n\t1\n{HEADING}\n".encode()),
        "rdr-memory": one(".txt", _text(memory_addresses),
                          b"a\nkernel_inputs 1\n&0x1 #2\nkernel_workspaces 0\nkernel_outputs 0\n\n"),
    }  # fmt: skip


def targets() -> dict[str, Target]:
    """By name: readers of single files, of trees, and commands."""
    from tests.fuzz.commands import commands  # which are over goldens and trees of these modules

    found = {**_stores(), **_framework(), **_settings(), **_dumped(), **trees(), **exchanged(), **commands()}
    return {name: replace(each, seeds=(*each.seeds, *corpus(name))) for name, each in found.items()}


def corpus(name: str) -> list[Mapping[str, bytes]]:
    """What was found in a target once, each a directory of files."""
    return [
        {path.relative_to(kept).as_posix(): path.read_bytes() for path in sorted(kept.rglob("*")) if path.is_file()}
        for kept in sorted((CORPUS / name).glob("*"))
    ]
