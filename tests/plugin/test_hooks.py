"""The plugin's own hooks, as a ``conftest.py`` implements them."""

from __future__ import annotations

import json

import pytest

from harness.store import GoldenStore

pytest_plugins = ["pytester"]


def test_tolerance(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "1.0625")
    made.makeconftest(
        """
        def pytest_msdump_tolerance(item, backend, mode, against):
            assert (backend, mode, against) == ("cpu", "tensor", "cpu")
            return 0.125 if item.originalname == "test_one" else None
        """
    )
    result = made.runpytest("--msdump")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["test_nets.py::test_one * cpu * tensor * 8 * 6 * 2 * 0 * 0 * 0 * 0"])
    text = (made.path / "test_nets.py").read_text()
    made.makepyfile(test_nets=text.replace("mark.msdump\n", "mark.msdump(tolerance='exact')\n"))
    made.runpytest("--msdump").assert_outcomes(passed=3, failed=1)


def test_provenance(nets: pytest.Pytester) -> None:
    nets.makeconftest("def pytest_msdump_provenance(config):\n    return {'driver': '25.1', 'seed': 'mine'}\n")
    nets.runpytest("--msdump-regen").assert_outcomes(passed=4)
    manifest = json.loads((nets.path / "golden/test_nets/test_one.manifest.json").read_text())
    facts = manifest["runs"]["cpu/tensor"]["provenance"]
    assert (facts["driver"], facts["seed"]) == ("25.1", "mine")
    assert facts["versions"]["numpy"]


def test_provenance_is_kept_while_nothing_changes(nets: pytest.Pytester) -> None:
    nets.makeconftest("def pytest_msdump_provenance(config):\n    return {'driver': '25.1'}\n")
    nets.runpytest("--msdump-regen").assert_outcomes(passed=4)
    path = nets.path / "golden/test_nets/test_one.manifest.json"
    before = path.read_bytes()
    nets.makeconftest("def pytest_msdump_provenance(config):\n    return {'driver': '26.0'}\n")
    nets.runpytest("--msdump-regen").assert_outcomes(passed=4)
    assert path.read_bytes() == before


def test_normalise(nets: pytest.Pytester) -> None:
    nets.makeconftest(
        """
        def pytest_msdump_normalise(item, name, text):
            assert isinstance(text, bytes)
            return b"nothing of the graph" if name.endswith(".ir") else None
        """
    )
    nets.runpytest("--msdump-regen").assert_outcomes(passed=4)
    with GoldenStore.open(nets.path / "golden" / "test_nets" / "test_one.h5") as store:
        texts = store.run("cpu", "tensor").artefacts()
    found = {name for name, text in texts.items() if text == b"nothing of the graph"}
    assert found == {name for name in texts if name.endswith(".ir")} != set(texts)


@pytest.mark.long
def test_an_unknown_hook_of_that_name_is_refused(nets: pytest.Pytester) -> None:
    nets.makeconftest("def pytest_msdump_nothing(item):\n    return None\n")
    result = nets.runpytest_subprocess("--msdump")
    result.stdout.fnmatch_lines(["*unknown hook 'pytest_msdump_nothing'*"])
    assert result.ret != 0
