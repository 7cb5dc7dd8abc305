"""The configuration of every generation and backend: the cases read in MindSpore's public source
(data/config_source_cases.json), and what the table of rules says of itself."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dump.check_saved_data import NEWEST_ITEMS
from harness.dump.config import DumpConfig, parse
from harness.dump.generations import GENERATIONS, TABLE, generation_of, rules_for
from harness.errors import DumpConfigError, UnsupportedError
from tests.dump.build import DATA

CASES: list[dict[str, Any]] = json.loads((DATA / "config_source_cases.json").read_text())


def meaning(config: DumpConfig, name: str, value: Any) -> Any:
    """What the configuration says of ``name``, in the case file's form."""
    if name == "iteration":
        return config.iteration.text
    if name == "iteration_everything":
        return config.iteration.everything
    if name == "labels":
        return [label for label in range(max(value) + 50) if label in config.iteration]
    if name == "kernel_kinds":
        return [rule.kind for rule in config.kernels]
    found = getattr(config, name)
    return list(found) if isinstance(found, tuple) else found


def read(case: dict[str, Any]) -> DumpConfig:
    env = dict(case.get("env", {}))
    pynative = env.pop("mode", "GRAPH") == "PYNATIVE"
    text = json.dumps(case["config"])
    return parse(text, case["backend"], case["generation"], env, pynative=pynative)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="harness"):
        if "kind" in case:
            with pytest.raises(DumpConfigError) as caught:
                read(case)
            assert caught.value.kind == case["kind"]
            assert all(name in str(caught.value) for name in case.get("names", []))
        else:
            config = read(case)
            settings = case["settings"]
            assert {name: meaning(config, name, value) for name, value in settings.items()} == settings
    assert case.get("warning", "") in caplog.text
    if "settings" in case and "warning" not in case:
        assert not caplog.records


each_row = pytest.mark.parametrize(("generation", "backend"), TABLE, ids=[f"{g}-{b}" for g, b in TABLE])
COMMON: dict[str, Any] = {
    "dump_mode": 0, "path": "/dump", "net_name": "Net", "iteration": "all", "input_output": 0, "kernels": [],
    "support_device": [0], "op_debug_mode": 0,
}  # fmt: skip
FLAGS = {"enable": True, "trans_flag": False}


def text(e2e: dict[str, Any] | None = None, **common: Any) -> str:
    file: dict[str, Any] = {"common_dump_settings": COMMON | common}
    if e2e is not None:
        file["e2e_dump_settings"] = e2e
    return json.dumps(file)


@each_row
def test_each_row_takes_the_plain_dump(generation: str, backend: str) -> None:
    first = {"iteration": 0} if generation == GENERATIONS[0] else {}
    config = parse(text(None if backend == "ascend-o2" else FLAGS, **first), backend, generation, {})
    assert config.method == ("async" if backend == "ascend-o2" else "e2e")
    assert (config.generation, config.backend) == (generation, backend)
    assert config.selects == "everything"
    assert config.trans_flag == (backend in ("gpu", "ascend-o2"))


@each_row
def test_each_row_reads_blanks_as_the_documents_write_them(generation: str, backend: str) -> None:
    given = text(None if backend == "ascend-o2" else FLAGS, iteration="0 | 5 - 8 | 100-120")
    if generation == GENERATIONS[0]:
        with pytest.raises(DumpConfigError) as caught:
            parse(given, backend, generation, {})
        assert caught.value.kind == "type-uint:iteration"
        return
    labels = parse(given, backend, generation, {}).iteration
    assert [label for label in range(200) if label in labels] == [0, 5, 6, 7, 8, *range(100, 121)]


