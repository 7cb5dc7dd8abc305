"""The context and the seeds: defaults, changes, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import context, seed
from harness.errors import SettingError, SettingTypeError, UnsupportedError


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(context, "_values", {})
    state = np.random.get_state()
    yield
    np.random.set_state(state)


@pytest.mark.parametrize(
    ("limit", "error"),
    [
        (0, SettingError),
        (-1, SettingError),
        (True, SettingTypeError),
        (1.5, SettingTypeError),
        (None, SettingTypeError),
    ],
)
def test_a_limit_of_recursion(limit: Any, error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("harness.framework.context._log.warning", told.append)
    context.set_recursion_limit(1000)
    assert not told
    context.set_recursion_limit(3)
    assert "set_recursion_limit: 3 has no effect here" in told[0]
    assert context.get_context("max_call_depth") == 1000
    with pytest.raises(error, match="recursion_limit must be"):
        context.set_recursion_limit(limit)


def test_defaults_are_mindspores() -> None:
    assert context.get_context("mode") == context.PYNATIVE_MODE
    assert context.get_context("device_target") == "CPU"
    assert context.get_context("reserve_class_name_in_scope") is True


def test_changes() -> None:
    context.set_context(mode=context.GRAPH_MODE, max_call_depth=5)
    assert context.get_context("mode") == 0
    assert context.get_context("max_call_depth") == 5
    context.set_device("Ascend", 3)
    assert (context.get_context("device_target"), context.get_context("device_id")) == ("Ascend", 3)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"mode": 3}, SettingError, "GRAPH_MODE"),
        ({"mode": True}, SettingTypeError, "must be int, got bool"),
        ({"moed": 0}, SettingError, "did you mean mode"),
        ({"device_target": "TPU"}, SettingError, "CPU"),
        ({"device_id": -1}, SettingError, "4095"),
        ({"max_call_depth": 0}, SettingError, "greater than 0"),
        ({"save_graphs": "x"}, SettingTypeError, "bool or int"),
        ({"deterministic": "YES"}, SettingError, "ON"),
        ({"reserve_class_name_in_scope": 1}, SettingTypeError, "must be bool"),
    ],
)
def test_refusals_change_nothing(settings: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        context.set_context(save_graphs_path="elsewhere", **settings)
    assert context.get_context("save_graphs_path") == "."


def test_unknown_setting_is_not_read_either() -> None:
    with pytest.raises(ValueError, match="get_context: 'nope' is not a setting"):
        context.get_context("nope")


def test_a_dict_setting_cannot_be_changed_from_outside() -> None:
    context.get_context("jit_config")["jit_level"] = "O1"
    assert context.get_context("jit_config") == {}


def test_one_process_only() -> None:
    context.set_auto_parallel_context(parallel_mode="stand_alone", device_num=1)
    assert context.get_auto_parallel_context("parallel_mode") == "stand_alone"
    with pytest.raises(UnsupportedError, match="parallel_mode='data_parallel'"):
        context.set_auto_parallel_context(parallel_mode="data_parallel")
    with pytest.raises(SettingError, match="'nope' is not a setting"):
        context.set_auto_parallel_context(nope=1)


def test_seed_of_numpy_follows() -> None:
    seed.set_seed(11)
    first = np.random.rand()
    seed.set_seed(11)
    assert np.random.rand() == first
    assert seed.get_seed() == 11


@pytest.mark.parametrize(
    ("value", "error"), [(-1, ValueError), (2**32, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_bad_seeds(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="set_seed"):
        seed.set_seed(value)


def test_without_any_seed_operators_choose_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seed, "_global", [None])
    monkeypatch.setattr(seed, "_counters", {})
    assert seed.operator_seeds("dropout") == (0, 0)
    assert seed.operator_seeds("dropout", 5) == (0, 5)
    with pytest.raises(SettingError, match="at least 0, got -1"):
        seed.operator_seeds("dropout", -1)


# --- env_config_path --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["{}", "[1]", "5", "null", '{"rdr": 3, "sys": {"mem_reuse": "yes"}}'])
def test_any_json_file_is_taken_and_its_real_path_kept(text: str, tmp_path: Path, caplog: Any) -> None:
    (tmp_path / "any.name").write_text(text)
    (tmp_path / "link").symlink_to(tmp_path / "any.name")
    context.set_context(env_config_path=f"{tmp_path}/./link")
    assert context.get_context("env_config_path") == str((tmp_path / "any.name").resolve())
    assert "deprecated" in caplog.text


@pytest.mark.parametrize("value", [5, None, b"x", ["a"]])
def test_a_configuration_path_is_a_str(value: Any) -> None:
    with pytest.raises(TypeError, match="'env_config_path' must be str"):
        context.set_context(env_config_path=value)
    assert context.get_context("env_config_path") == ""


@pytest.mark.parametrize("name", ["gone", "", "directory"])
def test_a_configuration_file_must_exist(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "directory").mkdir()
    with pytest.raises(ValueError, match="is not exists"):
        context.set_context(env_config_path=name)
    assert context.get_context("env_config_path") == ""


@pytest.mark.parametrize("data", [b"", b"{", b"{'a': 1}", b"\xef\xbb\xbf{}", b"\xff", b"[" * 100_000])
def test_a_configuration_file_is_json(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_bytes(data)
    with pytest.raises(ValueError, match=r"\n.*open or load of the 'env_config_path' file '.*c.json' failed"):
        context.set_context(env_config_path=str(tmp_path / "c.json"))
    assert context.get_context("env_config_path") == ""
