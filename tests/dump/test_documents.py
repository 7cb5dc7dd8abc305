"""docs/dump.md says what the code does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import harness.dump
from harness.devices import DEVICES
from harness.dump.generations import GENERATIONS, TABLE
from tests.dump.build import DATA

PAGE = (Path(__file__).parents[2] / "docs" / "dump.md").read_text()


def test_generations_and_backends_are_named() -> None:
    for generation, backend in TABLE:
        assert generation in PAGE
        assert f"`{backend}`" in PAGE
    assert {generation for generation, _ in TABLE} == set(GENERATIONS)


def test_the_number_of_cases() -> None:
    for name, words in (("config_cases", "measured ({} cases)"), ("config_source_cases", "documents ({} cases)")):
        found = json.loads((DATA / f"{name}.json").read_text())
        count = len(found["cases"] if isinstance(found, dict) else found)
        assert words.format(count) in PAGE.replace("\n", " ")


def test_variables_are_those_the_dump_reads() -> None:
    rows = set(re.findall(r"^\| `([A-Z_]+)` \|", PAGE, re.M))
    source = "".join(path.read_text() for path in Path(harness.dump.__file__).parent.glob("*.py"))
    assert rows == set(re.findall(r'"((?:MINDSPORE|MS_DIAG|MSDUMP|GRAPH|ENABLE)[A-Z_]+)"', source))


def test_what_devices_have_is_what_the_table_says() -> None:
    table = {cells[0]: cells[1:] for cells in re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", PAGE, re.M)}
    devices = [DEVICES.get(name).capabilities for name in ("cpu", "gpu", "ascend-o0")]
    for row, feature, without in (
        ("`saved_data` statistic, full", "statistic", "refused"), ("`sample_mode` 1", "sample", "whole tensors"),
        ("`op_debug_mode` 3", "overflow", "everything"), ("`op_debug_mode` 4", "exception", "parameters only"),
        ("`dump_mode` 2", "set_dump", "refused"), ("`trans_flag` false", "trans_flag", "host's order"),
        ("`save_kernel_args`", "kernel_args", "nothing"), ("`stat_calc_mode` device", "device_statistics", "host"),
    ):  # fmt: skip
        assert [cell != without for cell in table[row]] == [has.has(feature) for has in devices], row
