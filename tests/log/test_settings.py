"""The environment of the log, as measured on 2.10.0."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import SettingError
from harness.log.settings import LogSettings, read
from harness.log.submodules import NAMES, parse_levels


def test_nothing_set_gives_the_defaults() -> None:
    assert read({}) == LogSettings()
    assert read(dict.fromkeys(("GLOG_v", "GLOG_logtostderr", "logger_maxBytes", "MS_SUBMODULE_LOG_v"), "")) == read({})


@pytest.mark.parametrize("value", ["0", "1", "2", "3", "4", " 1 "])
def test_levels(value: str) -> None:
    found = read({"GLOG_v": value, "GLOG_stderrthreshold": value})
    assert found.level == found.stderr_level == int(value)


@pytest.mark.parametrize("name", ["GLOG_v", "GLOG_stderrthreshold"])
@pytest.mark.parametrize("value", ["5", "-1", "02", "abc", " ", "1.0", "²"])
def test_levels_that_are_refused(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name) as caught:
        read({name: value})
    assert isinstance(caught.value, SettingError)
    assert repr(value.strip()) in str(caught.value)


@pytest.mark.parametrize("value", ["2", "yes", "-1", " "])
def test_where_to(value: str) -> None:
    with pytest.raises(SettingError, match="GLOG_logtostderr"):
        read({"GLOG_logtostderr": value})


def test_files_need_a_directory() -> None:
    with pytest.raises(SettingError, match="GLOG_log_dir"):
        read({"GLOG_logtostderr": "0"})
    assert read({"GLOG_logtostderr": "1", "GLOG_log_dir": "/x"}).folder is None
    assert read({"GLOG_log_dir": "/x"}).folder is None


@pytest.mark.parametrize(("name", "fine"), [("a b", False), ("a$", False), ("é", False), ("a@-_.:\\b", True)])
def test_names_of_new_directories_are_narrow(tmp_path: Path, name: str, fine: bool) -> None:
    environ = {"GLOG_logtostderr": "0", "GLOG_log_dir": str(tmp_path / name)}
    if fine:
        assert read(environ).base == str(tmp_path / name)
    else:
        with pytest.raises(SettingError, match="GLOG_log_dir"):
            read(environ)
        (tmp_path / name).mkdir()
        assert read(environ).base == str(tmp_path / name)


@pytest.mark.parametrize("name", ["logger_maxBytes", "logger_backupCount"])
def test_sizes_are_checked_in_full_only_where_there_are_files(tmp_path: Path, name: str) -> None:
    files = {"GLOG_logtostderr": "0", "GLOG_log_dir": str(tmp_path)}
    assert read({name: "-1"})
    for environ in ({name: "x"}, {name: "1.5"}, {**files, name: "-1"}, {**files, name: "x"}):
        with pytest.raises(SettingError, match=name):
            read(environ)
    found = read({**files, name: "0"})
    assert 0 in (found.max_bytes, found.backup_count)


@pytest.mark.parametrize(("value", "mebibytes"), [("1", 1), ("7", 7), ("0", 50), ("x", 50), ("-1", 50)])
def test_the_size_of_own_files_ignores_what_it_cannot_read(value: str, mebibytes: int) -> None:
    assert read({"GLOG_max_log_size": value, "GLOG_log_max": "3"}).max_log_size == mebibytes << 20


@pytest.mark.parametrize(
    ("environ", "rank"),
    [
        ({}, "0"),
        ({"MS_NODE_ID": "3"}, "3"),
        ({"OMPI_COMM_WORLD_RANK": "2", "MS_NODE_ID": "3"}, "2"),
        ({"RANK_ID": "1", "MS_NODE_ID": "3"}, "1"),
        ({"RANK_ID": "1", "OMPI_COMM_WORLD_RANK": "1"}, "1"),
        ({"RANK_ID": "", "OMPI_COMM_WORLD_RANK": "4"}, "4"),
    ],
)
def test_the_rank_of_the_directory(tmp_path: Path, environ: dict[str, str], rank: str) -> None:
    found = read({"GLOG_logtostderr": "0", "GLOG_log_dir": str(tmp_path), **environ})
    assert found.folder == f"{tmp_path}/rank_{rank}/logs"


def test_ranks_that_differ_warn_and_ranks_that_leave_the_directory_are_refused(tmp_path: Path) -> None:
    files = {"GLOG_logtostderr": "0", "GLOG_log_dir": str(tmp_path)}
    with pytest.warns(UserWarning, match="RANK_ID"):
        found = read({**files, "RANK_ID": "1", "OMPI_COMM_WORLD_RANK": "2"})
    assert found.folder == f"{tmp_path}/rank_1/logs"
    with pytest.raises(SettingError, match="rank"):
        read({**files, "RANK_ID": "../../x"})


@pytest.mark.parametrize(
    ("text", "levels", "problems"),
    [
        ("{IR:3}", {"IR": 3}, 0),
        ("{ IR : 3 , KERNEL:0 }", {"IR": 3, "KERNEL": 0}, 0),
        ("{IR:1,IR:3}", {"IR": 3}, 0),
        ("{CORE:0} xx", {"CORE": 0}, 0),
        ("{IR:3}}", {"IR": 3}, 0),
        ("{ir:1,IR:4}", {"IR": 4}, 1),
        ("{IR:1,foo:1,KERNEL:9}", {"IR": 1}, 2),
        ("{IR:12}", {}, 1),
        ("{IR:01}", {}, 1),
        ("{IR:1", {}, 1),
        ("{IR:1,}", {}, 1),
        ("{foo:1,IR:9,}", {}, 1),
        ("{}", {}, 1),
        ("{IR:x}", {}, 1),
        ("IR:1", {}, 1),
        ("{IR:-1}", {}, 1),
        ("{:1}", {}, 1),
        ("{IR=1}", {}, 1),
        ("{IR:1 2}", {}, 1),
        ("{I R:1}", {}, 1),
        ("{IR:1;KERNEL:1}", {}, 1),
        ("{", {}, 1),
    ],
)
def test_levels_of_submodules(text: str, levels: dict[str, int], problems: int) -> None:
    found = parse_levels(text)
    assert found.levels == levels
    assert len(found.problems) == problems


@given(st.text("{}:,IRKE 019x-", max_size=12))
def test_any_text_gives_levels_or_problems(text: str) -> None:
    found = parse_levels(text)
    assert found.levels or found.problems
    assert set(found.levels) <= set(NAMES)
    assert set(found.levels.values()) <= set(range(5))


@given(st.dictionaries(st.sampled_from(NAMES), st.integers(0, 4), min_size=1))
def test_what_is_written_is_read(levels: dict[str, int]) -> None:
    found = parse_levels("{" + ",".join(f"{name}:{level}" for name, level in levels.items()) + "}")
    assert found.levels == levels
    assert not found.problems
