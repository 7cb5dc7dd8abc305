"""Each scenario on each emulated device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import harness
from harness.devices import DEVICES as EMULATED
from harness.dump.environment import PROCESS, VARIABLE
from harness.errors import DumpConfigError
from harness.framework.runtime import session
from tests.scenarios.catalogue import SCENARIOS
from tests.scenarios.tree import check, place
from tests.scenarios.words import DEVICES, Scenario, configuration

CASES = [
    pytest.param(name, device, id=f"{name}-{device}")
    for name, scenario in SCENARIOS.items()
    for device in DEVICES
    if device not in scenario.elsewhere
]


def run(scenario: Scenario, device: str, root: Path) -> None:
    """Plays it as a process would that was told of the configuration by its environment."""
    file = root / "dump.json"
    file.write_text(json.dumps(configuration(scenario, device, str(root / "tree"))))
    environ = {VARIABLE: str(file), **{k: v.replace("{root}", str(root)) for k, v in scenario.environ.items()}}
    before = harness.get_context("mode")
    harness.set_context(mode=harness.GRAPH_MODE)
    process = session.Session([], hooked=False, device=EMULATED.get(device))
    PROCESS.forget()
    try:
        dump = PROCESS.install(environ, process.device)
        if dump is not None:
            process.recording.add(dump)
        with session.in_session(process):
            scenario.play()
    finally:
        process.close()
        PROCESS.forget()
        harness.set_context(mode=before)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "device"), CASES)
def test_a_scenario_holds(tmp_path: Path, name: str, device: str) -> None:
    scenario = SCENARIOS[name]
    if device in scenario.refused:
        with pytest.raises(DumpConfigError) as caught:
            run(scenario, device, tmp_path)
        assert caught.value.kind == scenario.refused[device].kind
        assert not place(scenario, device, tmp_path).exists()
    elif scenario.raises is not None:
        with pytest.raises(scenario.raises):
            run(scenario, device, tmp_path)
        check(place(scenario, device, tmp_path), scenario, device)
    else:
        run(scenario, device, tmp_path)
        check(place(scenario, device, tmp_path), scenario, device)
