"""Records and stores for tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from harness import dtypes
from harness.recording.described import Described, Edge
from harness.records import Gap, Record, SlotKey
from harness.store import GoldenStore, RunData, RunId
from harness.store.layout.contents import (
    USER_BLOCK,
    Contents,
    Part,
    encoded,
    part_digest,
    read_contents,
    read_part,
    user_block,
)
from harness.store.layout.schema import INDEX_DTYPE, TABLES
from harness.store.layout.tables import Declared

Array = np.ndarray[Any, np.dtype[Any]]

CPU = RunId("cpu", "tensor")
ASCEND = RunId("ascend-o0", "statistic")


def record(
    array: Any, operator: str = "Default/fc-Dense/MatMul-op0", io: str = "output", slot: int = 0, **more: Any
) -> Record:
    """A record of ``array``, whose dtype says which MindSpore dtype it is."""
    array = np.asarray(array)
    where = {"rank": 0, "graph": 0, "iteration": 0, "execution": 0} | {
        name: more.pop(name) for name in ("rank", "graph", "iteration", "execution") if name in more
    }
    key = SlotKey(operator=operator, io=io, slot=slot, **where)
    op_type = more.pop("op_type", operator.rpartition("/")[2].rpartition("-")[0] or operator)
    return Record(key, op_type, dtypes.from_numpy(array.dtype).name, array.shape, values=array, **more)


def network(seed: int = 0, operators: int = 4) -> list[Record]:
    """A chain of operators: each one's output is the next one's input, so that half of all arrays repeat."""
    rng = np.random.default_rng(seed)
    value = rng.standard_normal((3, 5)).astype(np.float32)
    records = []
    for number in range(operators):
        name = f"Default/layer{number}-Dense/MatMul-op{number}"
        weight = rng.standard_normal((5, 5)).astype(np.float32)
        records.append(record(value, name, "input", 0, source=f"net.py:{number + 10}"))
        records.append(record(weight, name, "input", 1, source=f"net.py:{number + 10}"))
        value = value @ weight
        records.append(record(value, name, "output", 0, source=f"net.py:{number + 10}"))
    return records


ARTEFACTS = {
    "graphs/kernel_graph0.ir": b"# IR entry: @kernel_graph0\n" * 40,
    "execution_order/ms_execution_order_graph_0.csv": b"op\n",
    "rdr/empty.txt": b"",
}


def declared(operators: int = 4) -> Declared:
    """What ``network`` would say of its operators; one slot could not be read."""
    found: list[Described] = []
    for number in range(operators):
        before = Edge("result", found[-1].name) if found else Edge("argument", "x")
        inputs = (before, Edge("parameter", f"layer{number}.weight"), Edge("constant", value=False))
        scope = f"Default/layer{number}-Dense"
        attributes = {"axes": (0, -1), "scale": 0.5 + number, "to": dtypes.float16, "table": np.float32([[1, 2]])}
        one = Described(f"{scope}/MatMul-op{number}", "MatMul", scope, attributes=attributes, inputs=inputs)
        slots = {"names": ("x", "w", "transpose"), "outputs": (("Float32", (3, 5)), None), "mutates": (1,)}
        found.append(replace(one, **slots, aliases={0: 1}, phase="forward", source=f"net.py:{number + 10}"))
    gap = Gap(SlotKey(0, 0, 0, found[0].name, 0, "output", 1), "MatMul", "it lies elsewhere")
    return Declared(tuple(found), {(0, 0): (Edge("result", found[-1].name),)}, (gap,))


def run_data(seed: int = 0, **more: Any) -> RunData:
    """A small run."""
    given = {"artefacts": ARTEFACTS, "attrs": {"emulated": True}, "declared": declared()}
    return RunData(network(seed), **(given | more))


def contents(path: Path) -> dict[RunId, list[tuple[Any, ...]]]:
    """Everything a store says, as plain values."""
    with GoldenStore.open(path) as store:
        return {run: list(plain(store.run(*run).records())) for run in store.runs()}


def plain(records: Any) -> Iterator[tuple[Any, ...]]:
    """Records as plain values."""
    for r in records:
        array = r.load()
        raw = None if array is None else (str(array.dtype), array.shape, array.tobytes())
        yield (r.key, r.op_type, r.dtype, tuple(r.shape), r.format, r.source, raw)


def edit_index(path: Path, row: int, field: str, value: Any, run: RunId = CPU) -> None:
    """Changes one field of one row of a store's index, as somebody could who repairs the digests on the way to it."""

    def changed(raw: bytes) -> bytes:
        rows = np.frombuffer(raw, INDEX_DTYPE).copy()
        rows[field][row] = value
        return rows.tobytes()

    _edit(path, lambda contents: contents.runs[run].index, changed)


def edit_table(path: Path, table: str, row: int, field: str, value: Any, run: RunId = CPU) -> None:
    """Likewise one field of a table of operators, or one of its texts."""

    def changed(raw: bytes) -> bytes:
        dtype = TABLES[table]
        if dtype is None:
            texts = json.loads(raw)
            texts[row] = value
            return json.dumps(texts).encode()
        rows = np.frombuffer(raw, dtype).copy()
        rows[field][row] = value
        return rows.tobytes()

    _edit(path, lambda contents: contents.runs[run].tables[table], changed)


def _edit(path: Path, number_of: Callable[[Contents], int], change: Callable[[bytes], bytes]) -> None:
    raw = path.read_bytes()
    with path.open("rb") as file:
        contents = read_contents(raw[:USER_BLOCK], file.fileno(), len(raw))
        number = number_of(contents)
        table = change(bytes(read_part(contents, number, file.fileno())))
    parts = list(contents.parts)
    itemsize = parts[number].itemsize if len(table) % parts[number].itemsize == 0 else len(table)
    parts[number] = Part(len(raw), len(table), len(table), itemsize, part_digest(table))
    stored, end = encoded(replace(contents, parts=parts)), len(raw) + len(table)
    text = bytes(stored.raw)
    path.write_bytes(user_block(end + len(text), end, stored) + raw[USER_BLOCK:] + table + text)
