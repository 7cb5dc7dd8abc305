"""Names of entries, files and cells."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dump.msprobe.names import Stems, cells, entry, stem

NAME = "Default/network-WithLossCell/_backbone-Net/fc1-Dense/MatMul-op0"
#: what msprobe takes in a path
ACCEPTED = re.compile(r"[a-zA-Z0-9_.:/-]+")


def test_entries() -> None:
    shown = "Default.network-WithLossCell._backbone-Net.fc1-Dense.MatMul-op0"
    assert stem(NAME) == shown
    assert entry(shown, NAME, 0) == f"Kernel.{shown}.forward.0"
    assert entry("x", "Gradients/Default/x", 2) == "Kernel.x.backward.2"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (
            NAME,
            [
                "Cell.network._backbone.fc1.Dense.forward.0",
                "Cell.network._backbone.Net.forward.0",
                "Cell.network.WithLossCell.forward.0",
            ],
        ),
        ("Default/Add-op0", []),
        ("Gradients/Default/fc-Dense/Grad_MatMul/MatMul-op1", ["Cell.fc.Dense.backward.0"]),
        ("Default/0-Dense/-/a-/Add-op0", ["Cell.0.Dense.forward.0"]),
    ],
)
def test_cells(name: str, found: list[str]) -> None:
    assert cells(name) == found


def test_names_that_would_be_one_get_a_hash() -> None:
    stems = Stems()
    given_names = ["Default/a.b/Add-op0", "Default/a/b/Add-op0", "Default/c/Add-op0"]
    found = [stems.of(name) for name in given_names]
    assert len(set(found)) == 3
    assert (found[0], found[2]) == ("Default.a.b.Add-op0", "Default.c.Add-op0")
    assert [stems.of(name) for name in given_names] == found


@given(st.lists(st.text(max_size=300), unique=True, max_size=8))
def test_any_names_are_told_apart_and_fit(names: list[str]) -> None:
    given_names = [f"Default/{name}/Add-op0" for name in names]
    stems = Stems()
    found = [stems.of(name) for name in given_names]
    assert len(set(found)) == len(found)
    for name, shown in zip(given_names, found, strict=True):
        file = f"{entry(shown, name, 999_999_999)}.output.999.npy"
        assert ACCEPTED.fullmatch(file)
        assert len(file) <= 255
