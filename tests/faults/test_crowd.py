"""Many sessions on one repository, and what befalls them: nothing is lost, each loser says so in one line."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from harness.store import change_one, manifest
from tests.faults.crowd import STORES, Crowd, Session, _data
from tests.store.helpers import CPU

pytestmark = pytest.mark.faults


@pytest.mark.deep
@pytest.mark.parametrize("locks", [True, False], ids=["flock", "no flock"])
def test_nothing_is_lost_in_a_crowd(locks: bool, tmp_path: Path) -> None:
    crowd = Crowd(tmp_path, random.Random(), locks)
    crowd.run(30, 32)
    crowd.judge()
    assert crowd.ended["well"] > 0
    assert crowd.bad == []


def test_what_is_lost_in_a_crowd_is_found(tmp_path: Path) -> None:
    crowd = Crowd(tmp_path, random.Random(1))
    store, kept = crowd.golden / STORES[0], (crowd.golden / STORES[0]).read_bytes()
    session = Session(7, "write", STORES[:1], time.monotonic())
    change_one(store, STORES[0], {CPU: _data(7)})
    crowd._end(session, 0)
    crowd.judge()
    assert crowd.bad == []
    store.write_bytes(kept)
    manifest.rebuild(crowd.golden)
    (crowd.golden / STORES[1]).unlink()
    (crowd.golden / STORES[2]).with_name(".left").touch()
    (tmp_path / "said8").write_text("Traceback\nmsdump: x\n")
    crowd._end(Session(8, "read", (), 0.0), 2)
    crowd.judge()
    told = "\n".join(crowd.bad)
    for each in (
        "read ended with 2",
        f"{STORES[0]} is that of session 0",
        f"{STORES[1]} is that of session None",
        "left over",
    ):
        assert each in told
