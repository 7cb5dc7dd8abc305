"""``docs/file-format.md`` says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import h5py

from harness.stats.blocks import BLOCK, LANES
from harness.store import RunData, update
from harness.store.layout.schema import FORMAT, INDEX_DTYPE, SCHEMA
from harness.store.write import RunId
from tests.store.helpers import ARTEFACTS, network

PAGE = (Path(__file__).parents[2] / "docs" / "file-format.md").read_text(encoding="utf-8")


def test_every_column_is_described() -> None:
    table = PAGE.partition("## The index")[2].partition("##")[0]
    assert re.findall(
        r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    ) == (list(INDEX_DTYPE.names or ()))


def test_numbers_and_names_are_those_of_the_code() -> None:
    for fact in (f"`{FORMAT}`", f"schema version {SCHEMA}", f"{BLOCK:,} elements", f"rows of {LANES:,}"):
        assert fact in PAGE


def test_every_attribute_is_described(tmp_path: Path) -> None:
    update(tmp_path / "x.h5", "net", {RunId("cpu", "tensor"): RunData(network(), ARTEFACTS)})
    with h5py.File(tmp_path / "x.h5") as file:
        named = {("/", name) for name in file.attrs} | {("run", name) for name in file["runs/cpu/tensor"].attrs}
    rows = re.findall(r"^\| `(\w+)` \| `?(/|run)`? \|", PAGE, re.MULTILINE)
    assert {(of, name) for name, of in rows} == named
