"""The page of an inspection: every finding, pictures with the right pixels, no address outside, hostile names."""

from __future__ import annotations

import base64
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from harness.cli import main
from harness.inspect.inspecting import examined
from harness.report.health import page
from harness.report.rasters import BAD, UNKNOWN, ZERO, coloured, logarithms, mosaic, png
from harness.testing.sick import draw, make
from tests.inspect.made import Made

GOLDEN = Path(__file__).parents[2] / "golden" / "tests" / "gate" / "test_networks" / "test_mlp.h5"


def decoded(address: str) -> np.ndarray:  # type: ignore[type-arg]
    """The pixels of a picture that this project wrote."""
    raw = base64.b64decode(address.partition(",")[2])
    width, height = (int.from_bytes(raw[at : at + 4], "big") for at in (16, 20))
    size = int.from_bytes(raw[33:37], "big")
    rows = np.frombuffer(zlib.decompress(raw[41 : 41 + size]), np.uint8).reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


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
    assert decoded(re.findall(r'src="(data:[^"]+)"', text)[0]).shape == (1, len(report.iterations), 3)
    assert not re.search(r"https?://", text)
    HTMLParser().feed(text)


def test_feature_maps_of_a_convolution() -> None:
    report, run = examined(draw(np.random.default_rng(4), "conv").having(steps=2).capture())
    assert page(report, run).count('class="map"') >= 2


def test_names_from_elsewhere_are_escaped() -> None:
    run = Made()
    name = 'Default/<script>alert("x")</script>/Log-op0'
    with np.errstate(all="ignore"):
        run.op(name, "Log", [np.zeros(2, np.float32)], [np.log(np.zeros(2, np.float32))])
    assert "<script>" not in page(*examined(run.capture()))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("run", ["cpu/tensor", "ascend-o2/statistic"])
def test_the_command_writes_it(run: str, tmp_path: Path) -> None:
    assert main(["inspect", str(GOLDEN), "--run", run, "--report", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
