"""The ratios that are measured before a release: what they are, and what they can say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import release


def test_the_bound_is_above_the_median_as_often_as_promised() -> None:
    draws = np.random.default_rng(3).standard_exponential((4000, 15))
    bounds = np.sort(draws, axis=1)[:, release.order_of_bound(15) - 1]
    assert release.CERTAINTY <= np.mean(bounds > np.log(2)) < 1


@pytest.mark.parametrize(("pairs", "order"), [(5, 5), (15, 12), (30, 20)])
def test_it_is_the_lowest_that_does(pairs: int, order: int) -> None:
    assert release.order_of_bound(pairs) == order


def test_few_pairs_say_nothing() -> None:
    with pytest.raises(ValueError, match="5 pairs or more"):
        release.order_of_bound(4)


def test_versions_take_turns() -> None:
    order: list[str] = []

    def run(root: Path) -> float:
        order.append(root.name)
        return 2.0 if root.name == "now" else 1.0

    assert release.in_turns(run, Path("before"), Path("now"), 6) == (2.0, 2.0)
    assert order[:4] == ["now", "before", "before", "now"]


def test_work_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="ended with 3"):
        release.seconds(("-c", "raise SystemExit(3)"), tmp_path, tmp_path)


def test_nothing_to_compare_with(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(release, "last_tag", lambda: None)
    with pytest.raises(SystemExit, match="2"):
        release.main([])
    assert "name the commit" in capsys.readouterr().err
