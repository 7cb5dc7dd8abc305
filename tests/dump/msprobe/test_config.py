"""msprobe's ``config.json``: what each field means, and which are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dump.msprobe.config import ProbeConfig, parse, resolve
from harness.dump.msprobe.fields import BASIC, SUMMARY_ITEMS
from harness.errors import DumpConfigError
from tests.dump.msprobe.build import config_text

#: the file that mindstudio-probe 26.2.0 ships, with level and task as graph mode needs them
SHIPPED: dict[str, Any] = {
    "task": "statistics", "dump_path": "./dump_path", "rank": [], "step": [], "level": "L2", "extra_info": True,
    "async_dump": False,
    "statistics": {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": "statistics"},
    "tensor": {"scope": [], "list": [], "data_mode": ["all"]},
    "acc_check": {"white_list": [], "black_list": [], "error_data_path": "./"},
}  # fmt: skip


def test_the_shipped_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse(json.dumps(SHIPPED)) == ProbeConfig(
        task="statistics", dump_path=str(tmp_path / "dump_path"), ranks=(), steps=(), enabled=True, extra_info=True,
        async_dump=False, high_precision=False, names=(), data_mode="all", summary=BASIC, on_device=False,
        device_precision="high", tensor_list=(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "section", "field", "value"),
    [
        ({"rank": [3, "1-2", "7"]}, {}, "ranks", (1, 2, 3, 7)),
        ({"step": [0, 0, "4 - 5"]}, {}, "steps", (0, 4, 5)),
        ({"step": None}, {}, "steps", ()),
        ({"dump_enable": False}, {}, "enabled", False),
        ({"extra_info": False}, {}, "extra_info", False),
        ({"async_dump": True}, {}, "async_dump", True),
        ({"precision": "high"}, {}, "high_precision", True),
        ({"risk_level": "ALL", "custom_op_namespaces": ["a"]}, {}, "names", ()),
        ({}, {"list": ["MatMul", "name-regex(.+)"]}, "names", ("MatMul", "name-regex(.+)")),
        ({}, {"data_mode": ["input"]}, "data_mode", "input"),
        ({}, {"data_mode": []}, "data_mode", "all"),
        ({}, {"summary_mode": "md5"}, "summary", ("md5",)),
        ({}, {"summary_mode": ["mean", "hash", "md5"]}, "summary", ("mean", "md5")),
        ({}, {"summary_mode": list(SUMMARY_ITEMS)}, "summary", tuple(i for i in SUMMARY_ITEMS if i != "hash")),
        ({}, {"summary_mode": None}, "summary", None),
        ({}, {"device": "device"}, "on_device", True),
        ({}, {"precision": "low"}, "device_precision", "low"),
        ({}, {"tensor_list": ["fc1"]}, "tensor_list", ("fc1",)),
        ({"nothing known": 1}, {"nor this": 2}, "task", "statistics"),
    ],
)
def test_what_a_field_means(changes: dict[str, Any], section: dict[str, Any], field: str, value: Any) -> None:
    found = getattr(parse(config_text("/x", "statistics", section, **changes)), field)
    # "hash" and "md5" are one item here, in the place of the first.
    assert (sorted(found) == sorted(value)) if field == "summary" and value else found == value


@pytest.mark.parametrize(
    ("changes", "section", "kind", "gist"),
    [
        ({"task": "everything"}, {}, "task", "exception_dump"),
        ({"task": "acc_check"}, {}, "task", "graph mode has statistics, tensor, exception_dump"),
        ({"task": 1}, {}, "task", "one of"),
        ({"level": None}, {}, "level", "L1 where it is not given"),
        ({"level": "L0"}, {}, "level", "L2 (kernels) only"),
        ({"level": "mix"}, {}, "level", "L2"),
        ({"level": "L9"}, {}, "level", "one of L0, L1, L2, mix, debug"),
        ({"dump_path": None}, {}, "dump_path", "must be given"),
        ({"dump_path": ["a"]}, {}, "dump_path", "must be a text"),
        ({"rank": 0}, {}, "rank", "must be a list"),
        ({"rank": [True]}, {}, "rank", "neither a number"),
        ({"step": ["3-"]}, {}, "step", "'3-5'"),
        ({"step": ["5-3"]}, {}, "step", "the lower number first"),
        ({"step": [-1]}, {}, "step", "within 0 and 1000000"),
        ({"step": [1_000_001]}, {}, "step", "within 0 and 1000000"),
        ({"step": [0.5]}, {}, "step", "neither a number"),
        ({"dump_enable": 1}, {}, "dump_enable", "true or false"),
        ({"extra_info": "yes"}, {}, "extra_info", "true or false"),
        ({"async_dump": 0}, {}, "async_dump", "true or false"),
        ({"async_dump": True}, {}, "async_dump", "needs a list"),
        ({"async_dump": True}, {"list": ["Add"], "summary_mode": "md5"}, "async_dump", "md5"),
        ({"precision": "middle"}, {}, "precision", "one of low, high"),
        ({"risk_level": "LOW"}, {}, "risk_level", "CORE, FOCUS, ALL"),
        ({"custom_op_namespaces": [1]}, {}, "custom_op_namespaces", "list of texts"),
        ({"load": {"path": "/x"}}, {}, "load", "leave it empty"),
        ({"tensor": []}, {}, "tensor", "must be an object"),
        ({}, {"scope": ["a", "b"]}, "scope", "selected by list"),
        ({}, {"slice": [{"dim": 0}]}, "slice", "whole tensors"),
        ({}, {"request_id": "r"}, "request_id", "no requests"),
        ({}, {"list": "MatMul"}, "list", "must be a list"),
        ({}, {"list": [1]}, "list", "list of texts"),
        ({}, {"data_mode": ["forward"]}, "data_mode", "all, input, output"),
        ({}, {"data_mode": ["input", "output"]}, "data_mode", "one of"),
        ({}, {"summary_mode": "xor"}, "summary_mode", "statistics, md5"),
        ({}, {"summary_mode": ["max"]}, "summary_mode", "one of statistics, md5"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], section: dict[str, Any], kind: str, gist: str) -> None:
    with pytest.raises(DumpConfigError) as found:
        parse(json.dumps(json.loads(config_text("/x", "tensor", section)) | changes))
    assert found.value.kind == f"msprobe-{kind}"
    assert gist in str(found.value)
    assert f": {kind} is " in str(found.value)


@pytest.mark.parametrize(
    ("section", "kind"),
    [
        ({"summary_mode": ["maximum"]}, "summary_mode"),
        ({"device": "npu"}, "device"),
        ({"precision": "middle"}, "precision"),
        ({"tensor_list": "fc1"}, "tensor_list"),
    ],
)
def test_what_statistics_refuse(section: dict[str, Any], kind: str) -> None:
    with pytest.raises(DumpConfigError) as found:
        parse(config_text("/x", "statistics", section))
    assert found.value.kind == f"msprobe-{kind}"


def test_exceptions_need_no_level() -> None:
    found = parse(config_text("/x", "exception_dump", {"data_mode": ["forward"]}, level="L1"))
    assert (found.task, found.data_mode) == ("exception_dump", "all")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "[" * 100_000, '{"task": NaN'])
def test_what_is_no_configuration(text: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(DumpConfigError, match="json") as found:
        parse(tmp_path / "c.json")
    assert found.value.kind == "msprobe-json"


@pytest.mark.parametrize("name", ["absent.json", "config.txt"])
def test_which_files_are_taken(name: str, tmp_path: Path) -> None:
    (tmp_path / "config.txt").write_text("{}")
    with pytest.raises(DumpConfigError) as found:
        resolve(str(tmp_path / name))
    assert found.value.kind == "msprobe-file"


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 9) | st.floats() | st.sampled_from(["L2", "tensor", "all", "md5", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
_SECTION = st.dictionaries(
    st.sampled_from(["scope", "list", "data_mode", "slice", "request_id", "summary_mode", "device", "precision",
                     "tensor_list"]), _VALUES,
)  # fmt: skip
_COMMON = st.dictionaries(
    st.sampled_from(["task", "dump_path", "rank", "step", "level", "dump_enable", "extra_info", "async_dump",
                     "precision", "risk_level", "custom_op_namespaces", "load"]), _VALUES,
)  # fmt: skip


def read(text: str) -> ProbeConfig | DumpConfigError:
    try:
        return parse(text)
    except DumpConfigError as error:
        return error


@given(_COMMON, _SECTION, st.booleans())
def test_any_file_is_read_or_refused_by_name(common: Any, section: Any, sound: bool) -> None:
    fixed = {"task": "tensor", "level": "L2", "dump_path": "/x"} if sound else {}
    found = read(json.dumps({"tensor": section, "statistics": section} | common | fixed))
    if isinstance(found, DumpConfigError):
        assert found.kind.startswith("msprobe-")
        assert len(str(found)) < 1000
    else:
        assert found.dump_path.startswith("/")
