"""Manifests are written with the goldens, and a gate notices where they do not describe them."""

from __future__ import annotations

import json

import pytest

pytest_plugins = ["pytester"]
STALE = "the manifests do not describe these goldens as they are (`msdump verify --fix golden` rewrites them):"


def test_a_manifest_that_is_missing_fails_the_session(made: pytest.Pytester) -> None:
    (made.path / "golden/test_nets/test_one.manifest.json").unlink()
    result = made.runpytest("--msdump", "-k", "test_one")
    result.assert_outcomes(passed=1, deselected=3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([STALE, "  test_nets/test_one.h5: run cpu/tensor"])
    made.runpytest("--msdump-regen")
    assert made.runpytest("--msdump").ret == 0


def test_a_manifest_of_other_content_fails_the_session(made: pytest.Pytester) -> None:
    path = made.path / "golden/test_nets/test_one.manifest.json"
    manifest = json.loads(path.read_text())
    manifest["runs"]["cpu/tensor"]["checksum"] = "0" * 32
    path.write_text(json.dumps(manifest))
    result = made.runpytest("--msdump")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([STALE, "  test_nets/test_one.h5: run cpu/tensor"])


def test_a_damaged_manifest_is_named(made: pytest.Pytester) -> None:
    path = made.path / "golden/test_nets/test_one.manifest.json"
    path.write_text("[")
    result = made.runpytest("--msdump")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([STALE, "  *test_one.manifest.json*: not JSON*"])
    assert made.runpytest("--msdump-regen").ret == 0
    assert made.runpytest("--msdump").ret == 0


def test_a_damaged_golden_fails_its_test(made: pytest.Pytester) -> None:
    path = made.path / "golden" / "test_nets" / "test_one.h5"
    path.write_bytes(path.read_bytes()[:1000])
    result = made.runpytest("--msdump")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["msdump: test_nets.py::test_one, run cpu/tensor cannot be checked: *test_one.h5*"])