@pytest.mark.sampled(3)
@each_row
@given(data=st.data())
def test_each_row_gives_a_configuration_or_one_named_error(generation: str, backend: str, data: st.DataObject) -> None:
    words = ["host", "device", "high", "all", "0 | 3", "1-2", "tensor", "statistic", "full", "npy", "bin"]
    values = st.one_of(
        st.integers(-1, 5), st.booleans(), st.sampled_from(words), st.none(),
        st.lists(st.sampled_from([*NEWEST_ITEMS, "MatMul", "name-regex(.*)", 0, 1]), max_size=3),
    )  # fmt: skip
    keys = ["saved_data", "file_format", "statistic_category", "overflow_number", "initial_iteration", *COMMON]
    common = data.draw(st.dictionaries(st.sampled_from(keys), values, max_size=4))
    keys = ["enable", "trans_flag", "save_kernel_args", "stat_calc_mode", "device_stat_precision_mode", "sample_mode"]
    e2e = data.draw(st.none() | st.dictionaries(st.sampled_from(keys), values, max_size=3).map(lambda d: FLAGS | d))
    config: DumpConfig | DumpConfigError
    try:
        config = parse(text(e2e, **common), backend, generation, {}, pynative=data.draw(st.booleans()))
    except DumpConfigError as error:
        config = error
    if isinstance(config, DumpConfigError):
        assert config.kind
        assert str(config).startswith("dump configuration: ")
        return
    rules = rules_for(backend, generation)
    assert config.method in ("e2e", "async", "off")
    assert config.op_debug_mode in rules.op_debug_modes.values()
    assert config.keeps_statistics == bool(config.saved_data != "tensor")
    assert set(config.statistic_category) <= set(NEWEST_ITEMS.values())
    assert config.stat_calc_mode == "host" or backend.startswith("ascend")


@pytest.mark.parametrize(
    ("release", "generation"),
    [("1.1.1", "1.0-1.2"), ("1.10", None), ("2.3.0rc1", "2.4-2.6"), ("2.10.0", "2.7-2.10"), ("2.6", "2.4-2.6"),
     ("3.0", None), ("nightly", None), ("1.5-1.7", "1.5-1.7")],
)  # fmt: skip
def test_releases_have_a_generation(release: str, generation: str | None) -> None:
    if generation is None:
        with pytest.raises(UnsupportedError, match=r"known: 1\.0-1\.2, "):
            generation_of(release)
    else:
        assert generation_of(release) == generation


def test_the_newest_rules_of_a_backend_are_taken_by_default() -> None:
    assert rules_for("Ascend-O1") is TABLE["2.7-2.10", "ascend"]
    assert rules_for("ascend-o2") is TABLE["2.4-2.6", "ascend-o2"]
    with pytest.raises(UnsupportedError, match=r"ascend-o2 2\.4-2\.6"):
        rules_for("ascend-o2", "2.10.0")


def test_a_sunk_graph_has_no_kernel_by_kernel_section() -> None:
    with pytest.raises(DumpConfigError, match="O0 and O1") as caught:
        parse(text({}), "ascend-o2", environ={})
    assert caught.value.kind == "section-e2e"


@pytest.mark.parametrize(("value", "ignores"), [(None, True), ("1", True), ("0", False), ("yes", True)])
def test_useless_outputs(value: str | None, ignores: bool, caplog: pytest.LogCaptureFixture) -> None:
    environ = {} if value is None else {"MINDSPORE_DUMP_IGNORE_USELESS_OUTPUT": value}
    assert parse(text({}), "ascend", environ=environ).ignore_useless_output == ignores
    assert ("counts as '1'" in caplog.text) == (value == "yes")
    caplog.clear()
    assert parse(text({}), "cpu", environ=environ).ignore_useless_output
    assert not caplog.records


def test_converted_numbers() -> None:
    """Releases 1.3 and 1.4 read numbers as C does."""

    def labels(iteration: str) -> list[int]:
        chosen = parse(text(FLAGS, iteration=iteration), "gpu", "1.3-1.4", {}).iteration
        return [label for label in range(20) if label in chosen]

    assert labels("1-2-3") == [1, 2]
    assert labels("7x| 9") == [7, 9]
    assert labels("3--1") == list(range(3, 20))
    for refused in ("", "0|", "3-", "abc", "99999999999999999999"):
        with pytest.raises(DumpConfigError):
            labels(refused)


def test_entries_of_old_kernels_lists_are_names(tmp_path: Path) -> None:
    entries = ["Default/Conv-op12", "conv", "name-regex(.*)", "a b"]
    rules = parse(text(FLAGS, dump_mode=1, kernels=entries), "gpu", "1.5-1.7", {}).kernels
    assert [(rule.kind, rule.text) for rule in rules] == [("name", entry) for entry in entries]
    assert parse(text(FLAGS, dump_mode=1), "gpu", "1.5-1.7", {}).selects == "nothing"
