"""A list of numbers is one slot; a golden with a slot for each number holds until it is regenerated."""

from __future__ import annotations

import pytest

from harness.capture import given
from harness.store import GoldenStore

pytest_plugins = ["pytester"]
OPTIONS = ("-p", "no:cacheprovider")


def test_an_older_golden_holds_until_it_is_regenerated(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(
        test_list="""
        import os

        def test_losses(msdump):
            msdump.check("losses", [1.5, 2.5, 3.5 + int(os.environ["SIDE"])])
        """
    )
    monkeypatch.setenv("SIDE", "0")
    golden = pytester.path / "golden" / "test_list" / "test_losses.h5"

    def slots() -> list[str]:
        with GoldenStore.open(golden) as store:
            return [record.key.operator for record in store.run("cpu", "tensor").records()]

    with pytest.MonkeyPatch.context() as before:
        before.setattr(given, "is_list_of_numbers", lambda _: False)
        assert pytester.runpytest_inprocess("--msdump-regen", *OPTIONS).ret == 0
    assert slots() == ["check/losses[0]", "check/losses[1]", "check/losses[2]"]
    assert pytester.runpytest_inprocess("--msdump", *OPTIONS).ret == 0
    monkeypatch.setenv("SIDE", "1")
    assert pytester.runpytest_inprocess("--msdump", *OPTIONS).ret == 1
    monkeypatch.setenv("SIDE", "0")
    assert pytester.runpytest_inprocess("--msdump-regen", *OPTIONS).ret == 0
    assert slots() == ["check/losses"]
    assert pytester.runpytest_inprocess("--msdump", *OPTIONS).ret == 0
    monkeypatch.setenv("SIDE", "1")
    assert pytester.runpytest_inprocess("--msdump", *OPTIONS).ret == 1
