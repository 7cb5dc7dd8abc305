"""File names, modules, ranks: the grammar and its edges."""

from __future__ import annotations

import logging
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.log.submodules import NAMES
from harness.rdr import names

GRAMMAR = re.compile(
    r"^(?P<module>[A-Z_]*)\.(?P<name>.*)\.(?P<ts>\d{14})(?:_(?P<n>\d{4,}))?\.(?P<ext>ir|pb|txt|json|dat)$"
)

module = st.sampled_from(NAMES)
plain = st.text(st.characters(codec="utf-8", exclude_characters="\n/\0"), max_size=20)
stamp = st.integers(0, 10**14 - 1).map("{:014d}".format)
number = st.none() | st.integers(0, 10**6)


@given(module, plain, stamp, st.sampled_from(["ir", "pb", "txt", "json"]), number)
def test_a_name_is_read_as_it_was_written(mod: str, name: str, ts: str, ext: str, num: int | None) -> None:
    text = names.file_name(mod, name, ts, ext, num)
    assert GRAMMAR.match(text)
    assert names.parse(text) == names.FileName(mod, name, ts, ext, num)


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    found = names.parse(text)
    if found is not None and found.module:
        assert names.file_name(found.module, found.name, found.timestamp, found.extension, found.number) == text


def test_the_counter_has_four_digits_and_more_where_they_are_needed() -> None:
    assert names.file_name("PIPELINE", "00_bootstrap", "2" * 14, "ir", 7).endswith("_0007.ir")
    assert names.file_name("PIPELINE", "00_bootstrap", "2" * 14, "ir", 12345).endswith("_12345.ir")


def test_the_documented_name() -> None:
    assert names.parse("hwopt_d_before_graph_3.ir") == names.FileName("", "hwopt_d_before_graph_3", "", "ir")
    assert names.parse("hwopt_d_before_graph_.ir") is None


def test_a_timestamp_is_local_time(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {}
    for zone in ("UTC0", "EST+10"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        found[zone] = time.mktime(time.strptime(names.timestamp(), "%Y%m%d%H%M%S"))
    monkeypatch.undo()
    time.tzset()
    assert abs(found["UTC0"] - found["EST+10"]) < 100  # the same moment, read in either zone


def test_64_characters_are_kept_and_65_are_cut(caplog: pytest.LogCaptureFixture) -> None:
    assert names.limited("n" * 64) == "n" * 64
    assert not caplog.records
    assert names.limited("n" * 64 + "x") == "n" * 64
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "name length is 65, exceeding the limit 64" in record.getMessage()


@pytest.mark.parametrize(
    ("environ", "rank"),
    [
        ({}, 0),
        ({"RANK_ID": ""}, 0),
        ({"RANK_ID": "3"}, 3),
        ({"OMPI_COMM_WORLD_RANK": "2"}, 2),
        ({"RANK_ID": "3", "OMPI_COMM_WORLD_RANK": "2"}, 2),
        ({"RANK_ID": "007"}, 7),
        ({"RANK_ID": "3x"}, 3),
        ({"RANK_ID": "-1"}, 4294967295),
        ({"DEVICE_ID": "5", "MS_NODE_ID": "5", "SLURM_PROCID": "5", "PMI_RANK": "5", "MS_WORKER_NUM": "5"}, 0),
    ],
)
def test_ranks_as_measured(environ: dict[str, str], rank: int) -> None:
    assert names.rank_of(environ) == rank


@pytest.mark.parametrize("text", ["abc", "99999999999", "x3", "-", "²"])
def test_a_rank_that_is_none_is_0_and_says_so(text: str, caplog: pytest.LogCaptureFixture) -> None:
    assert names.rank_of({"RANK_ID": text}) == 0
    assert "RANK_ID" in caplog.text


@pytest.mark.parametrize(
    ("former", "stamp", "expected"),
    [
        ("", "20260101000000", "20260101000000"),
        ("20260101000000", "20260101000001", "20260101000001"),
        ("20260101000005", "20260101000001", "20260101000006"),
        ("20261399000000", "20260101000000", "20260101000000"),
        ("99991231235959", "99991231235959", "99991231235959"),
    ],
)
def test_the_second_after(former: str, stamp: str, expected: str) -> None:
    assert names.after(former, stamp) == expected
