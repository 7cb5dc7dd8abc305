"""The configuration: measured random files, any JSON, files without JSON, and the messages."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dump import config as config_module
from harness.dump.config import DumpConfig, parse, read_file, resolve
from harness.dump.generations import TABLE
from harness.errors import DumpConfigError, UnsupportedError
from tests.dump.build import DATA, config

RANDOM: list[tuple[str, str]] = json.loads((DATA / "config_random.json").read_text())

GOOD: dict[str, Any] = {
    "common_dump_settings": {
        "dump_mode": 0, "path": "/dump", "net_name": "Net", "iteration": "all", "input_output": 0, "kernels": [],
        "support_device": [0], "op_debug_mode": 0, "saved_data": "tensor", "initial_iteration": 0,
    },
    "e2e_dump_settings": {"enable": True, "trans_flag": True, "sample_mode": 0, "sample_num": 100},
}  # fmt: skip


@pytest.mark.parametrize(("text", "kind"), RANDOM, ids=[f"{n}-{kind}" for n, (_, kind) in enumerate(RANDOM)])
def test_random_files_are_refused_as_measured(text: str, kind: str) -> None:
    with pytest.raises(DumpConfigError) as caught:
        parse(text, environ={})
    assert caught.value.kind == kind


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**65), 2**65) | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
keys = st.sampled_from(
    [(section, key) for section in GOOD for key in (*GOOD[section], "overflow_number", "stat_calc_mode", "unknown")]
)


@given(
    st.lists(st.tuples(keys, values | st.just("<absent>")), max_size=4),
    st.dictionaries(st.text(max_size=5), values),
)
def test_any_file_gives_a_configuration_or_one_named_error(
    changes: list[tuple[tuple[str, str], Any]], extra: dict[str, Any]
) -> None:
    given_file = json.loads(json.dumps(GOOD)) | {f"x{key}": value for key, value in extra.items()}
    for (section, key), value in changes:
        if value == "<absent>":
            given_file[section].pop(key, None)
        else:
            given_file[section][key] = value
    try:
        read = parse(json.dumps(given_file), environ={})
    except DumpConfigError as error:
        read = error
    if isinstance(read, DumpConfigError):
        assert read.kind
        assert str(read).startswith("dump configuration: ")
    else:
        assert read.dump_mode in (0, 1)
        assert read.input_output in (0, 1, 2)
        assert 0 <= read.initial_iteration < 2**32
        assert read.path.startswith("/")


@given(
    st.fixed_dictionaries(
        {
            "dump_mode": st.integers(0, 1),
            "net_name": st.from_regex(r"[A-Za-z0-9_-]{1,20}", fullmatch=True),
            "path": st.from_regex(r"/[A-Za-z0-9/_-]{0,20}", fullmatch=True),
            "iteration": st.just("all") | st.from_regex(r"[0-9|-]{1,8}", fullmatch=True),
            "input_output": st.integers(0, 2),
            "initial_iteration": st.integers(0, 2**32 - 1),
            "support_device": st.lists(st.integers(0, 7), unique=True),
        }
    )
)
def test_valid_fields_mean_what_they_say(fields: dict[str, Any]) -> None:
    read = parse(json.dumps(GOOD | {"common_dump_settings": GOOD["common_dump_settings"] | fields}), environ={})
    for key, value in fields.items():
        found = getattr(read, key)
        assert (found.text if key == "iteration" else list(found) if isinstance(found, tuple) else found) == value
    assert read.wants_inputs == (fields["input_output"] != 2)
    assert read.wants_outputs == (fields["input_output"] != 1)


def test_a_failed_configuration_leaves_nothing_behind() -> None:
    """The original's parser keeps fields of a file it refused; here each file is read from the start."""
    refused = {"op_debug_mode": 3, "initial_iteration": -1}
    with pytest.raises(DumpConfigError, match="initial_iteration"):
        config(Path("/dump"), **refused)
    assert config(Path("/dump")).op_debug_mode == 0
    with pytest.raises(DumpConfigError) as caught:
        config(Path("/dump"), overflow_number=0)
    assert caught.value.kind == "overflow-not-3"


