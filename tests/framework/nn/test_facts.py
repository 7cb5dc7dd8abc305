"""Names, scopes, signatures and initial values are those of the real MindSpore, fact by fact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import harness
from harness import context, seed
from tests.framework.nn.facts import plain, recorded
from tests.interop import nn_facts


@pytest.fixture(autouse=True)
def _random_state() -> Iterator[None]:
    before = np.random.get_state()
    yield
    np.random.set_state(before)


@pytest.fixture(scope="module")
def networks() -> dict[str, Any]:
    return nn_facts.networks(harness)


@pytest.mark.parametrize("name", [n for n in recorded("names") if n != "net without classes"])
def test_names_and_scopes(name: str, networks: dict[str, Any]) -> None:
    assert plain(nn_facts.describe(networks[name]())) == recorded("names")[name]


def test_scopes_without_class_names() -> None:
    context.set_context(reserve_class_name_in_scope=False)
    try:
        found = nn_facts.describe(nn_facts.networks(harness)["net"]())
    finally:
        context.set_context(reserve_class_name_in_scope=True)
    assert plain(found) == recorded("names")["net without classes"]


def test_texts() -> None:
    assert nn_facts.texts(harness) == recorded("texts")


def test_initial_values() -> None:
    found, expected = plain(nn_facts.initial_values(harness)), recorded("initial_values")
    assert found.keys() == expected.keys()
    different = [name for name in expected if found[name] != expected[name]]
    assert not different


def test_operator_seeds() -> None:
    def seeds(op_seed: int, kernel: str) -> tuple[int, int]:
        return seed.operator_seeds(kernel, op_seed)

    assert plain(nn_facts.operator_seeds(seeds, seed.set_seed)) == recorded("operator_seeds")


@pytest.mark.parametrize("name", nn_facts.SIGNATURES)
def test_signature(name: str) -> None:
    def readable(arguments: list[list[str]]) -> list[list[str]]:
        return [[kind, argument, default.replace("harness.", "mindspore.")] for kind, argument, default in arguments]

    found = plain(nn_facts.signatures(harness)[name])
    assert [readable(arguments) for arguments in found] == recorded("signatures")[name]
