"""Transforms of waveforms; more beside the real MindSpore in ``test_programs``."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset import audio

WAVE = np.array([[0.5, -0.9, 0.25], [0.0, 1.0, -0.5]], np.float32)


def test_a_filter_is_its_difference_equation() -> None:
    given = audio.LFilter([2.0, 0.5], [1.0, 0.25], clamp=False)(WAVE)
    out = np.zeros_like(WAVE)
    for at in range(3):
        before = (0.25 * WAVE[:, at - 1] - 0.5 * out[:, at - 1]) if at else 0
        out[:, at] = (WAVE[:, at] + before) / 2
    np.testing.assert_allclose(given, out, rtol=1e-6)


def test_only_floats_are_filtered() -> None:
    with pytest.raises(StateError, match="of floats is needed, got int32"):
        audio.LowpassBiquad(4000, 1000.0)(WAVE.astype(np.int32))


def test_what_a_volume_does_not_take() -> None:
    with pytest.raises(SettingTypeError, match="Vol: gain_type is 'db'"):
        audio.Vol(1.5, "db")
    with pytest.raises(SettingError, match=r"Vol: the gain of an? amplitude must be above 0"):
        audio.Vol(-1.0)
    assert (audio.Vol(4.0, audio.GainType.POWER)(WAVE) == np.clip(2 * WAVE, -1, 1)).all()
