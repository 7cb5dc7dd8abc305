"""Writes what others' tools log, from arrays by name: the texts are those that the real tools write of them."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = Mapping[str, Array]
SHORT = {"float32": "f32", "float64": "f64", "int64": "i64", "bool": "b8"}


def sizes(array: Array) -> str:
    """Its shape as PyTorch prints it."""
    return f"torch.Size([{', '.join(map(str, array.shape))}])"


def debug_mode(arrays: Arrays, inputs: bool = True) -> str:
    """One call of each name, with hashes."""
    lines = ["    [nn.Mod] Net"]
    for at, (name, array) in enumerate(arrays.items()):
        looks = f"{SHORT[str(array.dtype)]}[{', '.join(map(str, array.shape))}]"
        norm = float(np.abs(array.astype(np.float64)).sum())
        taken = f"'input_hash': (({norm}, None), {{}}), " if inputs else ""
        call = f"aten::{name}(t${at}: {looks}, 2)  ->  t${at + 1}: {looks}  # {{{taken}'hash': {norm}}}"
        lines.append("      " + call)
    return "\n".join(lines)


def torchtitan(arrays: Arrays, hashes: bool = False) -> str:
    """A block for each name."""
    blocks = [f"Total captured activations: {len(arrays)}\n{'=' * 80}\n\n"]
    for at, (name, array) in enumerate(arrays.items()):
        wide = array.astype(np.float32)
        kept = wide if wide.size else np.zeros(1, np.float32)
        blocks.append(
            f"[layers.{at}/op_0_{name}]\n  Shape: {sizes(array)}, Dtype: torch.{array.dtype}\n"
            + (f"  Output hash: {np.abs(wide).sum()}\n  Input hashes: 1.5, 2.5\n" if hashes else "")
            + f"  L2 norm:  {np.sqrt((wide * wide).sum()):.6e}\n  Min:      {kept.min():.6e}\n"
            f"  Max:      {kept.max():.6e}\n  Mean:     {kept.mean():.6e}\n  Location: net.py:{at + 1}\n\n"
        )
    return "".join(blocks)


def _encoded(array: Array) -> dict[str, Any]:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    held = {"array": base64.b64encode(file.getvalue()).decode(), "polygraphy_class": "ndarray"}
    return {"values": held, "polygraphy_class": "LazyArray"}


def polygraphy(arrays: Arrays, iterations: int = 1) -> str:
    """The outputs of one runner."""
    held = {"outputs": {name: _encoded(array) for name, array in arrays.items()}, "runtime": 0.1,
            "runner_name": "runner", "polygraphy_class": "IterationResult"}  # fmt: skip
    return json.dumps({"lst": [["runner", [held] * iterations]], "polygraphy_class": "RunResults"})


def hugging_face(arrays: Arrays, printed: bool = False, text: str = "None") -> str:
    """A module with a child for each name."""

    def tensor(array: Array) -> dict[str, Any]:
        said: dict[str, Any] = {"shape": sizes(array), "dtype": f"torch.{array.dtype}"}
        if printed:
            said["value"] = ["tensor([...])"]
        kept = array.astype(np.float32) if array.size else np.zeros(1, np.float32)
        numbers = {"mean": kept.mean(), "std": kept.std(), "min": kept.min(), "max": kept.max()}
        return said | {name: f"tensor({value:.4e})" for name, value in numbers.items()}

    children = [
        {"module_path": f"Net.{name}", "inputs": {"args": [tensor(array)], "kwargs": {"mode": text}},
         "outputs": [tensor(array)], "children": []}
        for name, array in arrays.items()
    ]  # fmt: skip
    return json.dumps({"module_path": "Net", "inputs": {"args": []}, "outputs": None, "children": children})


def sglang(arrays: Arrays, step: int | None = None) -> str:
    """A comparison of each name with itself."""
    lines: list[dict[str, Any]] = [{"warnings": [], "type": "config", "config": {"a": 1}}]
    for name, array in arrays.items():
        kept = array.astype(np.float64) if array.size else np.zeros(1)
        stats = {"mean": float(kept.mean()), "abs_mean": float(np.abs(kept).mean()), "std": float(kept.std()),
                 "min": float(kept.min()), "max": float(kept.max()),
                 "percentiles": {"50": float(np.median(kept))}}  # fmt: skip
        side = {"shape": list(array.shape), "dtype": f"torch.{array.dtype}", "stats": stats}
        lines.append({"type": "comparison", "location": {"step": step}, "name": name, "baseline": side, "target": side,
                      "unified_shape": None, "shape_mismatch": False})  # fmt: skip
    lines.append({"type": "non_tensor", "name": "n", "baseline_value": "3", "target_value": "3",
                  "baseline_type": "int", "target_type": "int", "values_equal": True,
                  "location": {"step": step}})  # fmt: skip
    lines.append({"type": "summary", "total": 1, "passed": 1, "failed": 0, "skipped": 0})
    return "".join(json.dumps(line) + "\n" for line in lines)


def table(arrays: Arrays, between: str = ",") -> str:
    """A row for each name."""
    rows = [["Layer_Name", "dtype", "shape", "Max", "MIN", "mean"]]
    for name, array in arrays.items():
        kept = array.astype(np.float64) if array.size else np.zeros(1)
        shape = "x".join(map(str, array.shape))
        rows.append([name, str(array.dtype), shape, *map(repr, map(float, (kept.max(), kept.min(), kept.mean())))])
    return "".join(between.join(row) + "\n" for row in rows)


def inspector(gaps: Mapping[str, float]) -> str:
    """A gap for each operator."""
    head = ",aot_ops,aot_intermediate_output,runtime_ops,runtime_intermediate_output,gap\n"
    rows = [
        f'{at},[{name}],tensor(1.),[{name}.out],tensor(1.),"[{gap}]"\n' for at, (name, gap) in enumerate(gaps.items())
    ]
    return head + "".join(rows)
