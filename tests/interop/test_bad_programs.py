"""Bad programs fail here where they fail under the real MindSpore, with the same base class, and name the line."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.differential.mistakes import compared, difference, drawn, within_graphs
from tests.differential.side import Side
from tests.differential.sides import Pair
from tests.differential.spoiled import bases, last_error

pytestmark = pytest.mark.interop
#: cells (what ``__init__`` and ``construct`` hold, and the argument) and statements
ROWS = json.loads((Path(__file__).parent / "bad_programs.json").read_text(encoding="utf-8"))
SAMPLE = 60
#: how many of the generated calls may differ: what was measured (``python -m tests.differential.mistakes`` runs all)
DIFFERING = 3
#: the same as bodies of networks in graph mode (``--graphs``)
DIFFERING_WITHIN_GRAPHS = 7
PROGRAM = """import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor, Parameter
from mindspore.train import Model
import mindspore.dataset as ds
ms.set_context(mode={mode})
f = Tensor(np.ones((2, 3), np.float32))
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        {init}
    def construct(self, x):
        {body}
{end}
"""


def programs() -> Iterator[str]:
    """Every program, the cells in both modes."""
    for init, body, argument in ROWS["cells"]:
        end = f"r = Net()({argument})\nfor t in r if isinstance(r, tuple) else (r,): print(t)"
        for mode in (0, 1):
            yield PROGRAM.format(mode=mode, init=init, body=body, end=end)
    for statement in ROWS["statements"]:
        yield PROGRAM.format(mode=1, init="pass", body="return x", end=statement)


def test_they_fail_alike(both: tuple[Side, Side]) -> None:
    differs = []
    with Pair(both) as pair:
        for program in random.Random(15).sample(list(programs()), SAMPLE):
            own, own_code, real, real_code = pair.run(program)
            ours, theirs = last_error(own), last_error(real)
            line = program.rstrip().splitlines()[-1]
            if not own_code or not real_code:
                if bool(own_code) != bool(real_code):
                    differs.append(f"{line}: fails {'here' if own_code else 'there'} only ({ours or theirs})")
            elif theirs and not bases(ours) & bases(theirs):
                differs.append(f"{line}: {ours}, there {theirs}")
            elif "program.py" not in (own / "stderr").read_text(errors="replace"):
                differs.append(f"{line}: the message names no line")
    assert not differs, "\n".join(differs)


def test_generated_calls_fail_alike(both: tuple[Side, Side]) -> None:
    with Pair(both) as pair:
        found = {call: difference(own, real) for call, own, real in compared(pair, drawn(SAMPLE, 15))}
    differs = [f"{call}\n    {why}" for call, why in found.items() if why]
    assert len(differs) <= DIFFERING, "\n".join(differs)


def test_generated_calls_within_graphs_fail_alike(both: tuple[Side, Side]) -> None:
    with Pair(both) as pair:
        rows = compared(pair, drawn(SAMPLE, 16), told=within_graphs)
        found = {call: difference(own, real) for call, own, real in rows}
    differs = [f"{call}\n    {why}" for call, why in found.items() if why]
    assert len(differs) <= DIFFERING_WITHIN_GRAPHS, "\n".join(differs)
