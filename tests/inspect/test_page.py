"""The page of an inspection: every finding, pictures with the right pixels, no address outside, hostile names."""

from __future__ import annotations

import base64
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_inspect import write_statistics
from harness.capture import read_tree
from harness.cli import main
from harness.inspect.inspecting import examined
from harness.report.health import page
from harness.report.histograms import EDGES, histogram
from harness.report.rasters import BAD, UNKNOWN, ZERO, coloured, folded, logarithms, mosaic, png
from harness.testing.sick import draw, make
from tests.inspect.made import Made

GOLDEN = Path(__file__).parents[2] / "golden" / "tests" / "gate" / "test_networks" / "test_mlp.h5"


def decoded(address: str) -> np.ndarray:  # type: ignore[type-arg]
    """The pixels of a picture that this project wrote, as colours."""
    raw = base64.b64decode(address.partition(",")[2])
    width, height = (int.from_bytes(raw[at : at + 4], "big") for at in (16, 20))
    depth, at, parts = (3 if raw[25] == 2 else 1), 8, {}
    while at < len(raw):
        size = int.from_bytes(raw[at : at + 4], "big")
        parts[raw[at + 4 : at + 8]] = raw[at + 8 : at + 8 + size]
        at += size + 12
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, 1 + depth * width)[:, 1:]
    if depth == 3:
        return rows.reshape(height, width, 3)
    return np.frombuffer(parts[b"PLTE"], np.uint8).reshape(-1, 3)[rows]


def test_colours_are_those_of_the_numbers() -> None:
    pixels = decoded(png(coloured(logarithms(np.array([[1.0, 10.0, 0.0, np.inf, np.nan]])), 0, 1)))
    assert pixels.shape == (1, 5, 3)
    assert [tuple(each) for each in pixels[0, 2:]] == [ZERO, BAD, UNKNOWN]
    assert pixels[0, 0].sum() < pixels[0, 1].sum()
    sheet = mosaic(np.stack([np.zeros((2, 2)), np.eye(2)]))
    assert tuple(sheet[0, 0]) == BAD
    assert tuple(sheet[0, 4]) == (255, 255, 255)


def test_a_page_shows_what_was_found() -> None:
    report, run = examined(make("dead units", 1).capture())
    text = page(report, run)
    assert all(each.kind in text and each.text.split(" ")[0] in text for each in report.findings)
    assert "<h2>Loss</h2>" in text
    assert text.count('class="strip"') > 10
    assert decoded(re.findall(r'data-first="0"[^>]* src="(data:[^"]+)"', text)[0]).shape == (
        1,
        len(report.iterations),
        3,
    )
    assert not re.search(r"https?://", text)
    HTMLParser().feed(text)


def test_feature_maps_of_a_convolution() -> None:
    report, run = examined(draw(np.random.default_rng(4), "conv").having(steps=2).capture())
    assert page(report, run).count('class="map"') >= 2


@given(st.lists(st.floats(width=32) | st.sampled_from([0.0, -0.0, 1e-30, 1e30]), min_size=1, max_size=60))
def test_a_histogram_counts_every_element(numbers: list[float]) -> None:
    array = np.array(numbers, np.float32)
    shares = histogram(array)
    assert shares.sum() == pytest.approx(1)
    assert shares[0] == pytest.approx(np.mean(~np.isfinite(array)))
    assert shares[-1] == pytest.approx(np.mean(array == 0))
    for at in range(len(EDGES) + 1):
        high = 10.0 ** EDGES[at - 1] if at else np.inf
        low = 10.0 ** EDGES[at] if at < len(EDGES) else 0.0
        sizes = np.abs(array[np.isfinite(array) & (array != 0)].astype(np.float64))
        near = np.isclose(np.log10(sizes)[:, None] * 2, np.rint(np.log10(sizes) * 2)[:, None]).any()
        assert near or shares[1 + at] * len(array) == pytest.approx(((sizes >= low) & (sizes < high)).sum())


def test_a_smaller_table_keeps_what_is_bad() -> None:
    table = np.zeros((1000, 700))
    table[123, 456], table[5, 6] = np.inf, np.nan
    small = folded(table, 10, 7)
    assert small.shape == (10, 7)
    assert np.argwhere(np.isinf(small)).tolist() == [[1, 4]]
    assert not np.isnan(small).any()


def test_a_long_run_is_drawn_from_its_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_statistics(tmp_path, 40, 300, operands=0)
    monkeypatch.setattr("harness.inspect.columns.columns_of.__defaults__", (600,))
    report, run = examined(read_tree(str(tmp_path)))
    text = page(report, run)
    assert len(report.iterations) < 20
    tiles = re.findall(r'data-first="0"[^>]* src="(data:[^"]+)"', text)
    assert [decoded(each).shape for each in tiles] == [(300, 40, 3)]
    assert not (decoded(tiles[0]) == UNKNOWN).all(axis=2).any()


@pytest.mark.parametrize(("room", "columns"), [(300 * 40, 40), (300 * 11, 11), (1, 1)])
def test_a_run_of_any_size_is_drawn_with_so_many_elements(
    room: int, columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_statistics(tmp_path, 40, 300, operands=0)
    monkeypatch.setattr("harness.report.health.ELEMENTS", room)
    text = page(*examined(read_tree(str(tmp_path))))
    tiles = re.findall(r'data-first="0"[^>]* src="(data:[^"]+)"', text)
    assert [decoded(each).shape for each in tiles] == [(300, columns, 3)]


def test_channels_that_are_dead_or_saturated_are_marked() -> None:
    made, x = Made(), np.random.default_rng(0).normal(size=(4, 3, 5, 5)).astype(np.float32)
    made.op(
        "Default/a-Sigmoid/Sigmoid-op0", "Sigmoid", [x], [np.where(np.arange(3)[:, None, None] == 1, 1, x * 0.1 + 0.5)]
    )
    made.op("Default/b-ReLU/ReLU-op0", "ReLU", [x], [x * (np.arange(3) > 0)[:, None, None]])
    text = page(*examined(made.capture()))
    assert "1 of 3 are saturated" in text
    assert "1 of 3 channels are 0 for every sample" in text


def test_names_from_elsewhere_are_escaped() -> None:
    run = Made()
    name = 'Default/<script>alert("x")</script>/Log-op0'
    with np.errstate(all="ignore"):
        run.op(name, "Log", [np.zeros(2, np.float32)], [np.log(np.zeros(2, np.float32))])
    assert page(*examined(run.capture())).count("<script") == 2


@pytest.mark.sampled(1)
@pytest.mark.parametrize("run", ["cpu/tensor", "ascend-o2/statistic"])
def test_the_command_writes_it(run: str, tmp_path: Path) -> None:
    assert main(["inspect", str(GOLDEN), "--run", run, "--report", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
