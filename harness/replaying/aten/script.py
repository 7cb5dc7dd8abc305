"""A call of an ATen operator as a line of Python that needs PyTorch alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from harness.recording.replayer import Call
from harness.replaying.aten.running import Way


def expression(way: Way, call: Call, given: dict[str, Any], name: str = "x") -> str:
    """The call: ``torch.ops.aten.mul.Tensor(x[0], 0.5)``.

    Args:
        way: how the record is read.
        call: the call; its tensors are ``x[0]``, ``x[1]`` by slot.
        given: its arguments that are no tensors.
        name: of the tensors.
    """
    overload = way.reading.overload
    known = {**way.reading.filled, **way.more, **given}
    args: list[str] = []
    skipped = False
    for each in overload.parameters:
        if each.name in known:
            text = _literal(known[each.name])
        elif each.name in way.reading.tensors:
            slots = way.reading.tensors[each.name]
            inside = [_slot(name, at) for at in slots] if isinstance(slots, tuple) else []
            text = f"[{', '.join(inside)}]" if isinstance(slots, tuple) else _slot(name, slots)
        else:
            skipped = skipped or not each.keyword
            continue
        args.append(f"{each.name}={text}" if each.keyword or skipped else text)
    return f"torch.ops.{overload.function}({', '.join(args)})"


def _slot(name: str, slot: int | None) -> str:
    return "None" if slot is None else f"{name}[{slot}]"


def _literal(value: Any) -> str:
    if isinstance(value, np.ndarray):  # what is overwritten
        return f"torch.zeros({list(value.shape)}, dtype=torch.{value.dtype.name})"
    if isinstance(value, (torch.dtype, torch.memory_format)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, float) and value != value:
        return "float('nan')"
    return f"float('{value}')" if value in (float("inf"), float("-inf")) else repr(value)