def test_the_path_may_come_from_the_environment() -> None:
    text = json.dumps(GOOD | {"common_dump_settings": GOOD["common_dump_settings"] | {"path": ""}})
    assert parse(text, environ={"MS_DIAGNOSTIC_DATA_PATH": "/diag"}).path == "/diag/debug_dump"


def test_a_message_says_file_field_value_and_what_is_accepted(tmp_path: Path) -> None:
    file = tmp_path / "d.json"
    file.write_text(json.dumps(GOOD | {"common_dump_settings": GOOD["common_dump_settings"] | {"input_output": 7}}))
    with pytest.raises(DumpConfigError) as caught:
        parse(file, environ={})
    message = str(caught.value)
    for part in (str(file), "common_dump_settings.input_output", " 7;", "accepted: 0 (both), 1 (inputs) or 2"):
        assert part in message


def test_long_values_are_cut_in_messages() -> None:
    with pytest.raises(DumpConfigError) as caught:
        config(Path("/dump"), net_name="." * 100_000)
    assert len(str(caught.value)) < 400


def test_the_raw_bytes_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "d.json"
    file.write_bytes(b"\xef\xbb\xbf \n" + json.dumps(GOOD).encode() + b" trailing \xff")
    assert parse(file, environ={}).raw == file.read_bytes()


@pytest.mark.parametrize("backend", ["cpu", "CPU"])
def test_backends_are_named_in_any_case(backend: str) -> None:
    assert parse(json.dumps(GOOD), backend=backend, environ={}).backend == "cpu"


def test_an_unknown_backend_names_the_known_ones() -> None:
    with pytest.raises(UnsupportedError, match=r"cpu 2\.7-2\.10"):
        parse(json.dumps(GOOD), backend="abacus")
    assert ("2.7-2.10", "cpu") in TABLE


class TestFiles:
    """``MINDSPORE_DUMP_CONFIG`` names a file that is none."""

    @pytest.mark.parametrize(
        ("name", "kind"), [("missing.json", "file-missing"), ("c.JSON", "file-suffix"), ("c.", "file-suffix")]
    )
    def test_names(self, tmp_path: Path, name: str, kind: str) -> None:
        if kind != "file-missing":
            (tmp_path / name).write_text("{}")
        with pytest.raises(DumpConfigError) as caught:
            resolve(str(tmp_path / name))
        assert caught.value.kind == kind

    def test_the_suffix_is_that_of_the_resolved_path(self, tmp_path: Path) -> None:
        (tmp_path / "real.json").write_text("{}")
        (tmp_path / "link").symlink_to("real.json")
        assert resolve(str(tmp_path / "link")) == tmp_path / "real.json"

    def test_a_directory_a_pipe_and_a_device_are_no_files(self, tmp_path: Path) -> None:
        (tmp_path / "d.json").mkdir()
        os.mkfifo(tmp_path / "p.json")
        for path in (tmp_path / "d.json", tmp_path / "p.json", Path("/dev/zero")):
            with pytest.raises(DumpConfigError) as caught:
                read_file(str(path))
            assert caught.value.kind == "file-open"

    def test_size_is_bounded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(config_module, "MAX_BYTES", 100)
        (tmp_path / "d.json").write_bytes(b" " * 101)
        with pytest.raises(DumpConfigError, match="larger than 100 bytes"):
            read_file(str(tmp_path / "d.json"))


def test_a_configuration_is_frozen() -> None:
    read = parse(json.dumps(GOOD), environ={})
    assert isinstance(read, DumpConfig)
    with pytest.raises(AttributeError):
        read.dump_mode = 1  # type: ignore[misc]
