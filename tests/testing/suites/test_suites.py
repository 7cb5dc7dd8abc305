"""The suites: what is ours passes them, and what breaks one of their rules does not."""

from __future__ import annotations

import pytest

from harness.devices.formats import FORMATS
from harness.testing import BackendSuite, EngineSuite, FormatSuite, ReplayerSuite, Suite
from tests.testing.suites.own import Emulated, Emulator, Engine
from tests.testing.suites.planted import ALL, Planted, draw

SUITES = (EngineSuite, BackendSuite, FormatSuite, ReplayerSuite)
BACKENDS = ("cpu", "gpu", "ascend-o0", "ascend-o1", "ascend-o2")
#: shapes by the rank of a format
SHAPES = {4: ((2, 3, 4, 5), (1, 16, 2, 2)), 5: ((2, 3, 2, 4, 5),), 0: ((3, 5), (16, 32), (2, 17, 33))}
OWN_SHAPES = {"FRACTAL_Z_C04": ((2, 3, 4, 5), (5, 4, 2, 2))}
KNOWN_SHAPE_ALONE = ("FRACTAL_ZN_LSTM", "FRACTAL_ZN_RNN", "ND_RNN_BIAS")
OURS = [name for name in FORMATS if not FORMATS.get(name).shape_only]


def test_engine() -> None:
    assert Engine().broken() == {}


@pytest.mark.parametrize("name", BACKENDS)
def test_backend(name: str) -> None:
    assert type("Own", (Emulated,), {"backend": name})().broken() == {}


def test_backend_torch() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed; get it with: pip install 'pytest-msdump[torch]'")
    assert type("Own", (Emulated,), {"backend": "torch"})().broken() == {}


@pytest.mark.parametrize("name", OURS)
def test_format(name: str) -> None:
    shapes = OWN_SHAPES.get(name) or SHAPES[FORMATS.get(name).rank]
    assert type("Own", (FormatSuite,), {"format": name, "shapes": shapes})().broken() == {}


def test_formats_of_which_the_shape_alone_is_known() -> None:
    assert [name for name in FORMATS if name not in OURS] == sorted(KNOWN_SHAPE_ALONE)


def test_replayer() -> None:
    assert Emulator().broken() == {}


@pytest.mark.parametrize("planted", ALL, ids=lambda each: each.id)
def test_a_planted_violation_fails(planted: Planted) -> None:
    assert planted.told()


@pytest.mark.parametrize("seed", range(3))
def test_twenty_drawn_violations_each_fail(seed: int) -> None:
    drawn = draw(20, seed)
    assert len({each.id for each in drawn}) == 20
    assert [each.id for each in drawn if not each.told()] == []


@pytest.mark.parametrize("suite", SUITES)
def test_every_rule_has_a_violation(suite: type[Suite]) -> None:
    planted = {each.rule for each in ALL if isinstance(each.suite, suite)}
    assert planted == set(suite.rules())
