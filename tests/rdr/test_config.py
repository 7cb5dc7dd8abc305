"""The recorder's configuration: every row of the measured tables."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.rdr.config import RdrConfig, resolve

WARNING, ERROR = logging.WARNING, logging.ERROR
OFF = "Not enabling RDR"


@pytest.fixture(autouse=True)
def _levels(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="harness")


def told(caplog: pytest.LogCaptureFixture, *texts: str, level: int = WARNING) -> None:
    """Exactly these were logged at ``level`` or above, in this order."""
    found = [record for record in caplog.records if record.levelno >= WARNING]
    assert [r.levelno for r in found] == [level] * len(texts), [r.getMessage() for r in found]
    for record, text in zip(found, texts, strict=True):
        assert text in record.getMessage()


def env(**values: str) -> dict[str, str]:
    return {f"MS_RDR_{name.upper()}": value for name, value in values.items()}


def file_of(tmp_path: Path, content: Any) -> str:
    path = tmp_path / "any_name.cfg"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


# --- environment ------------------------------------------------------------------------------------------------------


def test_nothing_configured_is_off_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    assert resolve({}) == RdrConfig(False, 1, "./", True, False)
    assert resolve(env(enable="", mode="", path="")) == RdrConfig()
    assert not caplog.records


def test_enable_alone(caplog: pytest.LogCaptureFixture) -> None:
    assert resolve(env(enable="1")) == RdrConfig(True, 1, "./", True, True)
    assert not caplog.records


@pytest.mark.parametrize("value", ["2", "true", "TRUE", "01", " 1"])
def test_enable_that_is_neither_0_nor_1(value: str, caplog: pytest.LogCaptureFixture) -> None:
    assert not resolve(env(enable=value)).enable
    told(caplog, "MS_RDR_ENABLE should be 0 or 1", OFF)


@pytest.mark.parametrize("value", ["0", "3", "abc", "02", "2 "])
def test_mode_that_is_neither_1_nor_2(value: str, caplog: pytest.LogCaptureFixture) -> None:
    assert resolve(env(enable="1", mode=value)) == RdrConfig(True, 1, given=True)
    told(caplog, "MS_RDR_MODE should be 1 or 2")


@pytest.mark.parametrize("setting", [{"mode": "2"}, {"path": "/tmp/x"}, {"enable": "0"}])
def test_any_single_variable_counts(setting: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    assert not resolve(env(**setting)).enable
    told(caplog, OFF)


# --- paths ------------------------------------------------------------------------------------------------------------

LONG = "/" + "/".join(["d" * 100] * 11)
GOOD = ["/", "/a", "/a/", "/a//b", "/a.b/c-d_e", "/a/../b", LONG[:1024], "/" + "c" * 255]
BAD = [
    (LONG[:1025], "The length is 1025, exceeding the limit of 1024", ERROR),
    ("/a b", "characters other than", ERROR), ("/~x", "characters other than", ERROR), ("/a:b", "characters", ERROR),
    ("/ü", "characters other than", ERROR), ("/a\n", "characters other than", ERROR), ("./x", "not absolute", ERROR),
    ("rel/x", "not absolute", ERROR), ("/" + "c" * 256, "256 characters, exceeding the limit of 255", WARNING),
]  # fmt: skip


@pytest.mark.parametrize("path", GOOD)
def test_good_paths(path: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    stored = path if path.endswith("/") else path + "/"
    assert resolve(env(enable="1", path=path)).path == stored
    file = file_of(tmp_path, {"rdr": {"enable": True, "mode": 1, "path": path}})
    assert resolve({}, file).path == stored
    told(caplog)


@pytest.mark.parametrize(("path", "reason", "level"), BAD)
def test_bad_paths_fall_back(path: str, reason: str, level: int, tmp_path: Path, caplog: Any) -> None:
    assert resolve(env(enable="1", path=path)).path == "./"
    told(caplog, reason, level=level)
    assert "RDR path parse from environment variable failed" in caplog.text
    assert "Detail:" in caplog.text
    caplog.clear()
    file = file_of(tmp_path, {"rdr": {"enable": True, "mode": 1, "path": path}})
    assert resolve(env(path="/from/env"), file).path == "/from/env/"
    told(caplog, reason, level=level)
    assert "RDR path parse failed" in caplog.text


def test_an_empty_path_in_the_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = file_of(tmp_path, {"rdr": {"enable": True, "mode": 1, "path": ""}})
    assert resolve({}, file).path == "./"
    told(caplog, "The path is empty")


# --- file -------------------------------------------------------------------------------------------------------------

MISSING = [f"'{key}' not found in 'rdr'" for key in ("enable", "mode", "path")]
FILES: list[tuple[Any, Sequence[str]]] = [
    ({}, ["'rdr' not exists"]),
    ([], ["'rdr' not exists"]),
    (5, ["'rdr' not exists"]),
    ({"RDR": {"enable": True}}, ["'rdr' not exists"]),
    ({"rdr": []}, [*MISSING, OFF]),
    ({"rdr": "x"}, [*MISSING, OFF]),
    ({"rdr": None}, [*MISSING, OFF]),
    ({"rdr": {"mode": 2, "path": "/p"}}, [MISSING[0], OFF]),
    ({"rdr": {"enable": 1, "mode": 2, "path": "/p"}}, ["'enable' in rdr should be boolean", OFF]),
    ({"rdr": {"enable": "true", "mode": 2, "path": "/p"}}, ["'enable' in rdr should be boolean", OFF]),
    *(
        ({"rdr": {"enable": True, "mode": mode, "path": "/p"}}, ["'mode' in rdr should be 1 or 2"])
        for mode in (3, 2.7, "2", True, None)
    ),
    (
        {"rdr": {"enable": True, "mode": 2, "path": 7}},
        ["'path' in 'rdr' should be string", "RDR path parse failed"],
    ),
    ({"rdr": {"enable": True, "mode": 2, "path": "/p", "more": 1}}, []),
    ('{"rdr": {"enable": false, "enable": true, "mode": 2, "path": "/p"}}', []),
    ('{"rdr": {"enable": true, "mode": NaN, "path": "/p"}}', ["Env config json contents"]),
    ('{"rdr": {"enable": true, "mode": 1e999, "path": "/p"}}', ["Env config json contents"]),
    ('{"rdr": {"enable": true, "mode": 2, "path": "\\ud800"}}', ["Env config json contents"]),
    ('{"rdr": ' + "[" * 100_000 + "]" * 100_000 + "}", ["Env config json contents"]),
    ({"sys": {"mem_reuse": False}}, ["'rdr' not exists"]),
]  # fmt: skip


@pytest.mark.parametrize(("content", "texts"), FILES)
def test_what_a_file_may_hold(content: Any, texts: list[str], tmp_path: Path, caplog: Any) -> None:
    resolve({}, file_of(tmp_path, content))
    told(caplog, *texts)


def test_mode_2_0_is_2(tmp_path: Path) -> None:
    config = resolve({}, file_of(tmp_path, {"rdr": {"enable": True, "mode": 2.0, "path": "/p"}}))
    assert config == RdrConfig(True, 2, "/p/", True, True)
    assert type(config.mode) is int


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ({"enable": False, "mode": 1, "path": "/f"}, RdrConfig(False, 1, "/f/", True, True)),
        ({"enable": False}, RdrConfig(False, 2, "/e/", True, True)),
        ({"mode": 1}, RdrConfig(True, 1, "/e/", True, True)),
        ({"path": "/f"}, RdrConfig(True, 2, "/f/", True, True)),
        ({"path": "rel"}, RdrConfig(True, 2, "/e/", True, True)),
        ({"enable": 1, "mode": "1", "path": 3}, RdrConfig(True, 2, "/e/", True, True)),
        ({}, RdrConfig(True, 2, "/e/", True, True)),
        (None, RdrConfig(True, 2, "/e/", True, True)),
    ],
)
def test_the_file_stands_over_the_environment_key_by_key(section: Any, expected: RdrConfig, tmp_path: Path) -> None:
    file = file_of(tmp_path, {} if section is None else {"rdr": section})
    assert resolve(env(enable="1", mode="2", path="/e"), file) == expected


def test_a_file_beats_enable_0(tmp_path: Path) -> None:
    file = file_of(tmp_path, {"rdr": {"enable": True, "mode": 1, "path": "/f"}})
    assert resolve(env(enable="0"), file).enable


def test_what_was_read_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    resolve(env(enable="1"))
    assert "After parsed" not in caplog.text
    resolve({}, file_of(tmp_path, {"rdr": {"path": "/p", "enable": True, "mode": 2}, "a": 1}))
    texts = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert texts[0].endswith('Env config json:{"a":1,"rdr":{"enable":true,"mode":2,"path":"/p"}}')
    assert texts[-1].endswith("After parsed, rdr_enable: 1, rdr mode: 2, rdr path: /p/")


def test_a_file_that_went_away(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert resolve(env(enable="1"), str(tmp_path / "gone")) == RdrConfig(True, given=True)
    told(caplog, "Env config json contents")


def test_a_file_that_is_a_pipe(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert resolve(env(enable="1"), str(tmp_path / "pipe")) == RdrConfig(True, given=True)
    told(caplog, "a pipe")


def test_other_systems_have_no_recorder(caplog: pytest.LogCaptureFixture) -> None:
    assert not resolve(env(enable="1"), platform="darwin").enable
    told(caplog, "only linux is supported", OFF)


@pytest.mark.parametrize(
    ("section", "reuse", "level"),
    [
        ({"mem_reuse": False}, False, None),
        ({"mem_reuse": True}, True, None),
        ({"mem_reuse": "no"}, True, logging.INFO),
        ({}, True, WARNING),
        (None, True, logging.INFO),
    ],
)
def test_mem_reuse(section: Any, reuse: bool, level: int | None, tmp_path: Path, caplog: Any) -> None:
    file = file_of(tmp_path, {} if section is None else {"sys": section})
    assert resolve({}, file) == RdrConfig(mem_reuse=reuse)
    about_sys = ("'sys' isn't existed", "not found in 'sys'", "in sys should be boolean")
    levels = [r.levelno for r in caplog.records if any(text in r.getMessage() for text in about_sys)]
    assert levels == ([] if level is None else [level])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
sections = st.dictionaries(st.sampled_from(["enable", "mode", "path", "mem_reuse", "x"]), json_values, max_size=4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=100)
@given(st.dictionaries(st.sampled_from(["rdr", "sys", "x"]), sections | json_values) | json_values)
def test_any_json_gives_a_configuration(tmp_path: Path, content: Any) -> None:
    config = resolve(env(enable="1"), file_of(tmp_path, content))
    assert isinstance(config.enable, bool)
    assert config.mode in (1, 2)
    assert config.path == "./" or config.path.startswith("/")
