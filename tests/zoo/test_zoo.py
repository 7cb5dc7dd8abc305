"""Models of PyTorch's libraries in the gate: one evaluation, and two steps of a training."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import pytest

if find_spec("timm") is None:
    pytest.skip("needs PyTorch's libraries: tox -e zoo", allow_module_level=True)

import torch

from tests.zoo.models import SAMPLE, load

MODELS = load()
NAMES = list(MODELS) if os.environ.get("MSDUMP_ZOO") != "sample" else list(SAMPLE)
pytestmark = [
    pytest.mark.msdump(backends="torch", modes="statistic"),
    pytest.mark.parametrize("name", NAMES),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(autouse=True)
def _settled() -> Any:
    """Goes on where an operator has no deterministic algorithm."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    yield
    torch.use_deterministic_algorithms(False)


def _losses(value: Any) -> list[Any]:
    """One number of each differentiable tensor that a model returns."""
    if isinstance(value, torch.Tensor):
        return [value.float().square().mean()] if value.requires_grad and value.is_floating_point() else []
    if isinstance(value, (list, tuple)):
        return [found for each in value for found in _losses(each)]
    held = dict(value) if isinstance(value, Mapping) else getattr(value, "__dict__", {})
    return [found for each in held.values() for found in _losses(each)]


def test_evaluation(msdump: Any, name: str) -> None:
    module = MODELS[name].make().eval()
    args, kwargs = MODELS[name].given()
    with torch.no_grad():
        msdump.run(module, *args, **kwargs)


def test_training(msdump: Any, name: str) -> None:
    module = MODELS[name].make().train()
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3)
    with msdump.watch(module, optimizer) as watched:
        for _ in range(2):
            args, kwargs = MODELS[name].given()
            optimizer.zero_grad()
            loss = sum(_losses(module(*args, **kwargs)))
            watched(loss, "loss")
            loss.backward()
            optimizer.step()
