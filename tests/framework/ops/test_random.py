"""Random operators: their stream depends on the seeds and on how often the node ran."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness import Tensor, dtypes, ops, set_seed
from harness.framework.ops.base import OPERATORS, Call
from harness.framework.ops.eager import execute
from harness.graph import TensorSpec, TupleSpec, spec_of
from tests.interop.operator_facts import DATA
from tests.subprocesses import ROOT


def draw(call: Call, *args: object) -> tuple[np.ndarray, ...]:
    """Runs ``call``'s kernel."""
    return execute(OPERATORS.get(call.op), call, args)


def normal(seed: int) -> Call:
    """A StandardNormal node of 1,000 values."""
    spec = spec_of((1000,))
    out = TensorSpec(dtypes.float32, (1000,))
    return Call("StandardNormal", (spec,), ((1000,),), {"seed": seed, "seed2": 5}, out)


def test_a_node_draws_on_and_a_new_one_from_the_start() -> None:
    call = normal(1)
    first, second = draw(call, (1000,))[0], draw(call, (1000,))[0]
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(draw(normal(1), (1000,))[0], first)
    assert not np.array_equal(draw(normal(2), (1000,))[0], first)


def test_numbers_are_those_recorded_from_the_real_one(tmp_path: Path) -> None:
    out = tmp_path / "drawn.json"
    command = [sys.executable, "-m", "harness.cli", "run", str(ROOT / "tests" / "interop" / "drawn_facts.py"), str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found, recorded = json.loads(out.read_text()), json.loads((DATA / "drawn.json").read_text())
    assert len(recorded) > 80
    assert list(found) == list(recorded)
    assert {name: value for name, value in found.items() if value != recorded[name]} == {}


def test_a_state_that_knows_its_runs_alone_draws_the_same() -> None:
    call, later = normal(1), normal(1)
    draw(call, (1000,))
    later.state["runs"] = 1
    np.testing.assert_array_equal(draw(later, (1000,))[0], draw(call, (1000,))[0])


@pytest.mark.parametrize("keep", [0.25, 0.5, 1.0])
def test_dropout_drops_that_share_and_scales_the_rest(keep: float) -> None:
    x = np.linspace(1, 2, 4000, dtype=np.float32)
    spec = TensorSpec(dtypes.float32, (4000,))
    inputs = (spec, spec_of(keep), spec_of(3), spec_of(4))
    out, mask = draw(Call("Dropout", inputs, (None, keep, 3, 4), {}, TupleSpec((spec, spec))), x, keep, 3, 4)
    assert set(np.unique(mask)) <= {0.0, 1.0}
    assert abs(mask.mean() - keep) < 5 * np.sqrt(keep * (1 - keep) / 4000) + 1e-12
    np.testing.assert_allclose(out, np.where(mask == 1, x / keep, 0), rtol=1e-6)


def test_functions_take_their_seeds_from_the_global_one() -> None:
    def both() -> tuple[Tensor, Tensor]:
        set_seed(7)
        return ops.randn(50), ops.randn(50)

    (a, b), (c, d) = both(), both()
    np.testing.assert_array_equal(a.asnumpy(), c.asnumpy())
    np.testing.assert_array_equal(b.asnumpy(), d.asnumpy())
    assert not np.array_equal(a.asnumpy(), b.asnumpy())


def test_uniform_stays_within_its_bounds() -> None:
    values = ops.uniform((500,), Tensor(-1.0), Tensor(3.0)).asnumpy()
    assert values.min() >= -1
    assert values.max() <= 3
    assert values.std() > 1


def test_dropout_outside_training_is_the_input_itself() -> None:
    x = Tensor([1.0, 2.0])
    assert ops.dropout(x, 0.9, training=False) is x
