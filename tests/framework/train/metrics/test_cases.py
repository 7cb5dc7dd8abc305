"""Every recorded case of the real MindSpore's metrics: values, types and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import nn
from harness.framework.tensor import Tensor
from harness.framework.train import metrics

CASES = json.loads((Path(__file__).parents[3] / "data" / "train" / "metrics_cases.json").read_text(encoding="utf-8"))


def array(described: dict[str, Any]) -> Any:
    def numbers(data: Any) -> Any:
        return [numbers(each) for each in data] if isinstance(data, list) else float(data)

    data = described["data"]
    return np.array(numbers(data) if described["dtype"].startswith("float") else data, described["dtype"]).reshape(
        described["shape"]
    )


def given(value: Any) -> Any:
    """What a case describes."""
    if not isinstance(value, dict) or "kind" not in value:
        return value
    kind = value["kind"]
    if kind == "dense_model":
        weights = np.array(value["w"], np.float32)
        model = nn.Dense(weights.shape[1], weights.shape[0])
        model.weight.set_data(Tensor(weights))
        model.bias.set_data(Tensor(np.array(value["b"], np.float32)))
        return model
    if kind == "tuple":
        return tuple(value["data"])
    if kind in ("py", "list"):
        return value["data"]
    return Tensor(array(value)) if kind == "tensor" else array(value)


def play(case: dict[str, Any], stage: list[str]) -> Any:
    """Carries the case out; ``stage`` says where it stands."""
    args = [given(each) for each in case["ctor_args"]["args"]]
    kwargs = {name: given(each) for name, each in case["ctor_args"]["kwargs"].items()}
    name = case["metric"]
    stage[0] = "call" if name in ("auc", "get_metric_fn", "names") else "ctor"
    metric = getattr(metrics, name)(*args, **kwargs)
    if name in ("auc", "names") or (name == "get_metric_fn" and not case["updates"]):
        return metric if name != "get_metric_fn" else type(metric)
    if "indexes" in case:
        stage[0] = "set_indexes"
        assert metric.set_indexes(given(case["indexes"])) is metric
    for at, inputs in enumerate(case["updates"]):
        stage[0] = f"update[{at}]"
        metric.update(*map(given, inputs))
    if "steps" not in case:
        stage[0] = "eval"
        return metric.eval(*case.get("eval_args", []))
    values = []
    for step, *inputs in case["steps"]:
        stage[0] = step
        out = metric(*map(given, inputs[0])) if step == "call" else getattr(metric, step)(*map(given, *inputs or [[]]))
        values += [out] if step in ("eval", "call") else []
    return values


def same(expected: dict[str, Any], found: Any) -> None:
    kind = expected["pytype"]
    if kind == "class":
        assert found.__name__ == expected["value"]
    elif kind in ("list", "tuple", "list_of_evals"):
        assert isinstance(found, tuple if kind == "tuple" else list)
        assert len(found) == len(expected["items"])
        for one, other in zip(expected["items"], found, strict=True):
            same(one, other)
    elif kind == "str":
        assert found == expected["value"]
    elif kind == "ndarray":
        assert isinstance(found, np.ndarray)
        assert (found.dtype.name, list(found.shape)) == (expected["dtype"], expected["shape"])
        wanted = array({**expected, "data": expected["value"]})
        np.testing.assert_allclose(found, wanted, rtol=1e-6, equal_nan=True)
    else:
        assert type(found).__name__ == kind.removeprefix("numpy.")
        np.testing.assert_allclose(found, float(expected["value"]), rtol=1e-6, equal_nan=True)


@pytest.mark.parametrize("case", CASES, ids=[f"{case['id']}-{case['metric']}" for case in CASES])
def test_recorded_case(case: dict[str, Any]) -> None:
    stage = [""]
    if "error" not in case:
        found = play(case, stage)
        same(case.get("result_numpy1", case["result"]), found)  # on either numpy: the real one asks for numpy 1
        return
    wanted = case["error"]
    with pytest.raises(Exception) as raised:
        play(case, stage)
    assert stage[0] == wanted["stage"]
    assert wanted["type"] in [each.__name__ for each in type(raised.value).__mro__]
    for word in wanted.get("mentions", []):
        assert word in str(raised.value)
