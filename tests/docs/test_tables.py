"""The tables of ``docs/training.md`` list every class there is, and none that is not."""

from __future__ import annotations

import re
from enum import Enum
from types import ModuleType

import pytest

from harness.framework import dataset, train
from harness.framework.dataset import transforms, vision
from tests.subprocesses import ROOT

PAGE = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")


def listed(row: str) -> set[str]:
    """The classes that a row names."""
    found = re.search(rf"^\| {re.escape(row)} \| (.*) \|$", PAGE, re.MULTILINE)
    assert found, f"docs/training.md has no row {row}"
    return {name for name in re.findall(r"`(\w+)`", found[1]) if name[0].isupper() and not name.isupper()}


def public(module: ModuleType, kind: type, end: str = "") -> set[str]:
    """The public classes of a kind, without the kind itself."""
    classes = {name: getattr(module, name) for name in module.__all__}
    return {
        name for name, value in classes.items()
        if isinstance(value, type) and issubclass(value, kind) and value is not kind and name.endswith(end)
    }  # fmt: skip


@pytest.mark.parametrize(("row", "names"), [
    ("callbacks", public(train, train.Callback) | {"CheckpointConfig"}),
    ("sources", public(dataset, dataset.Dataset, "Dataset") | {"Schema"}),
    ("samplers", public(dataset, object, "Sampler") - {"IterSampler"} | {"Sampler"}),
    ("`dataset.transforms`", public(transforms, object) - {"Relational"}),
    ("`dataset.vision`", public(vision, object) - public(vision, Enum)),
])  # fmt: skip
def test_a_row_lists_what_there_is(row: str, names: set[str]) -> None:
    assert listed(row) == {name for name in names if not name.isupper()}
