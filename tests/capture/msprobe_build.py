"""Writes dumps as msprobe's own writer does, from descriptions of entries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def tensor(dtype: str = "torch.float32", shape: tuple[int, ...] = (2, 3), **more: Any) -> dict[str, Any]:
    """A tensor's description; ``more`` replaces its statistics."""
    numbers = {"Max": 2.5, "Min": -1.5, "Mean": 0.25, "Norm": 3.5, "requires_grad": False}
    return {"type": "torch.Tensor", "dtype": dtype, "shape": list(shape), **numbers, **more}


def scalar(value: Any) -> dict[str, Any]:
    """An argument's description."""
    return {"type": type(value).__name__, "value": value}


def call(inputs: list[Any], outputs: list[Any], **named: Any) -> dict[str, Any]:
    """An entry of level L1."""
    return {"input_args": inputs, "input_kwargs": named, "output": outputs}


def dump(
    root: Path, data: Mapping[str, Any], *, step: int | None = 0, rank: str = "rank0", beside: Mapping[str, Any] = {},
    **head: Any,
) -> Path:  # fmt: skip
    """Writes one step of one process.

    Args:
        step: None for a directory of one rank alone.
        beside: further files by name.
        head: replaces fields of the head.
    """
    folder = root if step is None else root / f"step{step}" / rank
    folder.mkdir(parents=True, exist_ok=True)
    said = {"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": None, **head}
    (folder / "dump.json").write_text(json.dumps({**said, "data": data}))
    for name, content in beside.items():
        (folder / name).write_text(json.dumps(content))
    return root
