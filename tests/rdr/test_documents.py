"""``docs/rdr.md`` names what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import context
from harness.devices import DEVICES
from harness.framework.runtime import session
from harness.log.submodules import NAMES
from harness.rdr import config, triggers
from harness.rdr.config import RdrConfig
from harness.rdr.listing import artefacts
from harness.rdr.observer import ACTIONS, RdrObserver
from tests.framework.compile.build import graph_mode
from tests.rdr.test_observer import Chain, X

DOCUMENT = (Path(__file__).parents[2] / "docs" / "rdr.md").read_text()


def test_every_artefact_is_in_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(context._values, "memory_optimize_level", "O1")
    device = DEVICES.get("ascend-o2")
    watcher = RdrObserver(RdrConfig(True, 2, f"{tmp_path}/"), device)
    with graph_mode(), session.in_session(session.Session([watcher], hooked=False, device=device)):
        Chain()(X)
    watcher.closed()
    stages = {f"{at:02d}_{action}" for at, action in enumerate(ACTIONS)}
    rows = re.findall(r"^\| (\S+) \| (.*?) \| (.*?) \|", DOCUMENT, re.MULTILINE)
    for module, name, extension in {found.key for found in artefacts(tmp_path)}:
        if name not in stages:
            shown = re.sub(r"(?<=[._])0$", "<graph>", name.replace("Ascend", "<DEVICE>"))
            wanted = (f"`{module}`" if module else "none", f"`{shown}`", f"`{extension}`")
            assert module in ("", *NAMES)
            assert any(row[0] == wanted[0] and wanted[1] in row[1] and wanted[2] in row[2] for row in rows), wanted


def test_settings_are_named() -> None:
    for name in (config.ENABLE, config.MODE, config.PATH, triggers.VARIABLE, *triggers.KNOWN, ACTIONS[0], ACTIONS[-1]):
        assert name in DOCUMENT
